/* Trains a classifier, in one of two modes. In the synchronous mode the workers sum their gradients
 * at every step, and N workers compute the same result as one worker. With parameter servers, each
 * worker takes the number of its next step from a common counter, pulls the variables, and pushes
 * its gradient without waiting for other workers. In both modes one process logs, evaluates the
 * model on the test pictures, and writes and exports the model: rank 0 in the synchronous mode, the
 * chief with parameter servers. `trainer fit classifier` calls this code. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_FIT_H
#define TRAINYARD_MODELS_CLASSIFIER_FIT_H

#include "comm/ps/ps.h"
#include "models/classifier/eval.h"
#include "train/network/optimizer.h"
#include "train/run/model.h"

struct classifier_fit_options {
    struct fit_options fit; /* options that every model has; `loaders` is ignored with servers */
    enum classifier_kind kind;
    uint64_t steps; /* total number of steps, including the steps of a run that is resumed */
    /* Pictures per step. In the synchronous mode all workers share them. With servers one worker
     * computes the whole step. */
    int batch;
    enum precision precision;
    enum optimizer_kind optimizer; /* with servers: SGD or Adagrad */
    enum schedule_kind schedule;
    float rate;              /* highest learning rate */
    uint64_t warm_up;        /* steps during which the learning rate rises */
    const char *data;        /* directory of IDX files */
    const struct idx *train; /* training pictures that are open already; NULL: read from `data` */
    const char *export_dir;  /* NULL: no version is exported */
};

/* The default learning rates, chosen for Adagrad. Gradients reach parameter servers late, so
 * training with servers needs a lower rate. */
#define CLASSIFIER_FIT_RATE         0.01f
#define CLASSIFIER_FIT_RATE_SERVERS 0.002f

#define CLASSIFIER_FIT_DEFAULT                                                                     \
    ((struct classifier_fit_options){                                                              \
        .fit = FIT_OPTIONS_DEFAULT,                                                                \
        .kind = CLASSIFIER_CNN,                                                                    \
        .steps = 200,                                                                              \
        .batch = 100,                                                                              \
        .optimizer = OPTIMIZER_ADAGRAD,                                                            \
        .schedule = SCHEDULE_CONSTANT,                                                             \
        .rate = CLASSIFIER_FIT_RATE,                                                               \
        .warm_up = 40,                                                                             \
        .data = IDX_DIRECTORY_DEFAULT,                                                             \
    })

struct classifier_fit_result {
    /* Number of steps done before this run, and at its end. With parameter servers, `last` is the
     * last step of this worker, unless the process is the chief at the end of a complete run. */
    uint64_t first, last;
    bool stopped; /* stopped before the last step */
    double loss;  /* loss of this process's last step; 0 if it had none */
    /* Whether `eval` is set: true only in the process that evaluates the model, at the end of a
     * complete run. */
    bool evaluated;
    struct classifier_eval eval;
    int64_t version; /* the exported version; 0: none */
};

/* Checks the options. `servers`: the variables are on parameter servers. Returns -ERR_UNSUPPORTED
 * for Adam with parameter servers, or -ERR_INVALID for a value out of its range. */
int classifier_fit_check(const struct classifier_fit_options *options, bool servers,
                         struct err *err);

/* Sets the numbers that must be equal in all processes, except numbers that depend on the data.
 * Returns how many numbers were set. */
size_t classifier_fit_numbers(const struct classifier_fit_options *options,
                              uint64_t ret[MODEL_NUMBERS_MAX]);
/* Like classifier_fit_numbers(), but sets a hash of those numbers, followed by the size of the
 * training data. Used for synchronous workers, which all have the data. */
size_t classifier_fit_numbers_data(const struct classifier_fit_options *options,
                                   const struct idx *train, uint64_t ret[MODEL_NUMBERS_MAX]);

extern const struct model CLASSIFIER_MODEL; /* for the table of models */
/* The operations of the synchronous training loop. */
extern const struct model_steps CLASSIFIER_FIT_STEPS;

/* Trains synchronously to the last step, or until the run is stopped. Every worker calls it with
 * its own reducer. The caller releases *ret, which does not change on failure. */
int classifier_fit(const struct classifier_fit_options *options, struct reducer *reducer,
                   struct classifier_fit_result *ret, struct err *err);

/* Trains with parameter servers until no step is left, or until this process is stopped. The chief
 * and every worker call this function with their own clients. `workers` is the number of these
 * processes, for the log. At the end of a complete run the function calls ps_client_finish(), so
 * that the servers exit when the last worker has finished. The chief evaluates the model when no
 * step is left, without waiting for the last gradients of the other workers. The caller releases
 * *ret, which does not change on failure. */
int classifier_fit_async(const struct classifier_fit_options *options, struct ps_client *client,
                         bool chief, size_t workers, struct classifier_fit_result *ret,
                         struct err *err);

/* Safe on zeroed memory. */
void classifier_fit_result_release(struct classifier_fit_result *result);

/* Writes the path of the final model: "DIR/classifier.model". */
void classifier_fit_model_path(const char *model_dir, char *path, size_t size);

#endif
