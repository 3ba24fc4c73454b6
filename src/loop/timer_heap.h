/* A pairing heap with the running timers of a loop. The links are members of the timers, so
 * starting and stopping a timer allocates nothing. Both implementations of the loop use it. It
 * reads no clock. */
#ifndef TRAINYARD_LOOP_TIMER_HEAP_H
#define TRAINYARD_LOOP_TIMER_HEAP_H

#include "loop/loop.h"

struct timer_heap {
    struct loop_timer *root;
};

/* Timers are ordered by due_ms, then by `order`. Neither field may change while the timer is in the
 * heap. A timer that is inserted must not be in a heap, and a timer that is removed must be in this
 * heap. */
void timer_heap_insert(struct timer_heap *heap, struct loop_timer *timer);
void timer_heap_remove(struct timer_heap *heap, struct loop_timer *timer);

/* Returns the earliest timer, or NULL if the heap is empty. */
static inline struct loop_timer *timer_heap_first(const struct timer_heap *heap)
{
    return heap->root;
}

#endif
