/* Tests effects that only a disk has: state and history after reopening, compaction, rejected
 * files, and a full disk. */
#include "store_fixture.h"

#include "store/store_disk.h"
#include "store/store_internal.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct fixture fixture;

static int setup(void **state)
{
    fixture_init(&fixture, true);
    return 0;
}

static int teardown(void **state)
{
    fixture_release(&fixture);
    return 0;
}

struct seen {
    int64_t revisions[64], previous[64];
    enum store_event_type types[64];
    size_t count;
};

static void on_event(void *context, const struct store_event *event)
{
    struct seen *seen = context;
    assert_true(seen->count < ARRAY_SIZE(seen->revisions));
    seen->types[seen->count] = event->type;
    seen->previous[seen->count] = event->previous ? event->previous->revision : 0;
    seen->revisions[seen->count++] = event->object->revision;
}

static int watch_all(int64_t since, struct seen *seen)
{
    struct store_watch *watch;
    *seen = (struct seen){0};
    int result = store_watch(fixture.store, "/", since, on_event, seen, &watch, NULL);
    if (result < 0)
        return result;
    loop_run(fixture.loop);
    store_watch_stop(watch);
    return 0;
}

static void test_reopen(void **state)
{
    fixture_open(&fixture);
    struct stat info;
    assert_int_equal(stat(fixture.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    fixture_write(&fixture, "/a", "1");
    fixture_write(&fixture, "/b", "with\nlines");
    fixture_write(&fixture, "/a", "3");
    fixture_write(&fixture, "/b", NULL);
    fixture_reopen(&fixture);
    assert_int_equal(store_revision(fixture.store), 4);
    assert_int_equal(store_next_revision(fixture.store), 5);
    struct store_object *object = store_get(fixture.store, "/a");
    assert_int_equal(object->revision, 3);
    assert_int_equal(object->create_revision, 1);
    assert_string_equal(store_object_data(object, fixture.arena), "3");
    store_object_unref(object);
    assert_null(store_get(fixture.store, "/b"));
    struct seen seen;
    assert_int_equal(watch_all(0, &seen), 0);
    assert_int_equal(seen.count, 4);
    assert_int_equal(seen.types[3], STORE_DELETED);
    assert_int_equal(seen.previous[2], 1);
    assert_int_equal(seen.previous[3], 2);
}

/* AUTOINCREMENT: a revision is not assigned again, even if the newest rows are gone. */
static void test_revisions_are_not_reused(void **state)
{
    fixture_open(&fixture);
    fixture_write(&fixture, "/a", "1");
    fixture_write(&fixture, "/b", "2");
    fixture_write(&fixture, "/b", NULL);
    fixture_close(&fixture);
    fixture_query(&fixture, "DELETE FROM changes WHERE revision >= 2");
    fixture_open(&fixture);
    assert_int_equal(store_revision(fixture.store), 3);
    assert_int_equal(store_next_revision(fixture.store), 4);
    struct seen seen;
    /* Missing history is reported as expired. */
    assert_int_equal(watch_all(2, &seen), -ERR_EXPIRED);
    assert_int_equal(watch_all(3, &seen), 0);
    assert_int_equal(fixture_write(&fixture, "/b", "4"), 4);
}

static void test_compaction(void **state)
{
    fixture.history_max = 10;
    fixture_open(&fixture);
    for (int i = 0; i < 50; i++)
        fixture_write(&fixture, "/often", "x");
    fixture_write(&fixture, "/once", "y");
    fixture_write(&fixture, "/dead", "z");
    fixture_write(&fixture, "/dead", NULL);
    for (int i = 0; i < 50; i++)
        fixture_write(&fixture, "/often", "x");
    fixture_close(&fixture);
    /* Ten rows of history, the version of /often before those, and /once. A few more may not be
     * compacted yet. */
    int64_t rows = fixture_query(&fixture, "SELECT count(*) FROM changes");
    assert_in_range(rows, 12, 14);
    assert_int_equal(fixture_query(&fixture, "SELECT count(*) FROM changes WHERE key = '/dead'"),
                     0);

    fixture_open(&fixture);
    assert_int_equal(store_revision(fixture.store), 103);
    struct store_object *object = store_get(fixture.store, "/once");
    assert_int_equal(object->revision, 51);
    store_object_unref(object);
    assert_null(store_get(fixture.store, "/dead"));
    struct seen seen;
    assert_int_equal(watch_all(92, &seen), -ERR_EXPIRED);
    assert_int_equal(watch_all(93, &seen), 0);
    assert_int_equal(seen.count, 10);
    assert_int_equal(seen.previous[0], 93); /* correct also for the first event */
    assert_int_equal(seen.types[0], STORE_MODIFIED);

    /* A larger limit later does not restore dropped history. */
    fixture.history_max = 1000;
    fixture_reopen(&fixture);
    assert_int_equal(watch_all(50, &seen), -ERR_EXPIRED);
    fixture_write(&fixture, "/often", "x");
    assert_int_equal(watch_all(93, &seen), 0);
    assert_int_equal(seen.count, 11);
}

/* A deletion stays a deletion, even if its earlier versions were compacted first. */
static void test_half_compacted_deletion(void **state)
{
    fixture_open(&fixture);
    fixture_write(&fixture, "/a", "1");
    fixture_write(&fixture, "/a", NULL);
    fixture_write(&fixture, "/b", "3");
    fixture_close(&fixture);
    fixture_query(&fixture, "DELETE FROM changes WHERE revision = 1");
    fixture_open(&fixture);
    assert_null(store_get(fixture.store, "/a"));
    struct seen seen;
    assert_int_equal(watch_all(1, &seen), -ERR_EXPIRED);
    assert_int_equal(watch_all(2, &seen), 0);
    assert_int_equal(seen.count, 1);
    fixture_write(&fixture, "/c", "4");
    fixture_close(&fixture);
    assert_int_equal(fixture_query(&fixture, "SELECT count(*) FROM changes WHERE key = '/a'"), 0);
}

static void expect_open_error(const char *part, int code)
{
    struct err err = ERR_INIT;
    struct store *store = NULL;
    const struct store_options options = {.path = fixture.path};
    assert_int_equal(store_open(fixture.loop, &options, &store, &err), -code);
    assert_null(store);
    if (!strstr(err.message, part))
        fail_msg("'%s' does not say '%s'", err.message, part);
}

static void test_refused_files(void **state)
{
    static const char garbage[] = "this is a text file and no database at all, by no means, never";
    assert_int_equal(file_write_atomic(fixture.path, garbage, sizeof(garbage), 0600, NULL), 0);
    expect_open_error("is damaged", ERR_INVALID);
    unlink(fixture.path);

    fixture_open(&fixture);
    fixture_write(&fixture, "/a", "1");
    expect_open_error("is in use by another process", ERR_UNAVAILABLE);
    fixture_close(&fixture);
    fixture_query(&fixture, "PRAGMA user_version = 3");
    expect_open_error("was written by a newer version of this program (format 3, this one reads 2)",
                      ERR_UNSUPPORTED);
    fixture_query(&fixture,
                  "PRAGMA user_version = 0"); /* the table is ours, but the version is not */
    expect_open_error("is damaged (its table does not match its format version)", ERR_INVALID);
    fixture_query(&fixture, "PRAGMA user_version = 1");
    expect_open_error("run 'trainyard check --repair' to keep what can be read", ERR_INVALID);
    fixture_query(&fixture, "ALTER TABLE changes RENAME TO others");
    fixture_query(&fixture, "PRAGMA user_version = 0");
    expect_open_error("is a database of another program", ERR_UNSUPPORTED);

    snprintf(fixture.path, sizeof(fixture.path), "%s/none/db", fixture.directory);
    expect_open_error("cannot open", ERR_NOT_FOUND);
    snprintf(fixture.path, sizeof(fixture.path), "%s/db", fixture.directory);
}

static void test_damaged_page(void **state)
{
    fixture_open(&fixture);
    char value[3000];
    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    for (int i = 0; i < 100; i++) {
        char key[16];
        snprintf(key, sizeof(key), "/k%d", i);
        assert_int_equal(store_put(fixture.store, key, value, sizeof(value), 0, NULL, NULL, NULL),
                         0);
    }
    loop_run(fixture.loop);
    fixture_close(&fixture);
    FILE *file = fopen(fixture.path, "r+");
    assert_non_null(file);
    char zeros[4096] = {0};
    for (int page = 2; page < 20; page++) {
        fseek(file, page * 4096L, SEEK_SET);
        fwrite(zeros, sizeof(zeros), 1, file);
    }
    fclose(file);
    expect_open_error("is damaged", ERR_INVALID);
}

static void on_lost(void *context, const struct store_object *object, const struct err *err)
{
    int *counts = context;
    counts[err != NULL]++;
    if (err)
        assert_int_equal(err->code, ERR_IO);
}

/* The file may not grow: every write from some point on fails, and each failure is reported. */
static void test_disk_full(void **state)
{
    fixture_open(&fixture);
    fixture_write(&fixture, "/a", "before");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit limit = before;
    limit.rlim_cur = 300 * 1024;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int counts[2] = {0};
    char value[3000];
    memset(value, 'v', sizeof(value));
    struct err err = ERR_INIT;
    for (int i = 0; i < 500; i++) {
        char key[16];
        snprintf(key, sizeof(key), "/k%03d", i);
        if (store_put(fixture.store, key, value, sizeof(value), 0, on_lost, counts, &err) < 0)
            break;
        if (i % 20 == 0)
            loop_run(fixture.loop);
    }
    loop_run(fixture.loop);
    assert_true(counts[0] > 0 && counts[1] > 0);
    assert_int_equal(store_put(fixture.store, "/x", "y", 1, 0, on_lost, counts, &err),
                     -ERR_UNAVAILABLE);
    assert_non_null(strstr(err.message, "the store cannot write any more: "));

    /* Reads still work, and the lost changes do not exist. */
    struct store_object **objects, *object = store_get_pending(fixture.store, "/k499");
    assert_null(object);
    size_t count = store_list(fixture.store, "/k", &objects);
    assert_int_equal(count, counts[0]);
    for (size_t i = 0; i < count; i++)
        store_object_unref(objects[i]);
    free(objects);
    fixture_close(&fixture);
    setrlimit(RLIMIT_FSIZE, &before);

    fixture_open(&fixture); /* acknowledged changes exist, and writes work again */
    count = store_list(fixture.store, "/k", &objects);
    assert_int_equal(count, counts[0]);
    for (size_t i = 0; i < count; i++)
        store_object_unref(objects[i]);
    free(objects);
    fixture_write(&fixture, "/a", "after");
}

/* SQLite's error for a full disk becomes a message that says what to do. */
static void test_message_of_a_full_disk(void **state)
{
    struct store_disk *disk;
    struct err err = ERR_INIT;
    assert_int_equal(store_disk_open(fixture.path, &disk, &err), 0);
    sqlite3_exec(disk->db, "PRAGMA max_page_count = 4", NULL, NULL, NULL);
    char value[3000] = {0};
    int result = store_disk_begin(disk, &err);
    for (int i = 1; result == 0 && i < 50; i++)
        result = store_disk_insert(
            disk,
            &(struct store_row){
                .revision = i, .created = i, .key = "/k", .data = value, .size = sizeof(value)},
            &err);
    assert_int_equal(result, -ERR_IO);
    assert_true(strncmp(err.message, "no space is left for '", 22) == 0);
    store_disk_rollback(disk);
    store_disk_free(disk);
}

static void limit_pages(int count)
{
    char text[64];
    snprintf(text, sizeof(text), "PRAGMA max_page_count = %d", count);
    sqlite3_exec(fixture.store->disk->db, text, NULL, NULL, NULL);
}

/* The disk was full and has room again: acknowledged changes exist, with consecutive revisions, and
 * no deleted object reappears. */
static void test_disk_has_space_again(void **state)
{
    struct store_options few = {.path = fixture.path, .history_max = 4};
    struct err err = ERR_INIT;
    int counts[2] = {0};
    char value[3000] = {0};
    assert_int_equal(store_open(fixture.loop, &few, &fixture.store, &err), 0);
    fixture_write(&fixture, "/a", "first");
    struct store_object *a = store_get(fixture.store, "/a");
    assert_int_equal(
        store_delete(fixture.store, "/a", "first", 5, a->revision, on_lost, counts, &err), 0);
    store_object_unref(a);
    loop_run(fixture.loop);
    limit_pages(8);
    for (int i = 0; i < 60; i++) {
        char key[16];
        snprintf(key, sizeof(key), "/k%03d", i);
        (void)store_put(fixture.store, key, value, sizeof(value), 0, on_lost, counts, &err);
        if (i % 3 == 0)
            loop_run(fixture.loop);
    }
    loop_run(fixture.loop);
    assert_true(counts[0] > 1 && counts[1] > 1);
    int64_t before = store_revision(fixture.store);
    assert_int_equal(store_next_revision(fixture.store), before + 1);
    limit_pages(1000000);
    for (int i = 0; i < 20; i++)
        fixture_write(&fixture, "/b", "again");
    assert_int_equal(store_revision(fixture.store), before + 20);
    fixture_close(&fixture);

    fixture_open(&fixture);
    struct store_object **objects;
    size_t count = store_list(fixture.store, "/k", &objects);
    assert_int_equal(count, counts[0] - 1);
    for (size_t i = 0; i < count; i++)
        store_object_unref(objects[i]);
    free(objects);
    assert_null(store_get(fixture.store, "/a"));
    assert_int_equal(store_revision(fixture.store), before + 20);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reopen),
        TEST(test_revisions_are_not_reused),
        TEST(test_compaction),
        TEST(test_half_compacted_deletion),
        TEST(test_refused_files),
        TEST(test_damaged_page),
        TEST(test_disk_full),
        TEST(test_message_of_a_full_disk),
        TEST(test_disk_has_space_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
