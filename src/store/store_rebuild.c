/* Copies all readable rows of a database with damaged pages; see store_check.h. SQLite ends a scan
 * of the table at the first unreadable page. To continue after that page, this code tries revisions
 * at growing distances until it can read one. From there it reads the skipped rows backwards. */
#include "store/store_check.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/store_checksum.h"
#include "store/store_disk_internal.h"
#include "store/store_quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HOLES_MAX = 100 * 1000 };

struct rebuild {
    sqlite3 *from;
    bool has_sums; /* the table in `from` has checksums */
    struct store_disk *to;
    sqlite3_stmt *insert;
    int64_t next; /* all lower revisions are copied or cannot be read */
    size_t holes; /* number of places where pages could not be read */
};

enum { REVISION, KEY, CREATED, DELETED, DATA, HEAD_SUM, SUM }; /* columns of a scan */

/* Starts a scan of the rows with first <= revision < end. */
static sqlite3_stmt *walk_new(struct rebuild *rebuild, int64_t first, int64_t end, bool backwards)
{
    sqlite3_stmt *statement = NULL;
    _cleanup_free_ char *sql =
        mem_printf("SELECT revision, key, created, deleted, data%s FROM changes "
                   "WHERE revision >= ? AND revision < ? ORDER BY revision%s",
                   rebuild->has_sums ? ", head_sum, sum" : "", backwards ? " DESC" : "");
    if (sqlite3_prepare_v2(rebuild->from, sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    sqlite3_bind_int64(statement, 1, first);
    sqlite3_bind_int64(statement, 2, end);
    return statement;
}

/* Copies the checksums unchanged. For a row of format 1, which has no checksums, computes them. */
static void bind_sums(struct rebuild *rebuild, sqlite3_stmt *row, const char *key)
{
    if (rebuild->has_sums) {
        sqlite3_bind_int64(rebuild->insert, 5, sqlite3_column_int64(row, HEAD_SUM));
        sqlite3_bind_int64(rebuild->insert, 6, sqlite3_column_int64(row, SUM));
        return;
    }
    const void *data = sqlite3_column_blob(row, DATA);
    size_t size = (size_t)sqlite3_column_bytes(row, DATA);
    uint64_t head = store_checksum_head(sqlite3_column_int64(row, REVISION), key, strlen(key),
                                        sqlite3_column_int64(row, CREATED),
                                        sqlite3_column_int(row, DELETED) != 0);
    uint64_t sum = store_checksum_adopt(head, data, size);
    sqlite3_bind_int64(rebuild->insert, 5, (sqlite3_int64)head);
    sqlite3_bind_int64(rebuild->insert, 6, (sqlite3_int64)sum);
}

static int copy_row(struct rebuild *rebuild, sqlite3_stmt *row, struct err *err)
{
    sqlite3_stmt *insert = rebuild->insert;
    const char *key = (const char *)sqlite3_column_text(row, KEY);
    sqlite3_bind_int64(insert, 1, sqlite3_column_int64(row, REVISION));
    sqlite3_bind_text(insert, 2, key ? key : "", sqlite3_column_bytes(row, KEY), SQLITE_STATIC);
    sqlite3_bind_value(insert, 3, sqlite3_column_value(row, CREATED));
    sqlite3_bind_value(insert, 4, sqlite3_column_value(row, DELETED));
    bind_sums(rebuild, row, key ? key : "");
    sqlite3_bind_value(insert, 7, sqlite3_column_value(row, DATA));
    int result = sqlite3_step(insert) == SQLITE_DONE ? 0 : store_disk_fail(rebuild->to, err);
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    return result;
}

/* Copies the rows of a scan. Returns 1 if the scan reached its end, 0 if it could not start or
 * stopped at an unreadable page, or a negative error. */
static int copy_walk(struct rebuild *rebuild, int64_t first, int64_t end, bool backwards,
                     struct err *err)
{
    sqlite3_stmt *row = walk_new(rebuild, first, end, backwards);
    int code = SQLITE_ERROR, result = 0;
    while (result == 0 && row && (code = sqlite3_step(row)) == SQLITE_ROW) {
        int64_t revision = sqlite3_column_int64(row, REVISION);
        result = copy_row(rebuild, row, err);
        if (!backwards && revision >= rebuild->next && revision < STORE_REVISION_MAX)
            rebuild->next = revision + 1;
    }
    sqlite3_finalize(row);
    return result < 0 ? result : code == SQLITE_DONE;
}

/* Returns whether a scan from revision `first` can start. Sets *ret_ends to whether the scan ended
 * without a row. */
static bool is_readable(struct rebuild *rebuild, int64_t first, bool *ret_ends)
{
    sqlite3_stmt *row = walk_new(rebuild, first, INT64_MAX, false);
    int code = row ? sqlite3_step(row) : SQLITE_ERROR;
    sqlite3_finalize(row);
    *ret_ends = code == SQLITE_DONE;
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

/* Finds the next readable revision after an unreadable page and copies the skipped rows backwards.
 * Returns 0 if rows may follow, 1 if none follow or HOLES_MAX is reached, or a negative error. */
static int rebuild_skip_unreadable(struct rebuild *rebuild, struct err *err)
{
    bool ends = false;
    int64_t step = 1;
    while (rebuild->next + step < STORE_REVISION_MAX &&
           !is_readable(rebuild, rebuild->next + step, &ends))
        step *= 2;
    int64_t behind = rebuild->next + step;
    int result = copy_walk(rebuild, rebuild->next, behind, true, err);
    rebuild->next = behind;
    if (++rebuild->holes >= HOLES_MAX)
        ends = true;
    return result < 0 ? result : ends || behind >= STORE_REVISION_MAX;
}

static int copy_rows(struct rebuild *rebuild, struct err *err)
{
    int result = 0;
    rebuild->next = 1;
    while (result == 0) {
        result = copy_walk(rebuild, rebuild->next, INT64_MAX, false, err);
        if (result == 0)
            result = rebuild_skip_unreadable(rebuild, err);
    }
    return result < 0 ? result : 0;
}

/* Copies the revision counter, because it must never decrease. */
static int copy_counter(struct rebuild *rebuild, struct err *err)
{
    struct store_disk from = {.db = rebuild->from, .path = rebuild->to->path};
    int64_t counter = 0;
    (void)store_disk_query_int(&from, "SELECT seq FROM sqlite_sequence WHERE name = 'changes'",
                               &counter, NULL);
    if (counter > STORE_REVISION_MAX)
        counter = 0;
    _cleanup_free_ char *sql =
        mem_printf("DELETE FROM sqlite_sequence WHERE name = 'changes';"
                   "INSERT INTO sqlite_sequence(name, seq) VALUES('changes', max(%lld, "
                   "coalesce((SELECT max(revision) FROM changes WHERE revision < %lld), 0)))",
                   (long long)counter, (long long)STORE_REVISION_MAX);
    return store_disk_execute(rebuild->to, sql, err);
}

/* Opens the damaged database. With writable_schema, SQLite also reads a file that is shorter than
 * its header says. */
static int open_damaged(struct rebuild *rebuild, const char *path, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path, &rebuild->from, flags, NULL) == SQLITE_OK)
        sqlite3_exec(rebuild->from, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA writable_schema = ON",
                     NULL, NULL, NULL);
    for (int sums = 1; sums >= 0; sums--) {
        rebuild->has_sums = sums;
        sqlite3_stmt *row = walk_new(rebuild, 1, INT64_MAX, false);
        sqlite3_finalize(row);
        if (row)
            return 0;
    }
    return err_set(err, ERR_INVALID,
                   "nothing of '%s' can be read (%s): restore a copy, or move it away to start "
                   "empty",
                   path, sqlite3_errmsg(rebuild->from));
}

static int copy_all(struct rebuild *rebuild, struct err *err)
{
    static const char INSERT[] = "INSERT OR IGNORE INTO changes(revision, key, created, deleted, "
                                 "head_sum, sum, data) VALUES(?, ?, ?, ?, ?, ?, ?)";
    if (sqlite3_prepare_v2(rebuild->to->db, INSERT, -1, &rebuild->insert, NULL) != SQLITE_OK)
        return store_disk_fail(rebuild->to, err);
    int result = store_disk_begin(rebuild->to, err);
    if (result == 0)
        result = copy_rows(rebuild, err);
    if (result == 0)
        result = copy_counter(rebuild, err);
    return result < 0 ? result : store_disk_commit(rebuild->to, err);
}

/* Replaces the old file by the new file. The old file gets a second name first, under which it is
 * kept. rename() is atomic, so a database exists at `path` at every moment. */
static int rebuild_replace(const char *path, const char *rebuilt, char **ret_kept, struct err *err)
{
    _cleanup_free_ char *wal = mem_printf("%s-wal", path), *directory = mem_strdup(path);
    _cleanup_free_ char *kept_wal = NULL, *kept = NULL, *new_wal = mem_printf("%s-wal", rebuilt);
    if (access(new_wal, F_OK) == 0) /* SQLite could not copy the whole log into the database */
        return err_set(
            err, ERR_IO,
            "cannot complete '%s': SQLite could not copy its log into it; free some disk space and "
            "try again",
            rebuilt);
    int result = store_quarantine_link(path, &kept, err);
    if (result == 0 && access(wal, F_OK) == 0) {
        result = store_quarantine_copy(wal, &kept_wal, err);
        if (result == 0 && unlink(wal) < 0)
            result = err_set_errno(err, errno, "cannot remove '%s'", wal);
    }
    if (result == 0 && rename(rebuilt, path) < 0)
        result = err_set_errno(err, errno, "cannot rename '%s' to '%s'", rebuilt, path);
    if (result < 0)
        return result;
    _cleanup_fd_ int fd = open(dirname(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return err_set_errno(err, errno, "cannot sync the directory of '%s'", path);
    *ret_kept = TAKE(kept);
    return 0;
}

static void remove_database(const char *path)
{
    static const char *const SUFFIXES[] = {"", "-wal", "-acknowledged"};
    for (size_t i = 0; i < ARRAY_SIZE(SUFFIXES); i++) {
        _cleanup_free_ char *name = mem_printf("%s%s", path, SUFFIXES[i]);
        unlink(name);
    }
}

int store_rebuild(const char *path, struct store_rebuilt *ret, struct err *err)
{
    struct rebuild rebuild = {0};
    struct store_rebuilt rebuilt = {0};
    int64_t rows = 0;
    _cleanup_free_ char *new_path = mem_printf("%s.rebuilt", path);
    remove_database(new_path); /* left by an interrupted rebuild */
    int result = open_damaged(&rebuild, path, err);
    if (result == 0)
        result = store_disk_open(new_path, &rebuild.to, err);
    if (result == 0)
        result = copy_all(&rebuild, err);
    if (result == 0)
        result = store_disk_query_int(rebuild.to, "SELECT count(*) FROM changes", &rows, err);
    sqlite3_finalize(rebuild.insert);
    sqlite3_close(rebuild.from);
    store_disk_free(rebuild.to);
    if (result == 0)
        result = rebuild_replace(path, new_path, &rebuilt.kept, err);
    remove_database(new_path);
    if (result < 0)
        return result;
    rebuilt.rows = (size_t)rows;
    rebuilt.holes = rebuild.holes;
    *ret = rebuilt;
    return 0;
}
