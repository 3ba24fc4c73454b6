/* Who holds up a run: of the workers that this one waited for, the one it waited longest for, said
 * when that was a large part of a minute, and once more of the whole run. Owned by a run_log, which
 * shows it. */
#ifndef TRAINYARD_TRAIN_STRAGGLER_H
#define TRAINYARD_TRAIN_STRAGGLER_H

#include "train/run/run_state.h"

enum { STRAGGLER_TEXT_MAX = 128 };

struct straggler {
    int64_t began_ns, checked_ns;
    double at_begin[RUN_STATE_TASKS_MAX], at_check[RUN_STATE_TASKS_MAX]; /* by place in the view */
    char told[RUN_STATE_TASK_MAX]; /* of the last minute; "": nobody */
};

void straggler_begin(struct straggler *watch, const struct run_state_view *view, int64_t now_ns);

/* Whether a minute is over, and straggler_check() is to be asked; cheap. */
bool straggler_is_due(const struct straggler *watch, int64_t now_ns);

/* A sentence if one worker was waited for more than a fifth of the time since the last look, and
 * was not the one it was said of the last time. */
bool straggler_check(struct straggler *watch, const struct run_state_view *view, int64_t now_ns,
                     char ret_text[STRAGGLER_TEXT_MAX]);

/* A sentence if one was waited for more than a twentieth of the time since the beginning, and a
 * second at least. */
bool straggler_summarize(const struct straggler *watch, const struct run_state_view *view,
                         int64_t now_ns, char ret_text[STRAGGLER_TEXT_MAX]);

#endif
