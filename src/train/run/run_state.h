/* The current state of a run, which the monitor serves during the training. The training thread and
 * the thread of background sums (reducer_queue.h) write it, and the monitor's thread reads it; a
 * lock protects it. All functions that take a state accept NULL, so that a run without a monitor
 * needs no special case. With NULL, run_state_read() sets a view in which nothing is known, and the
 * other functions do nothing. */
#ifndef TRAINYARD_TRAIN_RUN_RUN_STATE_H
#define TRAINYARD_TRAIN_RUN_RUN_STATE_H

#include "base/cleanup.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    RUN_STATE_WAITING_MAX = 256,
    RUN_STATE_TASKS_MAX = 64, /* entries of `late`; the last is "others", for all further workers */
    RUN_STATE_TASK_MAX = 32,
};

struct run_state;

/* The time that this worker has waited for one other worker in collectives. */
struct run_state_straggler {
    char task[RUN_STATE_TASK_MAX]; /* "worker 1" */
    double seconds;
};

struct run_state_view {
    uint64_t step;     /* number of steps of the run that are done */
    uint64_t total;    /* total number of steps of the run */
    double epoch;      /* number of epochs done, with a fraction; 0: not counted */
    double loss;       /* loss of the last step; NAN: not known */
    double accuracy;   /* last known accuracy; NAN: not known */
    double rate;       /* samples per second, exponentially smoothed; NAN: not known */
    uint64_t examples; /* number of samples of all workers since the start of this process */
    /* number of calls of run_state_lost(); workers that are lost together count once */
    uint64_t losses;
    uint64_t saves;        /* number of calls of run_state_saved() */
    uint64_t failed_saves; /* number of calls of run_state_save_failed() */
    uint64_t saved;        /* step of the last checkpoint that this process has written; 0: none */
    /* seconds that this process has waited for other processes that had not joined or did not
     * answer */
    double waited;
    /* names of the processes that this process waits for; "": none */
    char waiting_for[RUN_STATE_WAITING_MAX];
    /* the delays per worker, in the order of each worker's first delay */
    struct run_state_straggler late[RUN_STATE_TASKS_MAX];
    size_t late_count; /* number of entries in `late` */
};

struct run_state *run_state_new(void);
struct run_state *run_state_free(struct run_state *state); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(run_state)

/* Begins a run of `total` steps, of which `done` were done before. If steps_per_epoch is 0, epochs
 * are not counted. */
void run_state_begin(struct run_state *state, uint64_t done, uint64_t total,
                     double steps_per_epoch);
/* Records a finished step with its loss and number of samples. */
void run_state_step(struct run_state *state, uint64_t step, double loss, uint64_t examples,
                    int64_t now_ns);
void run_state_accuracy(struct run_state *state, double accuracy);
/* Begins a wait for `peers`, a list of names, or replaces the names of a wait that has begun. NULL
 * ends the wait. A step ends the wait, too. */
void run_state_wait(struct run_state *state, const char *peers, int64_t now_ns);
/* Adds a delay of `ns` nanoseconds at a collective, caused by the worker `task`, which is present
 * but late. */
void run_state_waited(struct run_state *state, const char *task, int64_t ns);
void run_state_lost(struct run_state *state); /* counts a loss of one or more workers */
/* Counts a written checkpoint and records its step. */
void run_state_saved(struct run_state *state, uint64_t step);
void run_state_save_failed(struct run_state *state); /* counts a failed write */

/* Sets *ret to a copy of the state. A wait that has not ended counts up to `now_ns`. */
void run_state_read(struct run_state *state, int64_t now_ns, struct run_state_view *ret);

/* Returns the document at /progress, allocated in the arena. It has the members step and total, and
 * those of epoch, loss, accuracy, rate and waiting-for that are known. */
struct json *run_state_document(struct arena *arena, const struct run_state_view *view);

#endif
