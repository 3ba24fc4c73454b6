/* Tests the contract of the store, in memory and on disk: expected revisions, order, visibility,
 * watches. */
#include "store_fixture.h"

#include "base/buf.h"
#include "base/rand.h"

static struct fixture fixture;

static int setup_memory(void **state)
{
    fixture_init(&fixture, false);
    fixture_open(&fixture);
    return 0;
}

static int setup_disk(void **state)
{
    fixture_init(&fixture, true);
    fixture_open(&fixture);
    return 0;
}

static int teardown(void **state)
{
    fixture_release(&fixture);
    return 0;
}

static struct buf told; /* one line per callback */

static void on_done(void *context, const struct store_object *object, const struct err *err)
{
    buf_printf(&told, "%s %s %lld %s\n", (const char *)context, object->key,
               (long long)object->revision, err ? err->message : "ok");
}

static void on_event(void *context, const struct store_event *event)
{
    static const char *const NAMES[] = {"added", "modified", "deleted"};
    buf_printf(&told, "%s: %s %s@%lld=%s was %s\n", (const char *)context, NAMES[event->type],
               event->object->key, (long long)event->object->revision,
               store_object_data(event->object, fixture.arena),
               event->previous ? store_object_data(event->previous, fixture.arena) : "-");
}

static void expect_log(const char *text)
{
    assert_string_equal(told.data, text);
    buf_clear(&told);
}

static int put(const char *key, const char *text, int64_t expected, struct err *err)
{
    return store_put(fixture.store, key, text, strlen(text), expected, on_done, (void *)"done",
                     err);
}

static void test_expected_revisions(void **state)
{
    struct err err = ERR_INIT;
    struct store *store = fixture.store;
    assert_int_equal(store_next_revision(store), 1);
    assert_int_equal(put("/a", "1", 7, &err), -ERR_NOT_FOUND);
    assert_string_equal(err.message, "'/a' does not exist");
    assert_int_equal(put("/a", "1", 0, &err), 0);
    assert_int_equal(store_next_revision(store), 2);

    /* The change is not committed yet: reads do not see it, but the next write is checked against
     * it. */
    assert_null(store_get(store, "/a"));
    struct store_object *object = store_get_pending(store, "/a");
    assert_int_equal(object->revision, 1);
    store_object_unref(object);
    assert_int_equal(put("/a", "2", 0, &err), -ERR_EXISTS);
    assert_string_equal(err.message, "'/a' exists already");
    assert_int_equal(put("/a", "2", 1, &err), 0);
    assert_int_equal(put("/a", "3", 1, &err), -ERR_CONFLICT);
    assert_string_equal(err.message, "'/a' was changed: it is at revision 2, not 1; read it again");
    assert_int_equal(store_revision(store), 0);
    expect_log("");
    loop_run(fixture.loop);
    expect_log("done /a 1 ok\ndone /a 2 ok\n");
    assert_int_equal(store_revision(store), 2);
    object = store_get(store, "/a");
    assert_int_equal(object->revision, 2);
    assert_int_equal(object->create_revision, 1);
    assert_string_equal(store_object_data(object, fixture.arena), "2");
    assert_int_equal(object->size, 1);
    store_object_unref(object);
}

static void test_delete_and_create_again(void **state)
{
    struct err err = ERR_INIT;
    struct store *store = fixture.store;
    fixture_write(&fixture, "/a", "1");
    assert_int_equal(store_delete(store, "/a", "x", 1, 0, NULL, NULL, &err), -ERR_INVALID);
    assert_int_equal(store_delete(store, "/b", "x", 1, 1, NULL, NULL, &err), -ERR_NOT_FOUND);
    assert_int_equal(store_delete(store, "/a", "x", 1, 9, NULL, NULL, &err), -ERR_CONFLICT);
    assert_int_equal(store_delete(store, "/a", "x", 1, 1, on_done, (void *)"del", &err), 0);
    assert_null(store_get_pending(store, "/a"));
    /* Visible until the deletion is committed. */
    struct store_object *object = store_get(store, "/a");
    assert_non_null(object);
    store_object_unref(object);
    assert_int_equal(store_delete(store, "/a", "x", 1, 1, NULL, NULL, &err), -ERR_NOT_FOUND);
    assert_int_equal(put("/a", "2", 0, &err), 0); /* while the deletion is not committed yet */
    loop_run(fixture.loop);
    expect_log("del /a 2 ok\ndone /a 3 ok\n");
    object = store_get(store, "/a");
    assert_int_equal(object->create_revision, 3);
    store_object_unref(object);
}

static void test_list(void **state)
{
    fixture_write(&fixture, "/pods/b/2", "b2");
    fixture_write(&fixture, "/pods/a/1", "a1");
    fixture_write(&fixture, "/pods/b/1", "b1");
    fixture_write(&fixture, "/podsy", "no");
    fixture_write(&fixture, "/pods/a/9", "gone");
    fixture_write(&fixture, "/pods/a/9", NULL);
    assert_int_equal(put("/pods/a/7", "pending", 0, NULL), 0);
    struct store_object **objects;
    assert_int_equal(store_list(fixture.store, "/pods/", &objects), 3);
    assert_string_equal(store_object_data(objects[0], fixture.arena), "a1");
    assert_string_equal(store_object_data(objects[1], fixture.arena), "b1");
    assert_string_equal(store_object_data(objects[2], fixture.arena), "b2");
    for (size_t i = 0; i < 3; i++)
        store_object_unref(objects[i]);
    free(objects);
    assert_int_equal(store_list(fixture.store, "/none/", &objects), 0);
    free(objects);
    loop_run(fixture.loop);
    buf_clear(&told);
}

static void test_limits(void **state)
{
    struct err err = ERR_INIT;
    char key[2000];
    memset(key, 'k', sizeof(key));
    key[sizeof(key) - 1] = '\0';
    assert_int_equal(put(key, "1", 0, &err), -ERR_INVALID);
    assert_int_equal(put("", "1", 0, &err), -ERR_INVALID);
    assert_int_equal(store_put(fixture.store, "/big", "", (size_t)1 << 30, 0, NULL, NULL, &err),
                     -ERR_TOO_LARGE);
    assert_int_equal(store_put(fixture.store, "/empty", NULL, 0, 0, NULL, NULL, &err), 0);
    loop_run(fixture.loop);
    struct store_object *object = store_get(fixture.store, "/empty");
    assert_int_equal(object->size, 0);
    assert_string_equal(store_object_data(object, fixture.arena), "");
    store_object_unref(object);
}

/* An object outlives its place in the store until its last reference is dropped. */
static void test_object_outlives_the_store(void **state)
{
    fixture_write(&fixture, "/a", "1");
    struct store_object *object = store_get(fixture.store, "/a");
    fixture_write(&fixture, "/a", "2");
    fixture_write(&fixture, "/a", NULL);
    fixture_close(&fixture);
    assert_string_equal(store_object_data(object, fixture.arena), "1");
    assert_string_equal(object->key, "/a");
    store_object_unref(object);
    store_object_unref(NULL);
}

static char *pod_text(int number)
{
    return arena_printf(fixture.arena,
                        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"worker-%d\"},\"spec\":{"
                        "\"schedulerName\":\"nobody\",\"restartPolicy\":\"Never\"}}",
                        number);
}

static void expect_pod(const char *key, int number, bool is_whole)
{
    struct store_object *object = store_get(fixture.store, key);
    assert_string_equal(store_object_data(object, fixture.arena), pod_text(number));
    assert_int_equal(object->size, strlen(pod_text(number)));
    assert_int_equal(!object->base, is_whole);
    if (object->base) {
        assert_null(object->base->base);
        assert_true(object->kept_size <= object->size / 2);
    }
    store_object_unref(object);
}

/* One of several similar objects is stored whole, and the others as deltas to it, even after it is
 * deleted. An object that has become very different is stored whole again. */
static void test_similar_objects_are_stored_as_deltas(void **state)
{
    fixture_write(&fixture, "/nodes/a", "a node is nothing like a pod, which has containers");
    for (int i = 1; i < 30; i++)
        fixture_write(&fixture, arena_printf(fixture.arena, "/pods/worker-%d", i), pod_text(i));
    expect_pod("/pods/worker-1", 1, true);
    for (int i = 2; i < 30; i++)
        expect_pod(arena_printf(fixture.arena, "/pods/worker-%d", i), i, false);
    fixture_write(&fixture, "/pods/worker-1", NULL);
    fixture_write(&fixture, "/pods/worker-2", pod_text(4711));
    expect_pod("/pods/worker-2", 4711, false);
    expect_pod("/pods/worker-29", 29, false);
    if (fixture.path[0])
        fixture_reopen(&fixture);
    expect_pod("/pods/worker-2", 4711, false);
    expect_pod("/pods/worker-29", 29, false);
    fixture_write(&fixture, "/pods/worker-2", "something else altogether, and rather longer");
    struct store_object *object = store_get(fixture.store, "/pods/worker-2");
    assert_null(object->base);
    fixture_close(&fixture);
    assert_string_equal(store_object_data(object, fixture.arena),
                        "something else altogether, and rather longer");
    store_object_unref(object);
}

static void test_watch_live(void **state)
{
    struct store_watch *pods, *all;
    fixture_write(&fixture, "/pods/a", "0");
    assert_int_equal(
        store_watch(fixture.store, "/pods/", -1, on_event, (void *)"pods", &pods, NULL), 0);
    assert_int_equal(store_watch(fixture.store, "/", 1, on_event, (void *)"all", &all, NULL), 0);
    assert_int_equal(put("/pods/a", "1", 1, NULL), 0);
    assert_int_equal(put("/jobs/b", "2", 0, NULL), 0);
    assert_int_equal(
        store_delete(fixture.store, "/pods/a", "3", 1, 2, on_done, (void *)"done", NULL), 0);
    expect_log("");
    loop_run(fixture.loop);
    /* For any batching, each writer is called before the watches, and each watch gets events in
     * order. */
    const char *done = strstr(told.data, "done /pods/a 2 ok\n");
    const char *seen = strstr(told.data, "pods: modified /pods/a@2=1 was 0\n");
    assert_true(done && seen && done < seen);
    const char *deleted = strstr(told.data, "pods: deleted /pods/a@4=3 was 1\n");
    assert_true(deleted && deleted > seen);
    assert_null(strstr(told.data, "pods: added /jobs/b"));
    assert_non_null(strstr(told.data, "all: added /jobs/b@3=2 was -\n"));
    buf_clear(&told);
    store_watch_stop(pods);
    fixture_write(&fixture, "/pods/c", "4");
    expect_log("all: added /pods/c@5=4 was -\n");
    store_watch_stop(all);
    store_watch_stop(NULL);
}

/* All watches get a change before any watch gets the next change. */
static void test_watch_change_by_change(void **state)
{
    struct store_watch *first, *late, *third;
    fixture_write(&fixture, "/a", "1");
    fixture_write(&fixture, "/a", "2");
    fixture_write(&fixture, "/b", "3");
    store_watch(fixture.store, "/", 1, on_event, (void *)"first", &first, NULL);
    store_watch(fixture.store, "/", 2, on_event, (void *)"late", &late, NULL);
    store_watch(fixture.store, "/a", 0, on_event, (void *)"third", &third, NULL);
    loop_run(fixture.loop);
    expect_log("third: added /a@1=1 was -\n"
               "first: modified /a@2=2 was 1\n"
               "third: modified /a@2=2 was 1\n"
               "first: added /b@3=3 was -\n"
               "late: added /b@3=3 was -\n");
    store_watch_stop(first);
    store_watch_stop(late);
    store_watch_stop(third);
}

static void test_watch_from_history(void **state)
{
    fixture_write(&fixture, "/a", "1");
    fixture_write(&fixture, "/a", "2");
    fixture_write(&fixture, "/b", "3");
    fixture_write(&fixture, "/a", NULL);
    struct store_watch *watch, *future;
    assert_int_equal(store_watch(fixture.store, "/a", 1, on_event, (void *)"w", &watch, NULL), 0);
    expect_log(""); /* the callback never runs from within the call */
    assert_int_equal(store_watch(fixture.store, "/", 5, on_event, (void *)"f", &future, NULL), 0);
    loop_run(fixture.loop);
    expect_log("w: modified /a@2=2 was 1\nw: deleted /a@4=gone was 2\n");
    fixture_write(&fixture, "/a", "5");
    expect_log("w: added /a@5=5 was -\n");
    fixture_write(&fixture, "/c", "6");
    expect_log("f: added /c@6=6 was -\n");
    store_watch_stop(watch);
    store_watch_stop(future);
    /* A watch that is stopped before its first turn gets no event. */
    assert_int_equal(store_watch(fixture.store, "/", 0, on_event, (void *)"x", &watch, NULL), 0);
    store_watch_stop(watch);
    loop_run(fixture.loop);
    expect_log("");
}

static void test_expired_history(void **state)
{
    fixture.history_max = 3;
    fixture_reopen(&fixture);
    struct store_watch *watch = NULL;
    struct err err = ERR_INIT;
    for (int i = 0; i < 5; i++)
        fixture_write(&fixture, "/a", "x");
    assert_int_equal(store_watch(fixture.store, "/", 1, on_event, NULL, &watch, &err),
                     -ERR_EXPIRED);
    assert_string_equal(err.message, "too old resource version: 1 (2)");
    assert_null(watch);
    assert_int_equal(store_watch(fixture.store, "/", -2, on_event, NULL, &watch, &err),
                     -ERR_BAD_REQUEST);
    assert_int_equal(store_watch(fixture.store, "/", 2, on_event, (void *)"w", &watch, &err), 0);
    /* Before the watch's first turn come more changes than history keeps. */
    for (int i = 5; i < 12; i++)
        assert_int_equal(put("/a", "y", i, &err), 0);
    loop_run(fixture.loop);
    for (int i = 3; i <= 12; i++) {
        char line[64];
        snprintf(line, sizeof(line), "w: modified /a@%d=", i);
        assert_non_null(strstr(told.data, line));
    }
    buf_clear(&told);
    store_watch_stop(watch);
}

static void expect_floor(int64_t revision)
{
    struct store_watch *watch = NULL;
    assert_int_equal(store_watch(fixture.store, "/", revision - 1, on_event, NULL, &watch, NULL),
                     -ERR_EXPIRED);
    assert_int_equal(store_watch(fixture.store, "/", revision, on_event, NULL, &watch, NULL), 0);
    store_watch_stop(watch);
}

/* Only superseded versions count against the limit of history, even if they are few. Live objects
 * do not count. */
static void test_history_is_bounded_in_bytes(void **state)
{
    fixture.history_bytes_max = 10;
    fixture_reopen(&fixture);
    struct store_watch *all;
    assert_int_equal(store_watch(fixture.store, "/", 0, on_event, (void *)"w", &all, NULL), 0);
    fixture_write(&fixture, "/a", "1234");
    for (int i = 2; i <= 5; i++) {
        char key[8];
        snprintf(key, sizeof(key), "/b%d", i);
        fixture_write(&fixture, key, "more than ten bytes");
    }
    fixture_write(&fixture, "/a", "2345"); /* 6: four superseded bytes */
    fixture_write(&fixture, "/a", "3456"); /* 7: eight */
    struct store_watch *watch;
    assert_int_equal(store_watch(fixture.store, "/", 0, on_event, NULL, &watch, NULL), 0);
    store_watch_stop(watch);
    fixture_write(&fixture, "/a", "4567"); /* 8: twelve, so 6 must be dropped */
    expect_floor(6);
    fixture_write(&fixture, "/a", NULL); /* 9: the last state and the deletion count */
    expect_floor(8);
    buf_clear(&told);
    fixture_write(&fixture, "/b2", "and more"); /* 10: more than the limit */
    expect_log("w: modified /b2@10=and more was more than ten bytes\n");
    expect_floor(10);
    store_watch_stop(all);
}

/* A callback that stops its own watch and another one, and starts a third. */
struct chain {
    struct store_watch *self, *other, *third;
};

static void on_event_change_watches(void *context, const struct store_event *event)
{
    struct chain *chain = context;
    on_event((void *)"chain", event);
    store_watch_stop(chain->self);
    store_watch_stop(chain->other);
    assert_int_equal(
        store_watch(fixture.store, "/", 0, on_event, (void *)"third", &chain->third, NULL), 0);
}

static void test_watches_stop_and_start_in_a_callback(void **state)
{
    struct chain chain = {0};
    fixture_write(&fixture, "/a", "0");
    store_watch(fixture.store, "/", -1, on_event_change_watches, &chain, &chain.self, NULL);
    store_watch(fixture.store, "/", -1, on_event, (void *)"other", &chain.other, NULL);
    fixture_write(&fixture, "/a", "1");
    fixture_write(&fixture, "/a", "2");
    expect_log("chain: modified /a@2=1 was 0\n"
               "third: added /a@1=0 was -\n"
               "third: modified /a@2=1 was 0\n"
               "third: modified /a@3=2 was 1\n");
    store_watch_stop(chain.third);
}

static void on_done_write_again(void *context, const struct store_object *object,
                                const struct err *err)
{
    int *left = context;
    assert_null(err);
    struct store_object *visible = store_get(fixture.store, object->key);
    /* A committed change is visible at once. */
    assert_int_equal(visible->revision, object->revision);
    store_object_unref(visible);
    if (--*left)
        assert_int_equal(store_put(fixture.store, object->key, "n", 1, object->revision,
                                   on_done_write_again, left, NULL),
                         0);
}

static void test_write_in_a_callback(void **state)
{
    int left = 20;
    assert_int_equal(
        store_put(fixture.store, "/chain", "n", 1, 0, on_done_write_again, &left, NULL), 0);
    loop_run(fixture.loop);
    assert_int_equal(left, 0);
    assert_int_equal(store_revision(fixture.store), 20);
}

static void test_close(void **state)
{
    struct err err = ERR_INIT;
    struct store_watch *watch;
    store_watch(fixture.store, "/", -1, on_event, (void *)"w", &watch, NULL);
    for (int i = 0; i < 3; i++) {
        char key[8];
        snprintf(key, sizeof(key), "/k%d", i);
        assert_int_equal(put(key, "v", 0, NULL), 0);
    }
    bool closed = false;
    store_close(fixture.store, fixture_on_closed, &closed);
    assert_int_equal(put("/late", "v", 0, &err), -ERR_UNAVAILABLE);
    assert_string_equal(err.message, "the store is closing");
    loop_run(fixture.loop);
    assert_true(closed);
    fixture.store = NULL;
    assert_non_null(strstr(told.data, "done /k2 3 ok\n"));
    assert_non_null(strstr(told.data, "w: added /k2@3=v was -\n"));
    assert_null(strstr(told.data, "/late"));
    buf_clear(&told);
    store_watch_stop(watch); /* allowed after the store is closed */
}

/* Random writes compared with a plain model. Two watches rebuild the same state from events
 * alone. */
enum { KEYS = 20 };

static void on_model_event(void *context, const struct store_event *event)
{
    int64_t *revisions = context;
    int key = atoi(event->object->key + 1);
    assert_int_equal(event->previous ? event->previous->revision : 0, revisions[key]);
    revisions[key] = event->type == STORE_DELETED ? 0 : event->object->revision;
}

static void test_random(void **state)
{
    struct rand rand;
    int64_t model[KEYS] = {0}, live[KEYS] = {0}, late[KEYS] = {0};
    struct store_watch *live_watch, *straggler;
    rand_init(&rand, 5);
    store_watch(fixture.store, "/", 0, on_model_event, live, &live_watch, NULL);
    for (int i = 0; i < 2000; i++) {
        int k = (int)rand_below(&rand, KEYS);
        char key[8];
        snprintf(key, sizeof(key), "/%02d", k);
        int64_t revision = store_next_revision(fixture.store);
        struct err err = ERR_INIT;
        if (model[k] && rand_below(&rand, 3) == 0) {
            assert_int_equal(store_delete(fixture.store, key, "d", 1, model[k], NULL, NULL, &err),
                             0);
            model[k] = 0;
        } else {
            assert_int_equal(store_put(fixture.store, key, "p", 1, model[k], NULL, NULL, &err), 0);
            model[k] = revision;
        }
        if (rand_below(&rand, 50) == 0)
            loop_run(fixture.loop);
    }
    loop_run(fixture.loop);
    store_watch(fixture.store, "/", 0, on_model_event, late, &straggler, NULL);
    loop_run(fixture.loop);
    assert_memory_equal(live, model, sizeof(model));
    assert_memory_equal(late, model, sizeof(model));
    for (int k = 0; k < KEYS; k++) {
        char key[8];
        snprintf(key, sizeof(key), "/%02d", k);
        struct store_object *object = store_get(fixture.store, key);
        assert_int_equal(object ? object->revision : 0, model[k]);
        store_object_unref(object);
    }
    store_watch_stop(live_watch);
    store_watch_stop(straggler);
}

#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, setup_memory, teardown),                             \
        cmocka_unit_test_setup_teardown(function, setup_disk, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_expected_revisions),
        TEST(test_delete_and_create_again),
        TEST(test_list),
        TEST(test_limits),
        TEST(test_object_outlives_the_store),
        TEST(test_similar_objects_are_stored_as_deltas),
        TEST(test_watch_live),
        TEST(test_watch_change_by_change),
        TEST(test_watch_from_history),
        TEST(test_history_is_bounded_in_bytes),
        TEST(test_expired_history),
        TEST(test_watches_stop_and_start_in_a_callback),
        TEST(test_write_in_a_callback),
        TEST(test_close),
        TEST(test_random),
    };
    buf_init(&told, 1 << 20);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    buf_release(&told);
    return failed;
}
