/* Tests that a controller waits until its informers show its own writes, but not forever. */
#include "kube/client/own_writes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct json *job(struct arena *arena, const char *version)
{
    struct json *object = json_object(arena);
    json_set_string(arena, json_ensure_object(arena, object, "metadata"), "resourceVersion",
                    version);
    return object;
}

static void test_waits_until_seen(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_own_writes writes;
    kube_own_writes_init(&writes);
    assert_int_equal(kube_own_writes_wait_ms(&writes, job(arena, "1"), 100), 0);
    kube_own_writes_add_created(&writes, "a", 100);
    kube_own_writes_add_updated(&writes, job(arena, "10"), 100);
    assert_true(kube_own_writes_wait_ms(&writes, job(arena, "10"), 100) > 0);
    kube_own_writes_observe(&writes, "stranger");
    assert_true(kube_own_writes_wait_ms(&writes, job(arena, "10"), 100) > 0);
    kube_own_writes_observe(&writes, "a");
    assert_true(kube_own_writes_wait_ms(&writes, job(arena, "9"), 100) > 0);
    assert_int_equal(kube_own_writes_wait_ms(&writes, job(arena, "10"), 100), 0);
    assert_int_equal(kube_own_writes_wait_ms(&writes, job(arena, "no number"), 100), 0);
    kube_own_writes_release(&writes);
}

/* A late answer with an older version must not shorten the wait. */
static void test_takes_the_newest_version(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_own_writes writes;
    kube_own_writes_init(&writes);
    kube_own_writes_add_updated(&writes, job(arena, "10"), 100);
    kube_own_writes_add_updated(&writes, job(arena, "9"), 100);
    assert_true(kube_own_writes_wait_ms(&writes, job(arena, "9"), 100) > 0);
    kube_own_writes_release(&writes);
}

/* The caller is told once that the informers are behind. Then the wait lasts as long again. */
static void test_reports_a_delayed_informer_once(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_own_writes writes;
    kube_own_writes_init(&writes);
    assert_false(kube_own_writes_are_overdue(&writes, job(arena, "1"), 100000));
    kube_own_writes_add_created(&writes, "a", 100);
    int64_t wait_ms = kube_own_writes_wait_ms(&writes, job(arena, "1"), 100);
    assert_false(kube_own_writes_are_overdue(&writes, job(arena, "1"), 100 + wait_ms - 1));
    assert_true(kube_own_writes_are_overdue(&writes, job(arena, "1"), 100 + wait_ms));
    assert_int_equal(kube_own_writes_wait_ms(&writes, job(arena, "1"), 100 + wait_ms), wait_ms);
    assert_false(kube_own_writes_are_overdue(&writes, job(arena, "1"), 100 + 2 * wait_ms));
    assert_int_equal(kube_own_writes_wait_ms(&writes, job(arena, "1"), 100 + 2 * wait_ms), 0);
    kube_own_writes_release(&writes);
}

/* An informer may never show a pod that was deleted at once. */
static void test_gives_up(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_own_writes writes;
    kube_own_writes_init(&writes);
    kube_own_writes_add_created(&writes, "a", 100);
    kube_own_writes_add_updated(&writes, job(arena, "10"), 100);
    int64_t wait_ms = kube_own_writes_wait_ms(&writes, job(arena, "1"), 100);
    assert_true(wait_ms > 0);
    assert_int_equal(kube_own_writes_wait_ms(&writes, job(arena, "1"), 100 + wait_ms), 0);
    assert_int_equal(kube_own_writes_wait_ms(&writes, job(arena, "1"), 100), 0);
    kube_own_writes_release(&writes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_until_seen),
        cmocka_unit_test(test_takes_the_newest_version),
        cmocka_unit_test(test_reports_a_delayed_informer_once),
        cmocka_unit_test(test_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
