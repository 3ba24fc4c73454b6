/* kill -9 at any moment: what was acknowledged is there afterwards, and revisions have neither gap
 * nor duplicate. A child writes and reports each acknowledged revision; it is killed after a random
 * number of reports. TRAINYARD_TEST_KILLS says how often (default 10). */
#include "store_fixture.h"

#include "base/rand.h"
#include "base/str.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 8, IN_FLIGHT = 16, HISTORY = 100000 };

/* ---- the child ------------------------------------------------------------------------------- */

struct writer {
    struct fixture *fixture;
    int report_fd;
    struct rand rand;
};

static void write_one(struct writer *writer);

static void on_done(void *context, const struct store_object *object, const struct err *err)
{
    struct writer *writer = context;
    if (err)
        _exit(3);
    if (write(writer->report_fd, &object->revision, sizeof(object->revision)) < 0)
        _exit(4);
    write_one(writer);
}

static void write_one(struct writer *writer)
{
    struct store *store = writer->fixture->store;
    char key[16], value[512];
    snprintf(key, sizeof(key), "/k%d", (int)rand_below(&writer->rand, KEYS));
    int size = snprintf(value, sizeof(value), "%lld", (long long)store_next_revision(store));
    struct store_object *old = store_get_pending(store, key);
    int64_t expected = old ? old->revision : 0;
    int result =
        old && rand_below(&writer->rand, 4) == 0
            ? store_delete(store, key, value, (size_t)size, expected, on_done, writer, NULL)
            : store_put(store, key, value, (size_t)size, expected, on_done, writer, NULL);
    if (result < 0)
        _exit(5);
    store_object_unref(old);
}

static void child(const char *path, int report_fd, uint64_t seed)
{
    struct fixture fixture = {.history_max = HISTORY};
    struct writer writer = {.fixture = &fixture, .report_fd = report_fd};
    rand_init(&writer.rand, seed);
    str_copy(fixture.path, sizeof(fixture.path), path);
    if (loop_new(&fixture.loop, NULL) < 0)
        _exit(6);
    fixture_open(&fixture);
    for (int i = 0; i < IN_FLIGHT; i++)
        write_one(&writer);
    loop_run(fixture.loop);
    _exit(7);
}

/* ---- the parent ------------------------------------------------------------------------------ */

struct check {
    int64_t last;
};

static void on_event(void *context, const struct store_event *event)
{
    struct check *check = context;
    assert_int_equal(event->object->revision, check->last + 1);
    assert_int_equal(strtoll(event->object->data, NULL, 10), event->object->revision);
    check->last++;
}

/* Every change from the first to the newest must be there, each once. */
static void verify(const char *path, int64_t acknowledged)
{
    struct fixture fixture = {.history_max = HISTORY};
    struct err err = ERR_INIT;
    str_copy(fixture.path, sizeof(fixture.path), path);
    assert_int_equal(loop_new(&fixture.loop, &err), 0);
    fixture_open(&fixture);
    struct check check = {0};
    struct store_watch *watch;
    assert_int_equal(store_watch(fixture.store, "/", 0, on_event, &check, &watch, &err), 0);
    loop_run(fixture.loop);
    assert_int_equal(check.last, store_revision(fixture.store));
    assert_true(check.last >= acknowledged);
    store_watch_stop(watch);
    fixture_close(&fixture);
    loop_free(fixture.loop);
}

static void test_kill(void **state)
{
    char directory[] = "/tmp/store-crash.XXXXXX", path[96];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/db", directory);
    const char *wanted = getenv("TRAINYARD_TEST_KILLS");
    int kills = wanted ? atoi(wanted) : 10;
    struct rand rand;
    rand_init(&rand, 11);
    int64_t acknowledged = 0;
    for (int i = 0; i < kills; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(ends[0]);
            child(path, ends[1], (uint64_t)i);
        }
        close(ends[1]);
        int64_t revision;
        for (uint64_t reports = rand_below(&rand, 300) + 1; reports; reports--) {
            if (read(ends[0], &revision, sizeof(revision)) != sizeof(revision))
                fail_msg("the writer ended by itself");
            assert_true(revision > acknowledged);
            acknowledged = revision;
        }
        kill(pid, SIGKILL);
        /* What it reported before the signal reached it counts too. */
        while (read(ends[0], &revision, sizeof(revision)) == sizeof(revision))
            acknowledged = revision;
        close(ends[0]);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        verify(path, acknowledged);
    }
    assert_int_equal(file_remove_tree(directory, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
