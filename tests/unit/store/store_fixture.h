/* A store for tests: in memory on a loop in virtual time, or on disk on the real loop, with the
 * same functions. */
#ifndef TRAINYARD_TESTS_UNIT_STORE_STORE_FIXTURE_H
#define TRAINYARD_TESTS_UNIT_STORE_STORE_FIXTURE_H

#include "base/mem.h"
#include "base/system/file.h"
#include "loop/sim/sim_loop.h"
#include "store/store.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct loop *loop;
    struct store *store;
    struct arena *arena; /* for objects that are read */
    char directory[64];  /* empty: in memory */
    char path[96];
    int64_t history_max, history_bytes_max;
};

static inline void fixture_open(struct fixture *fixture)
{
    struct err err = ERR_INIT;
    const struct store_options options = {.path = fixture->path[0] ? fixture->path : NULL,
                                          .history_max = fixture->history_max,
                                          .history_bytes_max = fixture->history_bytes_max};
    if (store_open(fixture->loop, &options, &fixture->store, &err) < 0)
        fail_msg("%s", err.message);
}

static inline void fixture_on_closed(void *context)
{
    *(bool *)context = true;
}

static inline void fixture_close(struct fixture *fixture)
{
    bool closed = false;
    store_close(fixture->store, fixture_on_closed, &closed);
    assert_false(closed);
    loop_run(fixture->loop);
    assert_true(closed);
    fixture->store = NULL;
}

/* Uses a memory file system if the machine has one. These tests sync some hundred times, and a disk
 * may take seconds for one sync. A killed process loses nothing there either. Power cuts are tested
 * with power_disk.h. */
static inline void fixture_make_directory(char directory[64])
{
    snprintf(directory, 64, "%s/store.XXXXXX",
             access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(directory));
}

static inline void fixture_init(struct fixture *fixture, bool on_disk)
{
    struct err err = ERR_INIT;
    *fixture = (struct fixture){.arena = arena_new()};
    if (on_disk) {
        fixture_make_directory(fixture->directory);
        snprintf(fixture->path, sizeof(fixture->path), "%s/db", fixture->directory);
        assert_int_equal(loop_new(&fixture->loop, &err), 0);
    } else {
        fixture->loop = sim_loop_new(1, 0);
    }
}

static inline void fixture_release(struct fixture *fixture)
{
    if (fixture->store)
        fixture_close(fixture);
    fixture->loop = loop_free(fixture->loop);
    fixture->arena = arena_free(fixture->arena);
    if (fixture->directory[0])
        assert_int_equal(file_remove_tree(fixture->directory, NULL), 0);
}

static inline void fixture_reopen(struct fixture *fixture)
{
    fixture_close(fixture);
    fixture_open(fixture);
}

/* Writes, and waits until the change is committed. Returns its revision. `text` NULL deletes. */
static inline int64_t fixture_write(struct fixture *fixture, const char *key, const char *text)
{
    struct err err = ERR_INIT;
    struct store_object *old = store_get_pending(fixture->store, key);
    int64_t revision = store_next_revision(fixture->store), expected = old ? old->revision : 0;
    int result =
        text ? store_put(fixture->store, key, text, strlen(text), expected, NULL, NULL, &err)
             : store_delete(fixture->store, key, "gone", 4, expected, NULL, NULL, &err);
    store_object_unref(old);
    if (result < 0)
        fail_msg("%s", err.message);
    loop_run(fixture->loop);
    return revision;
}

/* Runs SQL on the file of a closed store, to inspect or damage it. Returns the number in the first
 * row, or -1 if there is no row. */
static inline int64_t fixture_query(const struct fixture *fixture, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

#endif
