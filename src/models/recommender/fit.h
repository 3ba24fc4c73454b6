/* Training a recommender over parameter servers, from beginning to end. Every worker calls it with
 * the same options and a client of its own; none waits for another. What is to do is a row of
 * batches, decided by the seed, and a count on the servers says which one is next: whoever is ready
 * takes it. So a slow worker does less, one that dies leaves one batch undone, and one that comes
 * back goes on where all are. When the batches are used up the chief waits for the others, judges
 * the model and writes it. One process with its variables inside itself computes the same batches
 * in order and keeps checkpoints, from which the same run goes on.
 */
#ifndef TRAINYARD_MODELS_RECOMMENDER_FIT_H
#define TRAINYARD_MODELS_RECOMMENDER_FIT_H

#include "models/recommender/eval.h"
#include "train/run/model.h"

struct recommender_fit_options {
    /* Those of every model. Without servers there are checkpoints in fit.model_dir. With servers
     * the chief writes the model there; the servers keep snapshots themselves. */
    struct fit_options fit;
    struct recommender_config model;
    uint64_t epochs;
    int batch;              /* ratings */
    int test_percent;       /* of the ratings, kept out of training */
    float rate;             /* of Adagrad */
    float accumulator;      /* what Adagrad's sums start with: for the dense part */
    float accumulator_rows; /* and for the rows, whose gradients are the smaller */
    float range;            /* of a new row's values: ± */
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

/* Who takes part. */
struct recommender_fit_cluster {
    struct ps_client *client;
    size_t workers; /* chief included */
    bool chief;     /* this one speaks at length, judges and writes */
};

struct recommender_fit_result {
    uint64_t steps, own; /* batches of all workers, and of this one in this run */
    bool stopped;
    double loss;    /* of the last batch */
    bool evaluated; /* the chief, at the end of a whole run */
    struct recommender_eval eval;
    size_t rows; /* written into the model */
};

/* The numbers that all processes must have in common: the model's shape and every option that
 * decides the course of the run. Returns how many. */
size_t recommender_fit_numbers(const struct recommender_fit_options *options,
                               uint64_t ret[MODEL_NUMBERS_MAX]);

extern const struct model RECOMMENDER_MODEL;           /* the row of this model */
extern const struct model_steps RECOMMENDER_FIT_STEPS; /* steps of a process without servers */

int recommender_fit(const struct recommender_fit_options *options, const struct ratings *ratings,
                    const struct recommender_fit_cluster *cluster,
                    struct recommender_fit_result *ret, struct err *err);

/* The model of a model directory: "DIR/recommender.model". */
void recommender_fit_model_path(const char *model_dir, char *path, size_t size);

#endif
