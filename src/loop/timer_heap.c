/* Implements the pairing heap of timers; see timer_heap.h. */
#include "loop/timer_heap.h"

#include <stddef.h>

/* The indices of a timer's links. BEFORE is the left sibling, or the parent if the timer is the
 * leftmost child. With this link, any timer can be removed without a search. */
enum { CHILD, SIBLING, BEFORE };

static bool is_earlier(const struct loop_timer *a, const struct loop_timer *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

/* Joins two trees whose roots have no siblings, and returns the new root. Either tree may be
 * NULL. */
static struct loop_timer *heap_meld(struct loop_timer *a, struct loop_timer *b)
{
    if (!a || !b)
        return a ? a : b;
    if (is_earlier(b, a)) {
        struct loop_timer *earlier = b;
        b = a;
        a = earlier;
    }
    b->heap[SIBLING] = a->heap[CHILD];
    if (b->heap[SIBLING])
        b->heap[SIBLING]->heap[BEFORE] = b;
    b->heap[BEFORE] = a;
    a->heap[CHILD] = b;
    return a;
}

/* Joins a list of siblings into one tree: melds pairs from left to right, then melds the results
 * from right to left. This is a loop and not a recursion, because the list may contain all
 * timers. */
static struct loop_timer *meld_siblings(struct loop_timer *first)
{
    struct loop_timer *pairs = NULL;
    while (first) {
        struct loop_timer *second = first->heap[SIBLING];
        struct loop_timer *rest = second ? second->heap[SIBLING] : NULL;
        first->heap[SIBLING] = first->heap[BEFORE] = NULL;
        if (second)
            second->heap[SIBLING] = second->heap[BEFORE] = NULL;
        struct loop_timer *pair = heap_meld(first, second);
        pair->heap[SIBLING] = pairs;
        pairs = pair;
        first = rest;
    }
    struct loop_timer *tree = NULL;
    while (pairs) {
        struct loop_timer *rest = pairs->heap[SIBLING];
        pairs->heap[SIBLING] = NULL;
        tree = heap_meld(tree, pairs);
        pairs = rest;
    }
    return tree;
}

void timer_heap_insert(struct timer_heap *heap, struct loop_timer *timer)
{
    timer->heap[CHILD] = timer->heap[SIBLING] = timer->heap[BEFORE] = NULL;
    heap->root = heap_meld(heap->root, timer);
}

void timer_heap_remove(struct timer_heap *heap, struct loop_timer *timer)
{
    struct loop_timer *below = meld_siblings(timer->heap[CHILD]);
    struct loop_timer *before = timer->heap[BEFORE], *sibling = timer->heap[SIBLING];
    if (timer == heap->root) {
        heap->root = below;
    } else {
        if (before->heap[CHILD] == timer)
            before->heap[CHILD] = sibling;
        else
            before->heap[SIBLING] = sibling;
        if (sibling)
            sibling->heap[BEFORE] = before;
        heap->root = heap_meld(heap->root, below);
    }
    timer->heap[CHILD] = timer->heap[SIBLING] = timer->heap[BEFORE] = NULL;
}
