/* Tests kill -9 at any moment: acknowledged changes exist afterwards, deleted objects stay deleted,
 * and revisions have no gap and no duplicate. It runs with the whole history, and with so little
 * that compaction runs all the time.
 *
 * A child writes and reports each acknowledged change. It is killed after a random number of
 * reports. TRAINYARD_TEST_KILLS is the number of kills (default 10). */
#include "store_fixture.h"

#include "base/rand.h"
#include "base/str.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 8, IN_FLIGHT = 16, HISTORY_ALL = 1000000, HISTORY_SHORT = 40 };

struct report {
    int64_t revision;
    int key;
    bool deleted;
};

/* ---- the child ------------------------------------------------------------------------------- */

struct writer {
    struct fixture *fixture;
    int report_fd;
    struct rand rand;
};

/* One write in flight. */
struct flight {
    struct writer *writer;
    struct report report;
};

static void write_one(struct flight *flight);

static void on_done(void *context, const struct store_object *object, const struct err *err)
{
    struct flight *flight = context;
    if (err)
        _exit(3);
    flight->report.revision = object->revision;
    if (write(flight->writer->report_fd, &flight->report, sizeof(flight->report)) < 0)
        _exit(4);
    write_one(flight);
}

static void write_one(struct flight *flight)
{
    struct writer *writer = flight->writer;
    struct store *store = writer->fixture->store;
    char key[16], value[512];
    flight->report = (struct report){.key = (int)rand_below(&writer->rand, KEYS)};
    snprintf(key, sizeof(key), "/k%d", flight->report.key);
    int size = snprintf(value, sizeof(value), "%lld", (long long)store_next_revision(store));
    struct store_object *old = store_get_pending(store, key);
    int64_t expected = old ? old->revision : 0;
    flight->report.deleted = old && rand_below(&writer->rand, 3) == 0;
    int result =
        flight->report.deleted
            ? store_delete(store, key, value, (size_t)size, expected, on_done, flight, NULL)
            : store_put(store, key, value, (size_t)size, expected, on_done, flight, NULL);
    if (result < 0)
        _exit(5);
    store_object_unref(old);
}

static void child(const char *path, int64_t history_max, int report_fd, uint64_t seed)
{
    struct fixture fixture = {.history_max = history_max};
    struct writer writer = {.fixture = &fixture, .report_fd = report_fd};
    struct flight flights[IN_FLIGHT];
    rand_init(&writer.rand, seed);
    str_copy(fixture.path, sizeof(fixture.path), path);
    if (loop_new(&fixture.loop, NULL) < 0)
        _exit(6);
    fixture_open(&fixture);
    for (int i = 0; i < IN_FLIGHT; i++) {
        flights[i].writer = &writer;
        write_one(&flights[i]);
    }
    loop_run(fixture.loop);
    _exit(7);
}

/* ---- the parent ------------------------------------------------------------------------------ */

/* The revision of each key as of revision `last`; 0: the key does not exist. */
struct model {
    int64_t revisions[KEYS];
    int64_t last;
};

static void model_apply(struct model *model, int key, int64_t revision, bool deleted)
{
    model->revisions[key] = deleted ? 0 : revision;
    model->last = revision;
}

static void on_event(void *context, const struct store_event *event)
{
    struct model *model = context;
    int key = atoi(event->object->key + 2);
    assert_int_equal(event->object->revision, model->last + 1);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_int_equal(strtoll(store_object_data(event->object, arena), NULL, 10),
                     event->object->revision);
    assert_int_equal(event->previous ? event->previous->revision : 0, model->revisions[key]);
    model_apply(model, key, event->object->revision, event->type == STORE_DELETED);
}

/* Updates the model to the newest change by the store's events. Then both must agree. */
static void verify_from(struct fixture *fixture, struct model *model)
{
    struct store_watch *watch;
    struct err err = ERR_INIT;
    if (store_watch(fixture->store, "/", model->last, on_event, model, &watch, &err) < 0)
        fail_msg("%s", err.message);
    loop_run(fixture->loop);
    store_watch_stop(watch);
    assert_int_equal(model->last, store_revision(fixture->store));
    for (int key = 0; key < KEYS; key++) {
        char name[16];
        snprintf(name, sizeof(name), "/k%d", key);
        struct store_object *object = store_get(fixture->store, name);
        assert_int_equal(object ? object->revision : 0, model->revisions[key]);
        store_object_unref(object);
    }
}

static void verify(const char *path, int64_t history_max, struct model *acknowledged)
{
    struct fixture fixture = {.history_max = history_max};
    struct err err = ERR_INIT;
    str_copy(fixture.path, sizeof(fixture.path), path);
    assert_int_equal(loop_new(&fixture.loop, &err), 0);
    fixture_open(&fixture);
    verify_from(&fixture, acknowledged);
    if (history_max == HISTORY_ALL) {
        struct model from_nothing = {0};
        verify_from(&fixture, &from_nothing);
    }
    fixture_close(&fixture);
    loop_free(fixture.loop);
}

static bool read_report(int fd, struct model *model)
{
    struct report report;
    if (read(fd, &report, sizeof(report)) != sizeof(report))
        return false;
    assert_int_equal(report.revision, model->last + 1);
    model_apply(model, report.key, report.revision, report.deleted);
    return true;
}

static void kill_repeatedly(int64_t history_max, uint64_t seed)
{
    char directory[64], path[96];
    fixture_make_directory(directory);
    snprintf(path, sizeof(path), "%s/db", directory);
    const char *wanted = getenv("TRAINYARD_TEST_KILLS");
    int kills = wanted ? atoi(wanted) : 10;
    struct rand rand;
    rand_init(&rand, seed);
    struct model model = {0};
    for (int i = 0; i < kills; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(ends[0]);
            child(path, history_max, ends[1], rand_next(&rand) + (uint64_t)i);
        }
        close(ends[1]);
        for (uint64_t reports = rand_below(&rand, 300) + 1; reports; reports--)
            if (!read_report(ends[0], &model))
                fail_msg("the writer ended by itself");
        kill(pid, SIGKILL);
        while (read_report(ends[0], &model)) /* reports from before the signal */
            ;
        close(ends[0]);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        verify(path, history_max, &model);
    }
    assert_int_equal(file_remove_tree(directory, NULL), 0);
}

static void test_kill(void **state)
{
    kill_repeatedly(HISTORY_ALL, 11);
}

static void test_kill_while_compacting(void **state)
{
    kill_repeatedly(HISTORY_SHORT, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill),
        cmocka_unit_test(test_kill_while_compacting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
