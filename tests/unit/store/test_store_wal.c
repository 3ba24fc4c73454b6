/* Tests how store_wal.h classifies logs that SQLite wrote: whole, torn and damaged. A log is
 * truncated and changed at some positions, and in a soak run at every byte. */
#include "store/store_wal.h"
#include "store_fixture.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/system/file.h"
#include "test_scale.h"

#include <endian.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOG_MAX = 4 * 1024 * 1024, PAGE = 4096, FRAME = STORE_WAL_FRAME_HEADER + PAGE, ROWS = 6 };

static char directory[64], path[96];
static struct buf log_bytes; /* a log of ROWS transactions */
static size_t frames;

static void execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static void write_rows(sqlite3 *db, int count)
{
    for (int i = 0; i < count; i++)
        execute(db, "INSERT INTO t(data) VALUES(randomblob(5000))");
}

static void read_log(struct buf *ret)
{
    _cleanup_free_ char *name = mem_printf("%s-wal", path);
    buf_clear(ret);
    assert_int_equal(file_read(name, ret, NULL), 0);
}

static sqlite3 *open_database(int page_size)
{
    sqlite3 *db;
    _cleanup_free_ char *sql = mem_printf("PRAGMA page_size = %d; PRAGMA journal_mode = WAL;"
                                          "PRAGMA wal_autocheckpoint = 0;"
                                          "CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB)",
                                          page_size);
    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    execute(db, sql);
    return db;
}

static int setup(void **state)
{
    fixture_make_directory(directory);
    snprintf(path, sizeof(path), "%s/db", directory);
    buf_init(&log_bytes, LOG_MAX);
    sqlite3 *db = open_database(PAGE);
    write_rows(db, ROWS);
    read_log(&log_bytes);
    sqlite3_close(db);
    frames = (log_bytes.size - STORE_WAL_HEADER) / FRAME;
    return 0;
}

static int teardown(void **state)
{
    buf_release(&log_bytes);
    return file_remove_tree(directory, NULL);
}

static struct store_wal read_bytes(const char *data, size_t size)
{
    _cleanup_free_ char *name = mem_printf("%s/log", directory);
    struct store_wal wal;
    struct err err = ERR_INIT;
    assert_int_equal(file_replace(name, data, size, 0600, NULL), 0);
    if (store_wal_file_read(name, &wal, &err) < 0)
        fail_msg("%s", err.message);
    return wal;
}

static char *frame_at(size_t frame) /* counted from 1 */
{
    return log_bytes.data + STORE_WAL_HEADER + (frame - 1) * FRAME;
}

static bool is_commit(size_t frame)
{
    uint32_t pages;
    memcpy(&pages, frame_at(frame) + 4, sizeof(pages));
    return pages != 0;
}

static size_t commits_from(size_t frame)
{
    size_t commits = 0;
    for (; frame <= frames; frame++)
        commits += is_commit(frame);
    return commits;
}

static void expect(enum store_wal_state state, size_t bad_frame)
{
    struct store_wal wal = read_bytes(log_bytes.data, log_bytes.size);
    assert_int_equal(store_wal_state(&wal), state);
    assert_int_equal(wal.bad_frame, bad_frame);
}

static void a_complete_log_is_valid(void **state)
{
    assert_int_equal(commits_from(1), ROWS + 1);
    expect(STORE_WAL_WHOLE, 0);
    struct store_wal wal = read_bytes("", 0);
    assert_int_equal(store_wal_state(&wal), STORE_WAL_WHOLE);
    assert_int_equal(store_wal_file_read("/tmp/no/such/file", &wal, NULL), 0);
    assert_int_equal(store_wal_state(&wal), STORE_WAL_WHOLE);
}

/* A log that is truncated anywhere, as after a power cut, is never damaged, and is valid up to the
 * cut. */
static void a_truncated_log_is_valid_up_to_the_cut(void **state)
{
    for (size_t size = 0; size < log_bytes.size; size += test_is_soak() ? 1 : 777) {
        struct store_wal wal = read_bytes(log_bytes.data, size);
        assert_int_equal(store_wal_state(&wal), STORE_WAL_WHOLE);
    }
}

/* A changed byte in any frame: damaged if a later transaction ends after it, otherwise suspect. */
static void a_changed_byte_is_detected(void **state)
{
    size_t step = test_is_soak() ? 1 : 199;
    for (size_t frame = 1; frame <= frames; frame++) {
        for (size_t at = 0; at < FRAME; at += at < STORE_WAL_FRAME_HEADER ? 1 : step) {
            size_t commits = commits_from(frame);
            /* A frame with another salt is not counted, because it could be left from an earlier
             * log. */
            if (is_commit(frame) && at >= 8 && at < 16)
                commits--;
            /* This frame now looks like the end of a transaction. */
            if (!is_commit(frame) && at >= 4 && at < 8)
                commits++;
            frame_at(frame)[at] ^= 0x41;
            expect(commits >= 2 ? STORE_WAL_DAMAGED : STORE_WAL_SUSPECT, frame);
            frame_at(frame)[at] ^= 0x41;
        }
    }
}

/* If only some sectors of the last transaction are there, it is at most suspect. */
static void a_torn_last_transaction_is_suspect_at_most(void **state)
{
    size_t last = frames;
    while (last > 1 && !is_commit(last - 1))
        last--;
    assert_true(last < frames);
    for (size_t frame = last; frame <= frames; frame++) {
        _cleanup_free_ char *kept = mem_alloc(FRAME);
        memcpy(kept, frame_at(frame), FRAME);
        memset(frame_at(frame) + 512, 0x5a, 1024); /* the bytes from before */
        expect(STORE_WAL_SUSPECT, frame);
        memset(frame_at(frame), 0, FRAME);
        expect(STORE_WAL_SUSPECT, frame);
        memcpy(frame_at(frame), kept, FRAME);
    }
    expect(STORE_WAL_WHOLE, 0);
}

static void a_changed_header_is_detected(void **state)
{
    for (size_t at = 0; at < STORE_WAL_HEADER; at++) {
        log_bytes.data[at] ^= 0x10;
        struct store_wal wal = read_bytes(log_bytes.data, log_bytes.size);
        assert_int_equal(store_wal_state(&wal), STORE_WAL_DAMAGED);
        log_bytes.data[at] ^= 0x10;
    }
    expect(STORE_WAL_WHOLE, 0);
}

/* SQLite restarts the log from its beginning: old frames follow the new ones. */
static void old_frames_after_a_restarted_log_are_not_damage(void **state)
{
    sqlite3 *db = open_database(PAGE);
    write_rows(db, ROWS);
    execute(db, "PRAGMA wal_checkpoint(RESTART)");
    write_rows(db, 1);
    read_log(&log_bytes);
    sqlite3_close(db);
    frames = (log_bytes.size - STORE_WAL_HEADER) / FRAME;
    struct store_wal wal = read_bytes(log_bytes.data, log_bytes.size);
    assert_true(wal.bad_frame > 1 && wal.bad_frame < frames);
    assert_int_equal(wal.later_commits, 0);
    assert_int_equal(store_wal_state(&wal), STORE_WAL_SUSPECT);
}

static void page_sizes_have_limits(void **state)
{
    static const int SIZES[] = {512, 65536};
    for (size_t i = 0; i < ARRAY_SIZE(SIZES); i++) {
        sqlite3 *db = open_database(SIZES[i]);
        write_rows(db, 3);
        read_log(&log_bytes);
        sqlite3_close(db);
        struct store_wal wal = read_bytes(log_bytes.data, log_bytes.size);
        assert_int_equal(wal.page_size, SIZES[i]);
        assert_int_equal(store_wal_state(&wal), STORE_WAL_WHOLE);
        assert_true(wal.frames >= 4);
    }
    static const uint32_t WRONG[] = {256, 131072, 4097};
    for (size_t i = 0; i < ARRAY_SIZE(WRONG); i++) {
        unsigned char header[STORE_WAL_HEADER] = {0x37, 0x7f, 0x06, 0x82};
        uint32_t size = htobe32(WRONG[i]);
        memcpy(header + 8, &size, sizeof(size));
        struct store_wal wal;
        store_wal_init(&wal, header);
        assert_false(wal.header_valid);
        assert_int_equal(wal.page_size, PAGE);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_complete_log_is_valid),      TEST(a_truncated_log_is_valid_up_to_the_cut),
        TEST(a_changed_byte_is_detected),   TEST(a_torn_last_transaction_is_suspect_at_most),
        TEST(a_changed_header_is_detected), TEST(old_frames_after_a_restarted_log_are_not_damage),
        TEST(page_sizes_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
