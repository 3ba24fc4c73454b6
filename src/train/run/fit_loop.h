/* The loop of synchronous training, the same for every model. It resumes from the newest
 * checkpoint, runs steps, shows progress, writes checkpoints, stops on request, and continues after
 * the loss of a worker. Every worker runs the loop with its own reducer. Rank 0 shows the progress
 * and writes files for all workers. After the loss of a worker, another worker may become rank 0.
 * The operations of a step come from the model (model.h). The fit functions of the models call the
 * loop. */
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
    double loss;         /* loss of the global batch, before the parameters change */
    float rate;          /* learning rate used */
    double accuracy;     /* accuracy on the global batch; NAN: not known */
    bool stop;           /* at least one worker was asked to stop; see fit_leave.h */
    bool join_requested; /* a new worker waits to join; the group forms again after this step */
};

struct fit_loop {
    const struct model *model; /* has the operations of a step, and the name for checkpoints */
    void *context;             /* passed to the operations of model->steps */
    const struct fit_options *options;
    uint64_t steps;      /* total number of steps, including the steps of a run that is resumed */
    size_t batch;        /* samples per step, of all workers */
    struct run_log *log; /* may be NULL */
    const char *start;   /* a sentence about the model and its data, for the log */
    /* *claim is the file descriptor that locks the model directory, or -1 if this process has no
     * lock. The loop may open and close it. The caller closes it after fit_loop_run() unless it is
     * -1. NULL: the directory is not locked. */
    int *claim;
    struct reducer *reducer;
    struct params *params;
    struct optimizer *optimizer;

    /* The members below are private to the files fit_*.c of this folder. The caller sets them to
     * zero. */
    bool settled; /* this worker has the state of the run */
    bool joined;  /* this worker received the state from workers that were already training */
    struct checkpoint_writer *writer; /* NULL: it is not started, so this worker writes nothing */
    /* step of the latest checkpoint that this process has written; 0: none */
    uint64_t saved;
    bool warned_slow_disk; /* the warning about a slow disk was logged */
    /* the warning that another worker of this run has the lock was logged */
    bool warned_shared_dir;
};

struct fit_loop_result {
    uint64_t first; /* number of steps of the run that were done before fit_loop_run() */
    uint64_t last;  /* number of steps of the run that are done now */
    bool stopped;   /* ended before the last step, on all workers or only on this worker */
    double loss;    /* loss of the last step that fit_loop_run() has run; 0: none */
    /* why the checkpoint after the last step of the run could not be saved; code 0: no failure */
    struct err unsaved;
};

/* Called after the final model was written. Returns the error in result->unsaved, or 0 if there is
 * none. */
int fit_loop_check_saved(const struct fit_loop_result *result, struct err *err);

/* Returns the floats that the model learns in addition to its parameters; see model.h. Returns NULL
 * and a count of 0 if there are none. */
float *fit_loop_learned(const struct fit_loop *loop, size_t *ret_count);

/* Runs the loop to the last step or until it is stopped. The fields of `loop` above the private
 * members must be set. Returns 0 and sets *ret, or returns an error and does not change *ret.
 * Returns -ERR_INVALID if the training has diverged. */
int fit_loop_run(struct fit_loop *loop, struct fit_loop_result *ret, struct err *err);

#endif
