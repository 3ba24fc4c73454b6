/* Trains a classifier, in one of two modes. Synchronously: workers sum their gradients at every
 * step, and N workers give the result of one. With parameter servers: each worker takes the number
 * of its next step from a common counter, pulls the variables, and pushes its gradient without
 * waiting for other workers. In both modes the chief logs, evaluates the model on the test
 * pictures, and writes and exports it. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_FIT_H
#define TRAINYARD_MODELS_CLASSIFIER_FIT_H

#include "comm/ps/ps.h"
#include "models/classifier/eval.h"
#include "train/network/optimizer.h"
#include "train/run/model.h"

struct classifier_fit_options {
    struct fit_options fit; /* those of every model; with servers no batches are made ahead */
    enum classifier_kind kind;
    uint64_t steps; /* of all workers, including those of an earlier run that is resumed */
    int batch; /* pictures per step: of all workers if synchronous, of one worker with servers */
    enum precision precision;
    enum optimizer_kind optimizer; /* with servers: SGD or Adagrad */
    enum schedule_kind schedule;
    float rate;              /* highest learning rate */
    uint64_t warm_up;        /* steps during which the learning rate rises */
    const char *data;        /* directory of IDX files */
    const struct idx *train; /* training pictures that are open already; NULL: read from `data` */
    const char *export_dir;  /* NULL: no version is exported */
};

/* Learning rates for Adagrad. Gradients reach parameter servers late, which needs a lower rate. */
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
    uint64_t first, last; /* steps done before this run, and now */
    bool stopped;         /* stopped before the last step */
    double loss;          /* of the last step */
    bool evaluated;       /* `eval` is set: on the chief, at the end of a complete run */
    struct classifier_eval eval;
    int64_t version; /* the exported version; 0: none */
};

/* Checks the options. `servers`: the variables are on parameter servers. */
int classifier_fit_check(const struct classifier_fit_options *options, bool servers,
                         struct err *err);

/* The numbers that all processes must have in common, without those that only processes with the
 * data know. Returns how many. */
size_t classifier_fit_numbers(const struct classifier_fit_options *options,
                              uint64_t ret[MODEL_NUMBERS_MAX]);
/* Like classifier_fit_numbers(), with the extent of the training data: for workers that train
 * synchronously, which all have the data. */
size_t classifier_fit_numbers_data(const struct classifier_fit_options *options,
                                   const struct idx *train, uint64_t ret[MODEL_NUMBERS_MAX]);

extern const struct model CLASSIFIER_MODEL;           /* the row of this model */
extern const struct model_steps CLASSIFIER_FIT_STEPS; /* its synchronous steps */

/* Trains synchronously. The caller releases the result. */
int classifier_fit(const struct classifier_fit_options *options, struct reducer *reducer,
                   struct classifier_fit_result *ret, struct err *err);

/* Trains with parameter servers. The chief and every worker call it with their own clients. A
 * complete run finishes the client, so that the servers end with their last worker. The caller
 * releases the result. */
int classifier_fit_async(const struct classifier_fit_options *options, struct ps_client *client,
                         bool chief, size_t workers, struct classifier_fit_result *ret,
                         struct err *err);

void classifier_fit_result_release(struct classifier_fit_result *result);

/* The path of the final model: "DIR/classifier.model". */
void classifier_fit_model_path(const char *model_dir, char *path, size_t size);

#endif
