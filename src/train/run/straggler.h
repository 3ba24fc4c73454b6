/* Names the worker that delays a run: the worker for which this one has waited longest, reported
 * after each minute in which the delay was large, and once for the whole run. A run_log owns it and
 * shows its sentences. */
#ifndef TRAINYARD_TRAIN_RUN_STRAGGLER_H
#define TRAINYARD_TRAIN_RUN_STRAGGLER_H

#include "train/run/run_state.h"

enum { STRAGGLER_TEXT_MAX = 128 };

struct straggler {
    int64_t began_ns, checked_ns;
    /* seconds waited for each worker by then, in the order of the view */
    double at_begin[RUN_STATE_TASKS_MAX], at_check[RUN_STATE_TASKS_MAX];
    char told[RUN_STATE_TASK_MAX]; /* the worker reported for the last minute; "": none */
};

void straggler_begin(struct straggler *watch, const struct run_state_view *view, int64_t now_ns);

/* Whether a minute has passed and straggler_check() should be called. Cheap. */
bool straggler_is_due(const struct straggler *watch, int64_t now_ns);

/* Returns true with a sentence if this process has waited for one worker for more than a fifth of
 * the time since the last check, and that worker was not reported the last time. */
bool straggler_check(struct straggler *watch, const struct run_state_view *view, int64_t now_ns,
                     char ret_text[STRAGGLER_TEXT_MAX]);

/* Returns true with a sentence if this process has waited for one worker for more than a twentieth
 * of the time since the beginning, and for at least a second. */
bool straggler_summarize(const struct straggler *watch, const struct run_state_view *view,
                         int64_t now_ns, char ret_text[STRAGGLER_TEXT_MAX]);

#endif
