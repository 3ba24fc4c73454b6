/* Tests how many events may be written, with a table over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/client/event_budget.h"

#include <stdio.h>
#include <stdlib.h>

static int setup(void **state)
{
    struct kube_event_budget *budget = mem_zalloc(sizeof(*budget));
    kube_event_budget_init(budget);
    *state = budget;
    return 0;
}

static int teardown(void **state)
{
    kube_event_budget_release(*state);
    free(*state);
    return 0;
}

static int take_all(struct kube_event_budget *budget, const char *object, const char *reason,
                    int64_t now_ms)
{
    int taken = 0;
    while (kube_event_budget_take(budget, object, reason, now_ms) == 0)
        taken++;
    return taken;
}

static void a_reason_may_take_12_events_and_an_object_25(void **state)
{
    assert_int_equal(take_all(*state, "job", "created", 0), 12);
    assert_int_equal(take_all(*state, "job", "deleted", 0), 12);
    assert_int_equal(take_all(*state, "job", "exited", 0), 1);
    assert_false(kube_event_budget_is_first(*state, "job", "exited"));
    assert_true(kube_event_budget_is_first(*state, "job", "failed"));
    /* The first event is always written. */
    assert_int_equal(take_all(*state, "job", "failed", 0), 1);
    assert_int_equal(take_all(*state, "other", "created", 0), 12);
}

static void the_budget_refills_slowly(void **state)
{
    take_all(*state, "job", "created", 0);
    int64_t wait_ms = kube_event_budget_take(*state, "job", "created", 0);
    assert_in_range(wait_ms, 299000, 301000);
    assert_int_equal(take_all(*state, "job", "created", wait_ms), 1);
    assert_int_equal(take_all(*state, "job", "created", 4 * wait_ms), 3);
    assert_int_equal(take_all(*state, "job", "created", 1000 * wait_ms), 12);
}

static void the_tenth_message_is_combined_until_a_pause(void **state)
{
    for (int i = 0; i < 9; i++)
        assert_false(kube_event_budget_combines(*state, "job", "created", i));
    for (int64_t now_ms = 9; now_ms < 3600 * 1000; now_ms += 500 * 1000)
        assert_true(kube_event_budget_combines(*state, "job", "created", now_ms));
    assert_false(kube_event_budget_combines(*state, "job", "deleted", 5));
    assert_false(kube_event_budget_combines(*state, "job", "created", 7200 * 1000));
}

static void the_oldest_topics_are_forgotten(void **state)
{
    struct kube_event_budget *budget = *state;
    char name[32];
    take_all(budget, "first", "r", 0);
    for (int i = 0; i < KUBE_EVENT_TOPICS_MAX; i++) {
        snprintf(name, sizeof(name), "job%d", i);
        kube_event_budget_take(budget, name, "r", 0);
    }
    assert_in_range(budget->topics.count, 1, KUBE_EVENT_TOPICS_MAX + 1);
    assert_int_equal(take_all(budget, "first", "r", 0), 12);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_reason_may_take_12_events_and_an_object_25),
        TEST(the_budget_refills_slowly),
        TEST(the_tenth_message_is_combined_until_a_pause),
        TEST(the_oldest_topics_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
