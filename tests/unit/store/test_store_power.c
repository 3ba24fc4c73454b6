/* Tests a power cut at any moment, also while the store opens, recovers or closes. Afterwards every
 * acknowledged write exists, deleted objects stay deleted, no revision is assigned twice, and the
 * database is intact. The test must detect a store that does not wait for the disk.
 * TRAINYARD_TEST_KILLS is the number of power cuts (default 20). */
#include "store_fixture.h"

#include "base/rand.h"
#include "base/str.h"
#include "base/vec.h"
#include "power_disk.h"
#include "store/store_internal.h"
#include "store/store_wal.h"

enum { KEYS = 12, IN_FLIGHT = 16, HISTORY_ALL = 1000000, HISTORY_SHORT = 40, VALUE_MAX = 6000 };

struct change {
    int key;
    bool deleted;
};

struct run {
    struct power_disk disk;
    struct fixture fixture;
    struct rand rand;
    VEC(struct change) changes; /* by revision: all attempted changes that may be on the disk */
    int64_t acknowledged;       /* the newest revision that was acknowledged */
    int writes_left;            /* in this round */
    int cuts_while_opening, cuts_while_writing, cuts_after;
    int logs_torn; /* logs with a torn end */
    char verdict[ERR_MESSAGE_MAX];
};

/* ---- writing --------------------------------------------------------------------------------- */

static void write_one(struct run *run);

static void on_done(void *context, const struct store_object *object, const struct err *err)
{
    struct run *run = context;
    if (err)
        return;
    assert_int_equal(object->revision, run->acknowledged + 1);
    run->acknowledged = object->revision;
    write_one(run);
}

/* Makes a value with its revision at the beginning and at the end. */
static size_t make_value(char value[VALUE_MAX], int64_t revision, size_t size)
{
    memset(value, '.', size);
    int digits = snprintf(value, VALUE_MAX, "%lld", (long long)revision);
    value[digits] = '.';
    snprintf(value + size, VALUE_MAX - size, "%lld", (long long)revision);
    return size + (size_t)digits;
}

static void write_one(struct run *run)
{
    struct store *store = run->fixture.store;
    char key[16], value[VALUE_MAX];
    if (run->writes_left-- <= 0)
        return;
    struct change change = {.key = (int)rand_below(&run->rand, KEYS)};
    snprintf(key, sizeof(key), "/k%d", change.key);
    size_t size =
        make_value(value, store_next_revision(store), 32 + rand_below(&run->rand, VALUE_MAX / 2));
    struct store_object *old = store_get_pending(store, key);
    int64_t expected = old ? old->revision : 0;
    change.deleted = old && rand_below(&run->rand, 3) == 0;
    int result = change.deleted
                     ? store_delete(store, key, value, size, expected, on_done, run, NULL)
                     : store_put(store, key, value, size, expected, on_done, run, NULL);
    store_object_unref(old);
    if (result == 0)
        vec_push(&run->changes, change);
    else
        assert_true(run->disk.off);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_intact(const struct store_object *object)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *data = store_object_data(object, arena);
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof(digits), "%lld", (long long)object->revision);
    return object->size > 2 * length && memcmp(data, digits, length) == 0 &&
           memcmp(data + object->size - length, digits, length) == 0;
}

/* Checks that the state is that after some revision: the newest one on the disk, which is not older
 * than the newest acknowledged one. */
static bool check_state(struct run *run, int64_t newest)
{
    int64_t revisions[KEYS] = {0};
    for (int64_t revision = 1; revision <= newest; revision++) {
        const struct change *change = &run->changes.items[revision - 1];
        revisions[change->key] = change->deleted ? 0 : revision;
    }
    for (int key = 0; key < KEYS; key++) {
        char name[16];
        snprintf(name, sizeof(name), "/k%d", key);
        struct store_object *object = store_get(run->fixture.store, name);
        int64_t is = object ? object->revision : 0;
        if (is != revisions[key])
            snprintf(run->verdict, sizeof(run->verdict), "%s is at %lld, not at %lld", name,
                     (long long)is, (long long)revisions[key]);
        else if (object && !is_intact(object))
            snprintf(run->verdict, sizeof(run->verdict), "%s has foreign bytes", name);
        store_object_unref(object);
    }
    return run->verdict[0] == '\0';
}

/* The writer's thread does nothing yet, so the test can use the database. */
static bool check_database(struct run *run)
{
    sqlite3_stmt *statement;
    sqlite3 *db = run->fixture.store->disk->db;
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL), 0);
    if (sqlite3_step(statement) != SQLITE_ROW ||
        !str_eq((const char *)sqlite3_column_text(statement, 0), "ok"))
        snprintf(run->verdict, sizeof(run->verdict), "the database is damaged");
    sqlite3_finalize(statement);
    return run->verdict[0] == '\0';
}

static bool check_recovery(struct run *run)
{
    int64_t newest = store_revision(run->fixture.store);
    if (newest < run->acknowledged || newest > (int64_t)run->changes.count) {
        snprintf(run->verdict, sizeof(run->verdict),
                 "revision %lld: %lld was acknowledged, %zu were tried", (long long)newest,
                 (long long)run->acknowledged, run->changes.count);
        return false;
    }
    assert_int_equal(store_next_revision(run->fixture.store), newest + 1);
    run->changes.count = (size_t)newest; /* changes that are not there now must never reappear */
    run->acknowledged = newest;
    return check_state(run, newest) && check_database(run);
}

/* Checks that a log that a power cut has torn is never reported as damaged. */
static bool check_log(struct run *run)
{
    size_t size;
    _cleanup_free_ char *path = mem_printf("%s-wal", run->fixture.path);
    const unsigned char *bytes = power_disk_read(&run->disk, path, &size);
    if (size < STORE_WAL_HEADER)
        return true;
    struct store_wal wal;
    store_wal_init(&wal, bytes);
    size_t frame_size = STORE_WAL_FRAME_HEADER + wal.page_size;
    for (size_t at = STORE_WAL_HEADER; size - at >= frame_size; at += frame_size)
        store_wal_add(&wal, bytes + at);
    run->logs_torn += store_wal_state(&wal) == STORE_WAL_SUSPECT;
    if (store_wal_state(&wal) == STORE_WAL_DAMAGED)
        snprintf(run->verdict, sizeof(run->verdict),
                 "the log counts as damaged at frame %zu of %zu", wal.bad_frame, wal.frames);
    return run->verdict[0] == '\0';
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Runs one round: restores the power for `operations` operations, checks the state, and writes
 * until the power is cut or enough is written. Then closes. Returns false and a verdict if a
 * guarantee is broken. */
static bool run_round(struct run *run, int64_t operations, const char *synchronous)
{
    struct err err = ERR_INIT;
    const struct store_options options = {.path = run->fixture.path,
                                          .history_max = run->fixture.history_max};
    power_disk_cycle(&run->disk, operations);
    run->verdict[0] = '\0';
    if (!synchronous && !check_log(run))
        return false;
    if (store_open(run->fixture.loop, &options, &run->fixture.store, &err) < 0) {
        run->cuts_while_opening++;
        if (!run->disk.off)
            str_copy(run->verdict, sizeof(run->verdict), err.message);
        return run->disk.off;
    }
    bool is_good = check_recovery(run);
    if (is_good && store_is_damaged(run->fixture.store)) {
        str_copy(run->verdict, sizeof(run->verdict), "damage is reported where there is none");
        is_good = false;
    }
    if (is_good) {
        if (synchronous)
            sqlite3_exec(run->fixture.store->disk->db, synchronous, NULL, NULL, NULL);
        run->writes_left = (int)rand_below(&run->rand, 1000);
        for (int i = 0; i < IN_FLIGHT; i++)
            write_one(run);
        loop_run(run->fixture.loop);
    }
    bool is_cut = run->disk.off;
    fixture_close(&run->fixture);
    run->cuts_while_writing += is_cut;
    run->cuts_after += !is_cut;
    return is_good;
}

/* A commit takes about twenty operations, and SQLite moves its log to the database after about two
 * thousand. The draw must hit both. */
static int64_t draw_operations(struct run *run)
{
    return (int64_t)rand_below(&run->rand, rand_below(&run->rand, 2) ? 300 : 8000);
}

static void run_init(struct run *run, int64_t history_max, uint64_t seed)
{
    *run = (struct run){0};
    power_disk_init(&run->disk, seed);
    rand_init(&run->rand, seed);
    fixture_init(&run->fixture, true);
    run->fixture.history_max = history_max;
}

static void run_release(struct run *run)
{
    fixture_release(&run->fixture);
    vec_release(&run->changes);
    power_disk_release(&run->disk);
    *run = (struct run){0};
}

static struct run run; /* static, because SQLite refers to its disk even after a failed test */

static int teardown(void **state)
{
    if (run.fixture.loop)
        run_release(&run);
    return 0;
}

static int power_cut_count(void)
{
    const char *wanted = getenv("TRAINYARD_TEST_KILLS");
    return wanted ? atoi(wanted) : 20;
}

static void cut_power_repeatedly(int64_t history_max, uint64_t seed)
{
    run_init(&run, history_max, seed);
    for (int i = 0; i < power_cut_count(); i++) {
        /* Sometimes the power is cut only after all writes, in however many commits. */
        int64_t operations = i % 5 == 4 ? INT64_MAX : draw_operations(&run);
        if (!run_round(&run, operations, NULL))
            fail_msg("cut %d: %s", i, run.verdict);
    }
    if (!run_round(&run, INT64_MAX, NULL))
        fail_msg("after the last cut: %s", run.verdict);
    print_message("%d power cuts under writes, %d while closing or later: %lld changes, "
                  "none acknowledged and lost; %d logs torn at their ends, none called damaged\n",
                  run.cuts_while_writing, run.cuts_after - 1, (long long)run.acknowledged,
                  run.logs_torn);
    assert_true(run.cuts_while_writing > 0 && run.cuts_after > 1);
}

static void test_power_cut(void **state)
{
    cut_power_repeatedly(HISTORY_ALL, 21);
}

static void test_power_cut_while_compacting(void **state)
{
    cut_power_repeatedly(HISTORY_SHORT, 22);
}

/* The creation of a database: its file, its table, its log. */
static void test_power_cut_while_creating(void **state)
{
    int cuts_while_opening = 0;
    for (int i = 0; i < 2 * power_cut_count(); i++) {
        run_init(&run, HISTORY_ALL, 1000 + (uint64_t)i);
        for (int round = 0; round < 3; round++)
            if (!run_round(&run, round == 2 ? INT64_MAX : i % 40, NULL))
                fail_msg("new database %d, cut %d: %s", i, round, run.verdict);
        cuts_while_opening += run.cuts_while_opening;
        run_release(&run);
    }
    assert_true(cuts_while_opening > 0);
}

/* Returns how often the loss is detected in a store that waits less for the disk. */
static int count_detected_losses(const char *synchronous, uint64_t seed)
{
    int found = 0;
    for (int i = 0; i < 20; i++) {
        run_init(&run, HISTORY_ALL, seed + (uint64_t)i);
        for (int round = 0; round < 4; round++) {
            if (run_round(&run, draw_operations(&run), synchronous))
                continue;
            found++;
            break;
        }
        run_release(&run);
    }
    return found;
}

/* The checks work: without waiting for the disk, writes are lost, and the test detects it. */
static void test_lost_writes_are_detected(void **state)
{
    int off = count_detected_losses("PRAGMA synchronous = OFF", 100);
    int normal = count_detected_losses("PRAGMA synchronous = NORMAL", 200);
    print_message("of 20 stores lost something: %d with synchronous=OFF, %d with NORMAL\n", off,
                  normal);
    assert_true(off >= 10 && normal >= 5); /* not every cut hits an unsynced write */
    assert_int_equal(count_detected_losses("PRAGMA synchronous = FULL", 300), 0);
}

#define TEST(function) cmocka_unit_test_teardown(function, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_power_cut),
        TEST(test_power_cut_while_compacting),
        TEST(test_power_cut_while_creating),
        TEST(test_lost_writes_are_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
