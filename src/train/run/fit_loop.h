/* The course of synchronous training, whatever the model: resumption from the newest checkpoint,
 * steps, progress, checkpoints, an end when asked, and the way on after a worker was lost. Every
 * worker runs it with its own reducer; the one of rank 0, whichever that is after a loss, speaks
 * and writes for all. The model brings one function for a step and owns everything else. */
#ifndef TRAINYARD_TRAIN_FIT_LOOP_H
#define TRAINYARD_TRAIN_FIT_LOOP_H

#include "base/json/json.h"
#include "train/layers/params.h"
#include "train/network/optimizer.h"
#include "train/run/run_log.h"
#include "train/team/reducer.h"

#include <signal.h>

struct fit_loop_step {
    double loss;     /* of the global batch, before the step */
    float rate;      /* learning rate used */
    double accuracy; /* of the global batch; NAN: not known */
    bool stop;       /* some worker wants to end, after this step: see fit_leave.h */
    bool wanted;     /* somebody waits to be let in: all workers let it, after this step */
};

struct fit_loop {
    const char *model; /* "face": what a checkpoint is called */
    uint64_t seed;
    uint64_t steps;        /* in all, those of an earlier run that is resumed included */
    size_t batch;          /* pictures of a step, of all workers */
    const char *model_dir; /* NULL: nothing is written or resumed */
    uint64_t checkpoint_every;
    size_t keep;                       /* checkpoints */
    struct run_log *log;               /* may be NULL */
    const volatile sig_atomic_t *stop; /* not 0: save and end after this step; NULL: never */
    const char *start;                 /* a sentence about what is going to be trained */
    /* Options, by name, without which a checkpoint is of another run; written into each, and one
     * that has others is not gone on from. NULL: none. */
    const struct json *kept;
    int *claim; /* on model_dir, while it is not -1; outlives what is written there; may be NULL */

    struct reducer *reducer;
    struct params *params;
    struct optimizer *optimizer;
    void *context;
    /* One step of this worker, counted from 1; `stop`: this worker asks to end. One that fails has
     * changed nothing. ERR_INVALID: what is learned is not a number any more. */
    int (*step)(void *context, uint64_t step, bool stop, struct fit_loop_step *ret,
                struct err *err);
    /* The values of a run that begins, where there is no checkpoint: rank 0 only, whichever worker
     * that is then. NULL: those of the seed, which are there. */
    int (*first_values)(void *context, struct err *err);
    void (*changed)(void *context); /* the values are others now, without a step */
    /* What the model keeps from step to step beside parameters and optimizer, and all workers have
     * alike; to be read and written. NULL: nothing. */
    float *(*learned)(void *context, size_t *ret_count);
    /* The reducer's rank or size may be another one: so is this worker's share of a batch. NULL:
     * it has no share. */
    int (*regroup)(void *context, struct err *err);
    struct json *(*config)(void *context, struct arena *arena); /* of the model, for checkpoints */
    /* What else a checkpoint is to say of the model. NULL: nothing. */
    void (*note)(void *context, struct arena *arena, struct json *notes);
    /* Before a checkpoint, of a model that has its values elsewhere: into parameters and optimizer.
     * NULL: they are there. */
    int (*collect)(void *context, struct err *err);
    const char *longer; /* the option that makes a run longer; NULL: "--steps" */
    const char *calmer; /* what to try when training ran away; NULL: the rate, or --clip */

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

int fit_loop_run(struct fit_loop *loop, struct fit_loop_result *ret, struct err *err);

/* One number for all that workers must agree on before they train together. */
uint64_t fit_loop_hash(const uint64_t *numbers, size_t count);
uint64_t fit_loop_bits(float value); /* a float as such a number */

#endif
