/* Where a run is, for whoever asks while it goes on: the training thread writes it, the thread that
 * answers requests reads it. Everything accepts NULL for the state and then does nothing, so that a
 * run nobody watches need not ask. */
#ifndef TRAINYARD_TRAIN_RUN_STATE_H
#define TRAINYARD_TRAIN_RUN_STATE_H

#include "base/cleanup.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    RUN_STATE_WAITING_MAX = 256,
    RUN_STATE_TASKS_MAX = 64, /* told apart; what is behind them counts as one, "others" */
    RUN_STATE_TASK_MAX = 32,
};

struct run_state;

/* How long this worker has waited for another that came late to sums and the like. */
struct run_state_straggler {
    char task[RUN_STATE_TASK_MAX]; /* "worker 1" */
    double seconds;
};

struct run_state_view {
    uint64_t step, total;         /* done, and to be done */
    double epoch;                 /* passes over the data; 0: not counted */
    double loss, accuracy, rate;  /* of the last step; examples a second. NAN: not known */
    uint64_t examples;            /* seen since the start of the process, as the following: */
    uint64_t losses;              /* of workers */
    uint64_t saves, failed_saves; /* checkpoints written, and not */
    uint64_t saved;               /* the step of the last one; 0: none */
    double waited;                /* seconds, for others, in all */
    char waiting_for[RUN_STATE_WAITING_MAX]; /* "": for nobody */
    struct run_state_straggler
        late[RUN_STATE_TASKS_MAX]; /* in the order in which they were first */
    size_t late_count;
};

struct run_state *run_state_new(void);
struct run_state *run_state_free(struct run_state *state); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(run_state)

/* A run of so many steps, some of them done before; steps_an_epoch 0: epochs are not counted. */
void run_state_begin(struct run_state *state, uint64_t done, uint64_t total, double steps_an_epoch);
void run_state_step(struct run_state *state, uint64_t step, double loss, uint64_t examples,
                    int64_t now_ns);
void run_state_accuracy(struct run_state *state, double accuracy);
/* NULL: for nobody any more, which a step says, too. */
void run_state_wait(struct run_state *state, const char *whom, int64_t now_ns);
/* So much more was waited for a worker that is there, but came late. */
void run_state_waited(struct run_state *state, const char *task, int64_t ns);
void run_state_lost(struct run_state *state); /* a worker; the run goes on without a step */
void run_state_saved(struct run_state *state, uint64_t step);
void run_state_save_failed(struct run_state *state);

void run_state_read(struct run_state *state, int64_t now_ns, struct run_state_view *ret);

/* The document at /progress: step, total, epoch, loss, accuracy, rate, waiting-for, as far as they
 * are known. */
struct json *run_state_document(struct arena *arena, const struct run_state_view *view);

#endif
