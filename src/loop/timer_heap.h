/* The running timers of a loop as a pairing heap whose links lie in the timers themselves, so that
 * starting and stopping allocates nothing. Shared by both bodies of the loop; knows no clock. */
#ifndef TRAINYARD_LOOP_TIMER_HEAP_H
#define TRAINYARD_LOOP_TIMER_HEAP_H

#include "loop/loop.h"

struct timer_heap {
    struct loop_timer *root;
};

/* Ordered by due_ms, then by `order`; both must stay as they are while the timer is inside. */
void timer_heap_insert(struct timer_heap *heap, struct loop_timer *timer);
void timer_heap_remove(struct timer_heap *heap, struct loop_timer *timer);

static inline struct loop_timer *timer_heap_first(const struct timer_heap *heap)
{
    return heap->root;
}

#endif
