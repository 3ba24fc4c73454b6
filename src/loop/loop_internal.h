/* What both bodies of the loop share: the timers, the deferred tasks and the table of functions by
 * which they differ. Included by the files of loop/ only. */
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
    uint64_t (*timer_order)(struct loop *loop); /* among timers due at once */
    void (*timers_changed)(struct loop *loop);  /* another timer is the first, or none is left */
    void (*deferred)(struct loop *loop);        /* the list of deferred tasks is empty no more */
    void (*post)(struct loop *loop, struct loop_task *task);
    void (*work_start)(struct loop *loop, struct loop_work *work);
    struct uv_loop_s *(*uv)(struct loop *loop);
    const struct loop_turns *(*turns)(struct loop *loop);
};

/* The callback that took longest in the current turn, for the log. */
struct loop_slowest {
    const void *callback; /* its address; NULL: none was called */
    int64_t ns;
};

/* The first member of each body. */
struct loop {
    const struct loop_ops *ops;
    struct timer_heap timers;
    struct list_head deferred; /* tasks of the next turn */
    struct list_head running;  /* tasks of this turn that are still to run */
    int64_t yield_ns;          /* monotonic time when their budget is used up */
    struct loop_slowest slowest;
};

void loop_init(struct loop *loop, const struct loop_ops *ops);

/* Run the tasks that were deferred up to now. A task that is deferred meanwhile belongs to the next
 * turn, and so do the tasks that are left when `budget_ns` are over, in the same order. */
enum { LOOP_NO_BUDGET = -1 };
void loop_run_deferred(struct loop *loop, int64_t budget_ns);
bool loop_has_deferred(const struct loop *loop);

/* Take the first timer off the heap and call it back. */
void loop_fire_first_timer(struct loop *loop);

#endif
