/* Tests a full disk: a small memory file system that another file fills completely. Objects can be
 * read and deleted, and other writes are rejected. With free space again all writes are
 * accepted. */
#include "store_fixture.h"

#include "base/str.h"
#include "store/store_reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

enum { OBJECTS = 200, OBJECT_SIZE = 20 * 1024 };

static struct fixture fixture;
static char filler[128];
static int news[2]; /* number of calls of on_full: with room again, full */

static void on_full(void *context, const struct err *err)
{
    news[err != NULL]++;
    loop_stop(fixture.loop);
    if (err)
        assert_non_null(strstr(err->message, "no space is left for '"));
}

static void on_done(void *context, const struct store_object *object, const struct err *err)
{
    int *counts = context;
    counts[err != NULL]++;
    loop_stop(fixture.loop);
}

static void open_store(void)
{
    struct err err = ERR_INIT;
    const struct store_options options = {.path = fixture.path, .on_full = on_full};
    if (store_open(fixture.loop, &options, &fixture.store, &err) < 0)
        fail_msg("%s", err.message);
}

/* The loop may have been stopped before the store was closed. */
static void close_store(void)
{
    bool closed = false;
    store_close(fixture.store, fixture_on_closed, &closed);
    while (!closed)
        loop_run(fixture.loop);
    fixture.store = NULL;
}

/* Mounting needs root or a user namespace. */
static bool make_disk(void)
{
    char uid_map[64], gid_map[64];
    snprintf(uid_map, sizeof(uid_map), "0 %d 1\n", (int)getuid());
    snprintf(gid_map, sizeof(gid_map), "0 %d 1\n", (int)getgid());
    if (unshare(CLONE_NEWNS) < 0 && (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
                                     file_write_into("/proc/self/setgroups", "deny", NULL) < 0 ||
                                     file_write_into("/proc/self/uid_map", uid_map, NULL) < 0 ||
                                     file_write_into("/proc/self/gid_map", gid_map, NULL) < 0))
        return false;
    fixture_make_directory(fixture.directory);
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", fixture.directory, "tmpfs", 0, "size=48m") == 0;
}

static void fill_disk(void)
{
    char block[64 * 1024] = {0};
    int fd = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    for (size_t size = sizeof(block); size > 0;) {
        ssize_t written = write(fd, block, size);
        if (written < 0) {
            assert_int_equal(errno, ENOSPC);
            size /= 2;
        }
    }
    close(fd);
}

/* Runs the loop, which stops at each answer and each call of on_full. */
static void run_until_stopped(bool full, int count)
{
    while (news[full] < count)
        loop_run(fixture.loop);
}

static int put(int i, int *counts, struct err *err)
{
    static char value[OBJECT_SIZE];
    char key[32];
    snprintf(key, sizeof(key), "/k/%05d", i);
    for (size_t at = 0; at < sizeof(value); at++)
        value[at] = (char)rand();
    return store_put(fixture.store, key, value, sizeof(value), 0, on_done, counts, err);
}

static void run_pending(const int *counts, int wanted)
{
    while (counts[0] + counts[1] < wanted)
        loop_run(fixture.loop);
}

static void test_full_disk(void **state)
{
    struct err err = ERR_INIT;
    int made[2] = {0}, deleted[2] = {0}, marked[2] = {0};
    if (!make_disk())
        skip();
    snprintf(fixture.path, sizeof(fixture.path), "%s/db", fixture.directory);
    snprintf(filler, sizeof(filler), "%s/filler", fixture.directory);
    fixture.arena = arena_new();
    assert_int_equal(loop_new(&fixture.loop, &err), 0);
    open_store();
    for (int i = 0; i < OBJECTS; i++)
        assert_int_equal(put(i, made, &err), 0);
    run_pending(made, OBJECTS);
    assert_int_equal(made[0], OBJECTS);
    assert_int_equal(store_check(fixture.store, &err), 0);

    /* The full disk is noticed before any write fails. */
    fill_disk();
    int more = OBJECTS;
    while (put(more, made, &err) == 0)
        run_pending(made, ++more);
    assert_int_equal(made[1], 0);
    assert_int_equal(err.code, ERR_IO);
    assert_int_equal(err.sys, ENOSPC);
    assert_non_null(strstr(err.message, "free some disk space to continue"));
    assert_int_equal(store_check(fixture.store, &err), -ERR_IO);
    run_until_stopped(true, 1);
    assert_true(store_reserve_is_spent(fixture.arena, fixture.path));
    fill_disk(); /* the space that SQLite has freed */

    /* Every object can be read, marked for deletion and deleted. */
    for (int i = 0; i < more; i++) {
        char key[32];
        snprintf(key, sizeof(key), "/k/%05d", i);
        struct store_object *object = store_get(fixture.store, key);
        assert_non_null(object);
        int64_t next = store_next_revision(fixture.store);
        assert_int_equal(store_put_reserved(fixture.store, key, "marked", 6, object->revision,
                                            on_done, marked, &err),
                         0);
        assert_int_equal(store_delete(fixture.store, key, "gone", 4, next, on_done, deleted, &err),
                         0);
        store_object_unref(object);
        run_pending(deleted, i + 1);
    }
    assert_int_equal(marked[0], more);
    assert_int_equal(deleted[0], more);
    assert_int_equal(put(0, made, &err), -ERR_IO);
    assert_int_equal(news[true], 1);
    assert_int_equal(news[false], 0);

    /* With room again the store continues by itself. */
    assert_int_equal(unlink(filler), 0);
    run_until_stopped(false, 1);
    assert_false(store_reserve_is_spent(fixture.arena, fixture.path));
    made[0] = 0;
    for (int i = 0; i < OBJECTS; i++)
        assert_int_equal(put(i, made, &err), 0);
    run_pending(made, OBJECTS);
    assert_int_equal(made[0], OBJECTS);
    close_store();

    /* All changes are on disk, and a full disk is also noticed at the start. */
    fill_disk();
    news[true] = 0;
    open_store();
    assert_int_equal(news[true], 1);
    struct store_object **objects;
    assert_int_equal(store_list(fixture.store, "/", &objects), OBJECTS);
    for (int i = 0; i < OBJECTS; i++)
        store_object_unref(objects[i]);
    free(objects);
    close_store();
    fixture.loop = loop_free(fixture.loop);
    fixture.arena = arena_free(fixture.arena);
    umount2(fixture.directory, MNT_DETACH);
    rmdir(fixture.directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
