/* Tests events that watches share: encoded once, counted once, freed with the last reference. Also
 * tests which backlog ends when they take too much memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/watch/events.h"
#include "loop/sim/sim_loop.h"

#include <stdlib.h>

enum { MAX = 1000 };

struct watch {
    struct watch_backlog backlog;
    int ended; /* how often its end was requested */
};

static void end(struct watch_backlog *backlog)
{
    struct watch *watch = CONTAINER_OF(backlog, struct watch, backlog);
    if (watch->ended++ == 0)
        watch_backlog_drop(backlog);
    else
        watch_backlog_clear(backlog);
}

struct world {
    struct loop *loop;
    struct watch_events *events;
};

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(1, 0);
    world->events = watch_events_new(world->loop, MAX);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    loop_run(world->loop);
    assert_int_equal(watch_events_budget(world->events)->used, 0);
    watch_events_free(world->events);
    loop_free(world->loop);
    free(world);
    return 0;
}

static size_t bytes_kept(const struct world *world)
{
    return watch_events_budget(world->events)->used;
}

/* Adds an event of `size` bytes for the change `revision`. */
static struct watch_event *add(struct world *world, int64_t revision, size_t size)
{
    static const char data[MAX] = "{}";
    const struct watch_event_key key = {.revision = revision, .type = "ADDED", .options = "v1"};
    struct watch_event *event = watch_events_find(world->events, &key);
    return event ? event : watch_events_add(world->events, &key, data, size);
}

static void an_event_is_found_only_in_its_form(void **state)
{
    struct world *world = *state;
    char options[] = "v1 table";
    struct watch_event_key key = {.revision = 7, .type = "ADDED", .options = options};
    assert_null(watch_events_find(world->events, &key));
    struct watch_event *event = watch_events_add(world->events, &key, "abc", 3);
    options[0] = 'w'; /* the key is copied */
    assert_null(watch_events_find(world->events, &key));
    options[0] = 'v';
    assert_ptr_equal(watch_events_find(world->events, &key), event);
    assert_memory_equal(event->data, "abc", 3);
    assert_int_equal(bytes_kept(world), 3);
    const struct watch_event_key others[] = {
        {.revision = 8, .type = "ADDED", .options = options},
        {.revision = 7, .type = "MODIFIED", .options = options},
        {.revision = 7, .type = "ADDED", .options = options, .columns = true},
        {.revision = 7, .type = "ADDED", .options = options, .second = 1},
        {.revision = 7, .type = "ADDED", .options = "v1"},
        {.revision = 7 + 256, .type = "ADDED", .options = options}, /* falls into the same bucket */
    };
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        assert_null(watch_events_find(world->events, &others[i]));
    watch_event_unref(event);
    watch_event_unref(event);
    /* The event is kept for other watches until the turn of the loop ends. */
    event = watch_events_find(world->events, &key);
    assert_non_null(event);
    watch_event_unref(event);
    loop_run(world->loop);
    assert_null(watch_events_find(world->events, &key));
    assert_int_equal(bytes_kept(world), 0);
}

static void a_backlog_is_sent_in_order_and_in_pieces(void **state)
{
    struct world *world = *state;
    struct watch watch = {0};
    const char *data;
    watch_backlog_init(&watch.backlog, world->events, "ann", end);
    assert_int_equal(watch_backlog_peek(&watch.backlog, &data), 0);
    for (int64_t revision = 1; revision <= 40; revision++) /* the ring grows */
        assert_true(watch_backlog_push(&watch.backlog, add(world, revision, (size_t)revision)));
    watch_backlog_begin(&watch.backlog, add(world, 100, 50)); /* goes before all others */
    assert_int_equal(watch.backlog.bytes.used, 50 + 820);
    assert_int_equal(watch_backlog_peek(&watch.backlog, &data), 50);
    watch_backlog_take(&watch.backlog, 20);
    assert_int_equal(watch_backlog_peek(&watch.backlog, &data), 30);
    watch_backlog_take(&watch.backlog, 30);
    for (size_t size = 1; size <= 40; size++) {
        assert_int_equal(watch_backlog_peek(&watch.backlog, &data), size);
        watch_backlog_take(&watch.backlog, size);
    }
    assert_int_equal(watch.backlog.bytes.used, 0);
    watch_backlog_release(&watch.backlog);
    watch_backlog_release(&watch.backlog);
    assert_int_equal(watch.ended, 0);
}

/* Many watches that are equally far behind keep as many bytes as one watch. */
static void shared_events_are_counted_once(void **state)
{
    enum { WATCHES = 50 };
    struct world *world = *state;
    struct watch watches[WATCHES] = {0};
    for (int i = 0; i < WATCHES; i++)
        watch_backlog_init(&watches[i].backlog, world->events, "ann", end);
    for (int64_t revision = 1; revision <= 9; revision++)
        for (int i = 0; i < WATCHES; i++)
            assert_true(watch_backlog_push(&watches[i].backlog, add(world, revision, 100)));
    assert_int_equal(bytes_kept(world), 900);
    for (int i = 0; i < WATCHES; i++) {
        assert_int_equal(watches[i].backlog.bytes.used, 900);
        assert_int_equal(watches[i].ended, 0);
        watch_backlog_release(&watches[i].backlog);
    }
}

static void the_slowest_watch_of_the_largest_user_is_ended(void **state)
{
    struct world *world = *state;
    struct watch slow = {0}, slower = {0}, other = {0}, inside = {0};
    watch_backlog_init(&slow.backlog, world->events, "ann", end);
    watch_backlog_init(&slower.backlog, world->events, "ann", end);
    watch_backlog_init(&other.backlog, world->events, "bob", end);
    watch_backlog_init(&inside.backlog, world->events, NULL, end); /* a watch of this process */
    const char *data;
    watch_backlog_push(&slower.backlog, add(world, 1, 300));
    watch_backlog_peek(&slower.backlog, &data);
    watch_backlog_take(&slower.backlog, 10); /* it has begun to read */
    watch_backlog_push(&slower.backlog, add(world, 2, 250));
    watch_backlog_push(&slow.backlog, add(world, 3, 150));
    watch_backlog_push(&other.backlog, add(world, 4, 200));
    watch_backlog_push(&inside.backlog, add(world, 2, 250));
    watch_backlog_push(&inside.backlog, add(world, 5, 100));
    assert_int_equal(bytes_kept(world), 1000);
    /* There is no room for another byte. The end of this watch frees no shared event, so it is
     * requested twice. */
    loop_run(world->loop);
    watch_backlog_push(&other.backlog, add(world, 6, 50));
    assert_int_equal(slower.ended, 2);
    assert_int_equal(slower.backlog.bytes.used, 0);
    assert_int_equal(slow.ended + other.ended + inside.ended, 0);
    assert_int_equal(watch_events_ended(world->events), 1);
    /* An event that only watches of this process use cannot be freed, and is kept above the
     * limit. */
    loop_run(world->loop);
    watch_backlog_push(&inside.backlog, add(world, 7, 900));
    assert_int_equal(inside.ended, 0);
    assert_int_equal(slow.backlog.bytes.used + other.backlog.bytes.used, 0);
    assert_int_equal(bytes_kept(world), 250 + 100 + 900);
    watch_backlog_release(&slow.backlog);
    watch_backlog_release(&slower.backlog);
    watch_backlog_release(&other.backlog);
    watch_backlog_release(&inside.backlog);
}

static void each_watch_has_its_own_limit(void **state)
{
    struct world *world = *state;
    struct watch watch = {0}, inside = {0};
    static char large[WATCH_BACKLOG_MAX];
    watch_backlog_init(&watch.backlog, world->events, "ann", end);
    watch_backlog_init(&inside.backlog, world->events, NULL, end);
    struct watch_event *first = watch_events_add(world->events, NULL, large, sizeof(large));
    struct watch_event *second = watch_events_add(world->events, NULL, "x", 1);
    assert_true(watch_backlog_push(&watch.backlog, first));
    assert_false(watch_backlog_push(&watch.backlog, second));
    assert_int_equal(watch_events_ended(world->events), 1);
    watch_backlog_begin(&inside.backlog, second);
    second = watch_events_add(world->events, NULL, large, sizeof(large));
    assert_true(watch_backlog_push(&inside.backlog, second));
    second = watch_events_add(world->events, NULL, large, sizeof(large));
    assert_true(watch_backlog_push(&inside.backlog, second));
    watch_backlog_release(&watch.backlog);
    watch_backlog_release(&inside.backlog);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_event_is_found_only_in_its_form),
        TEST(a_backlog_is_sent_in_order_and_in_pieces),
        TEST(shared_events_are_counted_once),
        TEST(the_slowest_watch_of_the_largest_user_is_ended),
        TEST(each_watch_has_its_own_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
