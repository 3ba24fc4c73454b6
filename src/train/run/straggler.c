/* Implements the search for the worker that delays a run; see straggler.h. */
#include "train/run/straggler.h"

#include "base/str.h"

#include <stdio.h>

static const int64_t CHECK_INTERVAL_NS = 60 * (int64_t)1000000000;

/* Copies the seconds waited for each worker. */
static void remember_waits(const struct run_state_view *view, double seconds[RUN_STATE_TASKS_MAX])
{
    for (size_t i = 0; i < view->late_count; i++)
        seconds[i] = view->late[i].seconds;
}

/* Returns the worker for which this process has waited longest since `seconds` was recorded, or
 * NULL if there is none. */
static const char *worst_since(const struct run_state_view *view, const double *seconds,
                               double *ret_waited)
{
    const char *worst = NULL;
    *ret_waited = 0;
    for (size_t i = 0; i < view->late_count; i++) {
        double waited = view->late[i].seconds - seconds[i];
        if (waited > *ret_waited) {
            *ret_waited = waited;
            worst = view->late[i].task;
        }
    }
    return worst;
}

void straggler_begin(struct straggler *watch, const struct run_state_view *view, int64_t now_ns)
{
    *watch = (struct straggler){.began_ns = now_ns, .checked_ns = now_ns};
    remember_waits(view, watch->at_begin);
    remember_waits(view, watch->at_check);
}

bool straggler_is_due(const struct straggler *watch, int64_t now_ns)
{
    return now_ns - watch->checked_ns >= CHECK_INTERVAL_NS;
}

bool straggler_check(struct straggler *watch, const struct run_state_view *view, int64_t now_ns,
                     char ret_text[STRAGGLER_TEXT_MAX])
{
    double waited, passed = (double)(now_ns - watch->checked_ns) / 1e9;
    const char *worst = worst_since(view, watch->at_check, &waited);
    bool much = worst && waited > passed / 5, same = much && str_eq(worst, watch->previous);
    remember_waits(view, watch->at_check);
    watch->checked_ns = now_ns;
    str_copy(watch->previous, sizeof(watch->previous), much ? worst : "");
    if (!much || same)
        return false;
    snprintf(ret_text, STRAGGLER_TEXT_MAX, "waited %.1f s of the last %.0f s for %s", waited,
             passed, worst);
    return true;
}

bool straggler_summarize(const struct straggler *watch, const struct run_state_view *view,
                         int64_t now_ns, char ret_text[STRAGGLER_TEXT_MAX])
{
    double waited, passed = (double)(now_ns - watch->began_ns) / 1e9;
    const char *worst = worst_since(view, watch->at_begin, &waited);
    if (!worst || waited < 1 || waited <= passed / 20)
        return false;
    snprintf(ret_text, STRAGGLER_TEXT_MAX, "waited %.1f s of %.1f s for %s", waited, passed, worst);
    return true;
}
