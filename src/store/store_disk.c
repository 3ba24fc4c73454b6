/* The store's database; see store_disk.h. WAL with synchronous=FULL: a commit that returned
 * survives a crash of the machine. Revisions come from AUTOINCREMENT's counter, which never goes
 * back, so a revision is not given twice even if the newest rows go. */
#include "store/store_disk.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 1 }; /* in user_version; a change of the schema counts up */

static const char SCHEMA[] = "CREATE TABLE changes("
                             " revision INTEGER PRIMARY KEY AUTOINCREMENT,"
                             " key TEXT NOT NULL,"
                             " created INTEGER NOT NULL,"
                             " deleted INTEGER NOT NULL,"
                             " data BLOB NOT NULL);";

static int fail(const struct store_disk *disk, struct err *err)
{
    int code = sqlite3_errcode(disk->db) & 0xff;
    switch (code) {
    case SQLITE_FULL:
        err_set(err, ERR_IO, "no space is left for '%s': free some, and it goes on", disk->path);
        if (err)
            err->sys = ENOSPC;
        return -ERR_IO;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, ERR_UNAVAILABLE, "'%s' is in use by another process", disk->path);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return err_set(err, ERR_INVALID,
                       "'%s' is damaged (%s): restore a copy, or move it away to start empty",
                       disk->path, sqlite3_errmsg(disk->db));
    default:
        return err_set(err, ERR_IO, "cannot use '%s': %s", disk->path, sqlite3_errmsg(disk->db));
    }
}

static int execute(struct store_disk *disk, const char *sql, struct err *err)
{
    return sqlite3_exec(disk->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(disk, err);
}

static int query_int(struct store_disk *disk, const char *sql, int64_t *ret, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = 0;
    int code = sqlite3_prepare_v2(disk->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    int result = code == SQLITE_ROW || code == SQLITE_DONE ? 0 : fail(disk, err);
    sqlite3_finalize(statement);
    if (result == 0)
        *ret = value;
    return result;
}

static int prepare(struct store_disk *disk, const char *sql, sqlite3_stmt **ret, struct err *err)
{
    return sqlite3_prepare_v3(disk->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) == SQLITE_OK
               ? 0
               : fail(disk, err);
}

/* A new file gets the table, one of ours is checked, any other is refused. */
static int check_format(struct store_disk *disk, struct err *err)
{
    int64_t format, tables;
    int result = query_int(disk, "PRAGMA user_version", &format, err);
    if (result == 0)
        result = query_int(disk, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (result < 0)
        return result;
    if (format == 0 && tables == 0) {
        _cleanup_free_ char *sql =
            mem_printf("BEGIN; %s PRAGMA user_version = %d; COMMIT;", SCHEMA, FORMAT);
        return execute(disk, sql, err);
    }
    if (format > FORMAT)
        return err_set(err, ERR_INVALID,
                       "'%s' was written by a newer version of this program (format %lld, this one "
                       "reads %d): use that version, or move the file away to start empty",
                       disk->path, (long long)format, FORMAT);
    if (format < FORMAT)
        return err_set(err, ERR_INVALID,
                       "'%s' is a database of another program: move it away to start empty",
                       disk->path);
    return 0;
}

/* The file may hold secrets; SQLite gives its companions the same mode. */
static int make_private(const char *path, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return fd < 0 ? err_set_errno(err, errno, "cannot open '%s'", path) : 0;
}

static int open_all(struct store_disk *disk, struct err *err)
{
    int result = make_private(disk->path, err);
    if (result < 0)
        return result;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(disk->path, &disk->db, flags, NULL) != SQLITE_OK)
        return fail(disk, err);
    /* Exclusive: the file is held as long as it is open, so no second process can write to it. */
    result = execute(disk,
                     "PRAGMA locking_mode = EXCLUSIVE;"
                     "PRAGMA journal_mode = WAL;"
                     "PRAGMA synchronous = FULL;"
                     "BEGIN EXCLUSIVE; COMMIT;",
                     err);
    if (result == 0)
        result = check_format(disk, err);
    if (result == 0)
        result = prepare(disk, "BEGIN IMMEDIATE", &disk->begin, err);
    if (result == 0)
        result = prepare(disk, "COMMIT", &disk->commit, err);
    if (result == 0)
        result = prepare(disk, "ROLLBACK", &disk->rollback, err);
    if (result == 0)
        result = prepare(disk,
                         "INSERT INTO changes(revision, key, created, deleted, data) "
                         "VALUES(?, ?, ?, ?, ?)",
                         &disk->insert, err);
    if (result == 0)
        result = prepare(disk, "DELETE FROM changes WHERE revision = ?", &disk->drop, err);
    return result;
}

int store_disk_open(const char *path, struct store_disk **ret, struct err *err)
{
    struct store_disk *disk = mem_zalloc(sizeof(*disk));
    disk->path = mem_strdup(path);
    int result = open_all(disk, err);
    if (result < 0)
        store_disk_free(disk);
    else
        *ret = disk;
    return result;
}

struct store_disk *store_disk_free(struct store_disk *disk)
{
    if (!disk)
        return NULL;
    sqlite3_finalize(disk->begin);
    sqlite3_finalize(disk->commit);
    sqlite3_finalize(disk->rollback);
    sqlite3_finalize(disk->insert);
    sqlite3_finalize(disk->drop);
    sqlite3_close(disk->db);
    free(disk->path);
    free(disk);
    return NULL;
}

static int step_rows(struct store_disk *disk, sqlite3_stmt *statement,
                     void (*row)(void *context, const struct store_row *row), void *context,
                     int64_t *ret_last, struct err *err)
{
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const struct store_row read = {
            .revision = sqlite3_column_int64(statement, 0),
            .key = (const char *)sqlite3_column_text(statement, 1),
            .created = sqlite3_column_int64(statement, 2),
            .deleted = sqlite3_column_int(statement, 3) != 0,
            .data = sqlite3_column_blob(statement, 4),
            .size = (size_t)sqlite3_column_bytes(statement, 4),
        };
        if (read.revision <= *ret_last || read.created < 1 || read.created > read.revision ||
            str_is_empty(read.key))
            return err_set(err, ERR_INVALID,
                           "'%s' is damaged (change %lld makes no sense): restore a copy, or move "
                           "it away to start empty",
                           disk->path, (long long)read.revision);
        *ret_last = read.revision;
        row(context, &read);
    }
    return code == SQLITE_DONE ? 0 : fail(disk, err);
}

int store_disk_load(struct store_disk *disk,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    int64_t *ret_last, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int64_t last = 0, given = 0;
    int result =
        prepare(disk, "SELECT revision, key, created, deleted, data FROM changes ORDER BY revision",
                &statement, err);
    if (result == 0)
        result = step_rows(disk, statement, row, context, &last, err);
    sqlite3_finalize(statement);
    if (result == 0)
        result =
            query_int(disk, "SELECT seq FROM sqlite_sequence WHERE name = 'changes'", &given, err);
    if (result == 0)
        *ret_last = given > last ? given : last;
    return result;
}

static int run(struct store_disk *disk, sqlite3_stmt *statement, struct err *err)
{
    int result = sqlite3_step(statement) == SQLITE_DONE ? 0 : fail(disk, err);
    sqlite3_reset(statement);
    return result;
}

int store_disk_begin(struct store_disk *disk, struct err *err)
{
    return run(disk, disk->begin, err);
}

int store_disk_insert(struct store_disk *disk, const struct store_row *row, struct err *err)
{
    sqlite3_stmt *insert = disk->insert;
    sqlite3_bind_int64(insert, 1, row->revision);
    sqlite3_bind_text(insert, 2, row->key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, row->created);
    sqlite3_bind_int(insert, 4, row->deleted);
    sqlite3_bind_blob64(insert, 5, row->data ? row->data : "", row->size, SQLITE_STATIC);
    int result = run(disk, insert, err);
    sqlite3_clear_bindings(insert);
    return result;
}

int store_disk_drop(struct store_disk *disk, int64_t revision, struct err *err)
{
    sqlite3_bind_int64(disk->drop, 1, revision);
    return run(disk, disk->drop, err);
}

int store_disk_commit(struct store_disk *disk, struct err *err)
{
    return run(disk, disk->commit, err);
}

void store_disk_rollback(struct store_disk *disk)
{
    /* After some failures SQLite has rolled back by itself, and this fails: nothing to say. */
    run(disk, disk->rollback, NULL);
}
