/* Finds the other worker for which this worker has waited longest. run_log.c calls
 * straggler_check() about once per minute and straggler_summarize() at the end of the run. Both
 * return a sentence if the delay was large, and run_log.c shows it. */
#ifndef TRAINYARD_TRAIN_RUN_STRAGGLER_H
#define TRAINYARD_TRAIN_RUN_STRAGGLER_H

#include "train/run/run_state.h"

enum { STRAGGLER_TEXT_MAX = 128 };

struct straggler {
    int64_t began_ns;   /* time of straggler_begin() */
    int64_t checked_ns; /* time of the previous straggler_check(), or of straggler_begin() */
    /* seconds waited for each worker until began_ns; the index is that of run_state_view.late */
    double at_begin[RUN_STATE_TASKS_MAX];
    /* seconds waited for each worker until checked_ns; the index is that of run_state_view.late */
    double at_check[RUN_STATE_TASKS_MAX];
    /* the worker whose delay was large in the previous check; "": none */
    char previous[RUN_STATE_TASK_MAX];
};

/* Begins to watch a run. Delays before this call do not count. */
void straggler_begin(struct straggler *watch, const struct run_state_view *view, int64_t now_ns);

/* Returns whether straggler_check() should be called, because a minute has passed since the
 * previous check. May be called after every step, because it is cheap. */
bool straggler_is_due(const struct straggler *watch, int64_t now_ns);

/* Checks the time since the previous check. Returns true and sets ret_text if this process has
 * waited for one worker for more than a fifth of that time, and the previous check did not find the
 * same worker. */
bool straggler_check(struct straggler *watch, const struct run_state_view *view, int64_t now_ns,
                     char ret_text[STRAGGLER_TEXT_MAX]);

/* Checks the whole run. Returns true and sets ret_text if this process has waited for one worker
 * for more than a twentieth of that time, and for at least a second. */
bool straggler_summarize(const struct straggler *watch, const struct run_state_view *view,
                         int64_t now_ns, char ret_text[STRAGGLER_TEXT_MAX]);

#endif
