/* The common part of both loop implementations: timers, deferred tasks, and the table of functions
 * that each implementation provides. Included by the files of loop/ only. */
#ifndef TRAINYARD_LOOP_LOOP_INTERNAL_H
#define TRAINYARD_LOOP_LOOP_INTERNAL_H

#include "loop/loop.h"
#include "loop/loop_turns.h"
#include "loop/timer_heap.h"

struct loop_ops {
    void (*free)(struct loop *loop);
    void (*run)(struct loop *loop);
    void (*stop)(struct loop *loop);
    int64_t (*now_ms)(struct loop *loop);
    int64_t (*wall_ms)(struct loop *loop);
    /* Returns the `order` of a timer that is started. Among timers that are due at the same time,
     * the timer with the lowest order runs first. */
    uint64_t (*timer_order)(struct loop *loop);
    void (*timers_changed)(struct loop *loop); /* the earliest timer has changed, or none is left */
    void (*deferred)(struct loop *loop); /* a task was added to the empty list of deferred tasks */
    void (*post)(struct loop *loop, struct loop_task *task);
    void (*work_start)(struct loop *loop, struct loop_work *work);
    struct uv_loop_s *(*uv)(struct loop *loop);
    const struct loop_turns *(*turns)(struct loop *loop);
};

/* The slowest timer or deferred task of the current turn, for the log. */
struct loop_slowest {
    const void *callback; /* the address of its function; NULL: no timer or task has run in this
                             turn */
    int64_t ns;
};

/* The first member of each implementation's struct. */
struct loop {
    const struct loop_ops *ops;
    struct timer_heap timers;
    struct list_head deferred; /* tasks queued since the last call of loop_run_deferred() began */
    struct list_head running;  /* tasks that loop_run_deferred() has taken but not run yet */
    int64_t yield_ns;          /* monotonic time after which loop_run_deferred() starts no further
                                  task; INT64_MAX: no limit */
    struct loop_slowest slowest;
};

void loop_init(struct loop *loop, const struct loop_ops *ops);

/* Runs the tasks that were deferred before the call, and starts no further task after `budget_ns`
 * (LOOP_NO_BUDGET: no limit). The remaining tasks run first in the next call, in the same order. A
 * task that is deferred during this call runs in the next call, after the remaining tasks. */
enum { LOOP_NO_BUDGET = -1 };
void loop_run_deferred(struct loop *loop, int64_t budget_ns);
bool loop_has_deferred(const struct loop *loop);

/* Removes the earliest timer from the heap and calls its callback. */
void loop_fire_first_timer(struct loop *loop);

#endif
