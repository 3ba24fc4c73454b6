/* Who holds up a run: of the workers that this one waited for, the one it waited longest for, said
 * when that was a large part of a minute, and once more of the whole run. Owned by a run_log, which
 * shows it. */
#ifndef TRAINYARD_TRAIN_STRAGGLER_H
#define TRAINYARD_TRAIN_STRAGGLER_H

#include "train/run/run_state.h"

enum { LATE_WATCH_TEXT_MAX = 128 };

struct late_watch {
    int64_t began_ns, looked_ns;
    double at_begin[RUN_STATE_TASKS_MAX], at_look[RUN_STATE_TASKS_MAX]; /* by place in the view */
    char told[RUN_STATE_TASK_MAX]; /* of the last minute; "": nobody */
};

void late_watch_begin(struct late_watch *watch, const struct run_state_view *view, int64_t now_ns);

/* Whether a minute is over, and late_watch_look() is to be asked; cheap. */
bool late_watch_is_due(const struct late_watch *watch, int64_t now_ns);

/* A sentence if one worker was waited for more than a fifth of the time since the last look, and
 * was not the one it was said of the last time. */
bool late_watch_look(struct late_watch *watch, const struct run_state_view *view, int64_t now_ns,
                     char ret_text[LATE_WATCH_TEXT_MAX]);

/* A sentence if one was waited for more than a twentieth of the time since the beginning, and a
 * second at least. */
bool late_watch_sum(const struct late_watch *watch, const struct run_state_view *view,
                    int64_t now_ns, char ret_text[LATE_WATCH_TEXT_MAX]);

#endif
