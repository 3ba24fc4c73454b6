/* Tests the heap of timers against a linear search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rand.h"
#include "loop/timer_heap.h"

#include <stdlib.h>

enum { TIMERS = 200 };

static struct loop_timer *find_first(struct loop_timer *timers)
{
    struct loop_timer *first = NULL;
    for (size_t i = 0; i < TIMERS; i++) {
        struct loop_timer *timer = &timers[i];
        if (!timer->running)
            continue;
        if (!first || timer->due_ms < first->due_ms ||
            (timer->due_ms == first->due_ms && timer->order < first->order))
            first = timer;
    }
    return first;
}

static void the_first_timer_matches_a_linear_search(void **state)
{
    struct rand rand;
    rand_init(&rand, 7);
    struct timer_heap heap = {0};
    struct loop_timer timers[TIMERS] = {0};
    for (uint64_t move = 0; move < 20000; move++) {
        struct loop_timer *timer = &timers[rand_below(&rand, TIMERS)];
        if (rand_below(&rand, 4) == 0 && timer_heap_first(&heap))
            timer = timer_heap_first(&heap);
        if (timer->running) {
            timer_heap_remove(&heap, timer);
            timer->running = false;
        } else {
            timer->due_ms = (int64_t)rand_below(&rand, 50);
            timer->order = move;
            timer_heap_insert(&heap, timer);
            timer->running = true;
        }
        assert_ptr_equal(timer_heap_first(&heap), find_first(timers));
    }
}

static void many_timers_need_no_deep_recursion(void **state)
{
    enum { MANY = 300000 };
    struct loop_timer *timers = mem_calloc(MANY, sizeof(*timers));
    struct timer_heap heap = {0};
    for (size_t i = 0; i < MANY; i++) {
        timers[i].due_ms = MANY - (int64_t)i;
        timer_heap_insert(&heap, &timers[i]);
    }
    int64_t last = 0;
    while (timer_heap_first(&heap)) {
        struct loop_timer *first = timer_heap_first(&heap);
        assert_true(first->due_ms > last);
        last = first->due_ms;
        timer_heap_remove(&heap, first);
    }
    assert_int_equal(last, MANY);
    free(timers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_timer_matches_a_linear_search),
        cmocka_unit_test(many_timers_need_no_deep_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
