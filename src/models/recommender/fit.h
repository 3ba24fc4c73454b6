/* Trains a recommender, with parameter servers or in a single process. `trainer fit recommender`
 * calls recommender_fit().
 *
 * With servers, every worker calls recommender_fit() with the same options and its own client. No
 * worker waits for another before the last batch. The seed decides the sequence of batches. A
 * counter on server 0 has the number of batches that workers have taken. Each worker takes the next
 * batch when it has finished its previous batch. A slow worker therefore computes fewer batches. A
 * batch that a worker had taken when it died is not computed again. A restarted worker takes the
 * next batch. When no batch is left, the chief waits for the other workers, evaluates the model and
 * writes it.
 *
 * A single process without servers computes the same batches in order and writes checkpoints, from
 * which the run can be resumed. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_FIT_H
#define TRAINYARD_MODELS_RECOMMENDER_FIT_H

#include "models/recommender/eval.h"
#include "train/run/model.h"

struct recommender_fit_options {
    /* The options that every model has. The chief writes the model and the report of the run to
     * fit.model_dir. Checkpoints are written only without servers, because servers save their own
     * snapshots. */
    struct fit_options fit;
    struct recommender_config model;
    uint64_t epochs;
    int batch;         /* ratings per batch */
    int test_percent;  /* percentage of the ratings that are kept out of training */
    float rate;        /* learning rate of Adagrad */
    float accumulator; /* initial sums of squares in Adagrad, for the dense parameters */
    /* Initial sums of squares in Adagrad, for the rows, whose gradients are smaller. */
    float accumulator_rows;
    float range; /* new rows have values from -range to range */
};

#define RECOMMENDER_FIT_DEFAULT                                                                    \
    ((struct recommender_fit_options){                                                             \
        .fit = {.seed = 1, .checkpoint_every = 1000, .keep = 3},                                   \
        .model = {.kind = RECOMMENDER_DEEPFM, .label = RECOMMENDER_LIKE, .dimensions = 32},        \
        .epochs = 4,                                                                               \
        .batch = 512,                                                                              \
        .test_percent = 10,                                                                        \
        .rate = 0.05f,                                                                             \
        .accumulator = 0.1f,                                                                       \
        .accumulator_rows = 1e-5f,                                                                 \
        .range = 0.05f,                                                                            \
    })

/* The processes that train together. */
struct recommender_fit_cluster {
    struct ps_client *client;
    size_t workers; /* including the chief */
    bool chief;     /* this process evaluates the model and writes the files of the run */
};

struct recommender_fit_result {
    /* Number of batches that all workers have taken, as far as this worker knows, and number of
     * batches that this worker has computed in this run. */
    uint64_t steps, own_steps;
    bool stopped; /* the run was stopped before the last batch */
    double loss;  /* loss of the last batch of this worker; 0 if it had none */
    /* Whether `eval` is set: true only on the chief, at the end of a complete run with test
     * ratings. */
    bool evaluated;
    struct recommender_eval eval;
    size_t rows; /* number of rows in the model file; 0 if this process has not written it */
};

/* Sets the numbers that must be equal in all processes: the model's shape and every option that
 * affects the result. Returns how many numbers were set. */
size_t recommender_fit_numbers(const struct recommender_fit_options *options,
                               uint64_t ret[MODEL_NUMBERS_MAX]);

extern const struct model RECOMMENDER_MODEL; /* for the table of models */
/* the operations of the training loop; used without servers */
extern const struct model_steps RECOMMENDER_FIT_STEPS;

/* Trains until no batch is left, or until the run is stopped. *ret does not change on failure. */
int recommender_fit(const struct recommender_fit_options *options, const struct ratings *ratings,
                    const struct recommender_fit_cluster *cluster,
                    struct recommender_fit_result *ret, struct err *err);

/* Writes the path of the final model: "DIR/recommender.model". */
void recommender_fit_model_path(const char *model_dir, char *path, size_t size);

#endif
