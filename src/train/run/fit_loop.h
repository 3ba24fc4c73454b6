/* The course of synchronous training, whatever the model: resumption from the newest checkpoint,
 * steps, progress, checkpoints, an end when asked, and the way on after a worker was lost. Every
 * worker runs it with its own reducer; the one of rank 0, whichever that is after a loss, speaks
 * and writes for all. The model brings one function for a step and owns everything else. */
#ifndef TRAINYARD_TRAIN_FIT_LOOP_H
#define TRAINYARD_TRAIN_FIT_LOOP_H

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
    bool stop;           /* some worker wants to end, after this step: see fit_leave.h */
    bool join_requested; /* somebody waits to be let in: all workers let it, after this step */
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

    /* Its own. */
    bool settled;                     /* this worker has the state of the run */
    bool joined;                      /* it got that from others, who were at it already */
    struct checkpoint_writer *writer; /* NULL: this worker has not written yet */
    uint64_t saved;                   /* the step of the last one on disk; 0: none in this run */
    bool slow_disk;                   /* and it was said */
    bool shared_dir;                  /* and so was that another of this run has claimed it */
};

struct fit_loop_result {
    uint64_t first, last; /* steps done before and after */
    bool stopped;         /* over before the last step: for all, or for this worker */
    double loss;          /* of the last step */
    struct err unsaved;   /* code not 0: all steps are done, but the last checkpoint is not there */
};

/* Whoever has made the best of a result: the error, if its last checkpoint is not there. */
int fit_loop_check_saved(const struct fit_loop_result *result, struct err *err);

/* The floats that the model carries beside its parameters; see model.h. Returns NULL and a count of
 * 0 if there are none. */
float *fit_loop_learned(const struct fit_loop *loop, size_t *ret_count);

int fit_loop_run(struct fit_loop *loop, struct fit_loop_result *ret, struct err *err);

#endif
