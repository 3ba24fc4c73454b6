/* The loop of synchronous training, the same for every model: resume from the newest checkpoint,
 * run steps, show progress, write checkpoints, stop on request, and go on after the loss of a
 * worker. Every worker runs it with its own reducer. The worker of rank 0 speaks and writes for
 * all; after a loss that may be another worker. The operations of a step come from the model
 * (model.h). */
#ifndef TRAINYARD_TRAIN_RUN_FIT_LOOP_H
#define TRAINYARD_TRAIN_RUN_FIT_LOOP_H

#include "base/json/json.h"
#include "train/layers/params.h"
#include "train/network/optimizer.h"
#include "train/run/fit_options.h"
#include "train/run/run_log.h"
#include "train/team/reducer.h"

struct model;

struct fit_loop_step {
    double loss;         /* of the global batch, before the step */
    float rate;          /* learning rate used */
    double accuracy;     /* of the global batch; NAN: not known */
    bool stop;           /* a worker asks to end after this step; see fit_leave.h */
    bool join_requested; /* a new worker waits: all workers form the group again after this step */
};

struct fit_loop {
    const struct model *model; /* its name is written into checkpoints; its steps are run */
    void *context;             /* handed to the operations of model->steps */
    const struct fit_options *options;
    uint64_t steps;      /* in all, including those of an earlier run that is resumed */
    size_t batch;        /* samples of a step, of all workers */
    struct run_log *log; /* may be NULL */
    const char *start;   /* a sentence about the model and its data, for the log */
    int *claim; /* lock on the model directory; -1: not held. Outlives the writer. May be NULL */
    struct reducer *reducer;
    struct params *params;
    struct optimizer *optimizer;

    /* Used by the loop itself. */
    bool settled; /* this worker has the state of the run */
    bool joined;  /* this worker received that state from workers that already trained */
    struct checkpoint_writer *writer; /* NULL: this worker has not written a checkpoint yet */
    uint64_t saved;                   /* step of the last checkpoint on disk; 0: none in this run */
    bool slow_disk;                   /* the warning about a slow disk was logged */
    bool shared_dir; /* the warning that another worker of this run holds the lock was logged */
};

struct fit_loop_result {
    uint64_t first, last; /* steps done before this run, and now */
    bool stopped;         /* ended before the last step: all workers, or this one */
    double loss;          /* of the last step */
    struct err unsaved;   /* code not 0: why the last checkpoint of a complete run is missing */
};

/* Called after the final model was written. Returns the error if the last checkpoint is missing,
 * else 0. */
int fit_loop_check_saved(const struct fit_loop_result *result, struct err *err);

/* The floats that the model carries beside its parameters; see model.h. Returns NULL and a count of
 * 0 if there are none. */
float *fit_loop_learned(const struct fit_loop *loop, size_t *ret_count);

/* Runs the loop to the last step or until it is stopped. `ret` is untouched on failure. */
int fit_loop_run(struct fit_loop *loop, struct fit_loop_result *ret, struct err *err);

#endif
