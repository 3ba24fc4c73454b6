/* Finds the worker that delays a run: the worker for which this worker has waited longest.
 * straggler_check() is called about once per minute and straggler_summarize() at the end of the
 * run. Both report the worker if its delay was large. run_log.c shows their sentences. */
#ifndef TRAINYARD_TRAIN_RUN_STRAGGLER_H
#define TRAINYARD_TRAIN_RUN_STRAGGLER_H

#include "train/run/run_state.h"

enum { STRAGGLER_TEXT_MAX = 128 };

struct straggler {
    int64_t began_ns, checked_ns;
    /* seconds waited for each worker until began_ns and checked_ns, with the indices of
     * view->late */
    double at_begin[RUN_STATE_TASKS_MAX], at_check[RUN_STATE_TASKS_MAX];
    char told[RUN_STATE_TASK_MAX]; /* the worker that the last check reported; "": none */
};

void straggler_begin(struct straggler *watch, const struct run_state_view *view, int64_t now_ns);

/* Returns whether straggler_check() should be called, because a minute has passed since the last
 * check. May be called after every step, because it is cheap. */
bool straggler_is_due(const struct straggler *watch, int64_t now_ns);

/* Checks the time since the last check. Returns true and sets ret_text if this process has waited
 * for one worker for more than a fifth of that time, and the last check did not report the same
 * worker. */
bool straggler_check(struct straggler *watch, const struct run_state_view *view, int64_t now_ns,
                     char ret_text[STRAGGLER_TEXT_MAX]);

/* Checks the whole run. Returns true and sets ret_text if this process has waited for one worker
 * for more than a twentieth of that time, and for at least a second. */
bool straggler_summarize(const struct straggler *watch, const struct run_state_view *view,
                         int64_t now_ns, char ret_text[STRAGGLER_TEXT_MAX]);

#endif
