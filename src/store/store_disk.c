/* Accesses the database of the store; see store_disk.h. SQLite runs in WAL mode with
 * synchronous=FULL, so that a finished commit survives a crash of the machine. SQLite's
 * AUTOINCREMENT counter stores the last committed revision and never decreases. So the revision of
 * a committed change is never assigned again, even if the newest rows are removed. */
#include "store/store_disk.h"

#include "base/mem.h"
#include "store/store_checksum.h"
#include "store/store_disk_internal.h"
#include "store/store_mark.h"
#include "store/store_quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int store_disk_fail_full(const struct store_disk *disk, struct err *err)
{
    err_set(err, ERR_IO, "no space is left for '%s': free some disk space to continue", disk->path);
    if (err)
        err->sys = ENOSPC;
    return -ERR_IO;
}

int store_disk_fail(const struct store_disk *disk, struct err *err)
{
    int code = sqlite3_errcode(disk->db) & 0xff;
    /* SQLite has no error code for an exceeded disk quota. Treat it like a full disk. */
    if (sqlite3_extended_errcode(disk->db) == SQLITE_IOERR_WRITE &&
        sqlite3_system_errno(disk->db) == EDQUOT)
        code = SQLITE_FULL;
    switch (code) {
    case SQLITE_FULL:
        return store_disk_fail_full(disk, err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, ERR_UNAVAILABLE, "'%s' is in use by another process", disk->path);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return err_set(err, ERR_INVALID, "'%s' is damaged (%s): " STORE_DISK_ADVICE, disk->path,
                       sqlite3_errmsg(disk->db));
    default:
        return err_set(err, ERR_IO, "cannot use '%s': %s", disk->path, sqlite3_errmsg(disk->db));
    }
}

int store_disk_execute(struct store_disk *disk, const char *sql, struct err *err)
{
    return sqlite3_exec(disk->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                      : store_disk_fail(disk, err);
}

int store_disk_query_int(struct store_disk *disk, const char *sql, int64_t *ret, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = 0;
    int code = sqlite3_prepare_v2(disk->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    int result = code == SQLITE_ROW || code == SQLITE_DONE ? 0 : store_disk_fail(disk, err);
    sqlite3_finalize(statement);
    if (result == 0)
        *ret = value;
    return result;
}

static int disk_prepare(struct store_disk *disk, const char *sql, sqlite3_stmt **ret,
                        struct err *err)
{
    return sqlite3_prepare_v3(disk->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) == SQLITE_OK
               ? 0
               : store_disk_fail(disk, err);
}

/* Creates the file with mode 0600 if it is missing, because it may contain secrets. SQLite uses the
 * same mode for its other files. Passes the descriptor of the file to the reserve. */
static int create_private_file(struct store_disk *disk, struct err *err)
{
    int fd = open(disk->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    store_reserve_init(&disk->reserve, fd, disk->path);
    return fd < 0 ? err_set_errno(err, errno, "cannot open '%s'", disk->path) : 0;
}

/* Reads the write-ahead log, and copies it if it may be damaged, because SQLite will overwrite
 * it. */
static int inspect_log(struct store_disk *disk, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s-wal", disk->path);
    int result = store_wal_file_read(path, &disk->wal, err);
    if (result < 0 || store_wal_state(&disk->wal) == STORE_WAL_WHOLE)
        return result;
    if (store_wal_state(&disk->wal) == STORE_WAL_DAMAGED)
        return store_quarantine_copy(path, &disk->wal_copy, err);
    /* An incomplete end of the log is normal after a power failure. So the store opens even if the
     * copy fails, for example on a full disk. */
    (void)store_quarantine_copy(path, &disk->wal_copy, NULL);
    return 0;
}

static int open_all(struct store_disk *disk, struct err *err)
{
    int result = create_private_file(disk, err);
    if (result == 0)
        result = inspect_log(disk, err);
    if (result < 0)
        return result;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(disk->path, &disk->db, flags, NULL) != SQLITE_OK)
        return store_disk_fail(disk, err);
    /* SQLite keeps the exclusive lock as long as the file is open, so no other process can write to
     * the file. */
    result = store_disk_execute(disk,
                                "PRAGMA locking_mode = EXCLUSIVE;"
                                "PRAGMA journal_mode = WAL;"
                                "PRAGMA synchronous = FULL;"
                                "BEGIN EXCLUSIVE; COMMIT;",
                                err);
    if (result == 0)
        result = store_format_prepare(disk, err);
    if (result == 0)
        result = disk_prepare(disk, "BEGIN IMMEDIATE", &disk->begin, err);
    if (result == 0)
        result = disk_prepare(disk, "COMMIT", &disk->commit, err);
    if (result == 0)
        result = disk_prepare(disk, "ROLLBACK", &disk->rollback, err);
    if (result == 0)
        result =
            disk_prepare(disk,
                         "INSERT INTO changes(revision, key, created, deleted, head_sum, sum, data)"
                         " VALUES(?, ?, ?, ?, ?, ?, ?)",
                         &disk->insert, err);
    if (result == 0)
        result = disk_prepare(disk, "DELETE FROM changes WHERE revision = ?", &disk->drop, err);
    if (result == 0)
        store_reserve_open_log(&disk->reserve, disk->path);
    return result;
}

/* Removes the copy of the log if it exists. */
static void discard_copy(struct store_disk *disk)
{
    if (disk->wal_copy)
        unlink(disk->wal_copy);
    free(disk->wal_copy);
    disk->wal_copy = NULL;
}

int store_disk_open(const char *path, struct store_disk **ret, struct err *err)
{
    struct store_disk *disk = mem_zalloc(sizeof(*disk));
    disk->path = mem_strdup(path);
    disk->mark_fd = -1;
    int result = open_all(disk, err);
    if (result == -ERR_UNAVAILABLE)
        discard_copy(disk); /* another process has the database open and writes its log */
    if (result < 0) {
        store_disk_free(disk);
        return result;
    }
    disk->mark_fd = store_mark_open(path);
    disk->acknowledged = store_mark_read(disk->mark_fd);
    *ret = disk;
    return 0;
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
    if (disk->mark_fd >= 0)
        close(disk->mark_fd);
    free(disk->wal_copy);
    store_reserve_release(&disk->reserve);
    free(disk->path);
    free(disk);
    return NULL;
}

#define ROW_COLUMNS "SELECT revision, key, created, deleted, head_sum, sum, data FROM changes "

/* Reads the row and checks its checksums. */
static struct store_row read_row(sqlite3_stmt *statement)
{
    const char *key = (const char *)sqlite3_column_text(statement, 1);
    size_t key_size = (size_t)sqlite3_column_bytes(statement, 1);
    struct store_row row = {
        .revision = sqlite3_column_int64(statement, 0),
        .key = key ? key : "",
        .created = sqlite3_column_int64(statement, 2),
        .deleted = sqlite3_column_int(statement, 3) != 0,
        .head_sum = (uint64_t)sqlite3_column_int64(statement, 4),
        .data = sqlite3_column_blob(statement, 6),
        .size = (size_t)sqlite3_column_bytes(statement, 6),
    };
    uint64_t sum = (uint64_t)sqlite3_column_int64(statement, 5);
    uint64_t head = store_checksum_head(row.revision, row.key, key_size, row.created, row.deleted);
    bool makes_sense = row.revision >= 1 && row.revision <= STORE_REVISION_MAX &&
                       row.created >= 1 && row.created <= row.revision && key_size > 0 &&
                       strlen(row.key) == key_size;
    if (!makes_sense)
        row.damage = STORE_ROW_HEAD;
    else if (store_checksum_row(head, row.data, row.size) != sum)
        row.damage = head == row.head_sum ? STORE_ROW_DATA : STORE_ROW_HEAD;
    return row;
}

static int step_rows(struct store_disk *disk, sqlite3_stmt *statement,
                     void (*row)(void *context, const struct store_row *row), void *context,
                     int64_t *ret_last, struct err *err)
{
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const struct store_row read = read_row(statement);
        if (read.revision > *ret_last && read.revision <= STORE_REVISION_MAX)
            *ret_last = read.revision;
        row(context, &read);
    }
    return code == SQLITE_DONE ? 0 : store_disk_fail(disk, err);
}

/* Discards the copy of the log unless the log was damaged. A suspect log counts as damaged if
 * acknowledged changes are missing. */
static void disk_classify_log(struct store_disk *disk)
{
    if (store_wal_state(&disk->wal) != STORE_WAL_DAMAGED && disk->lost == 0)
        discard_copy(disk);
}

int store_disk_load(struct store_disk *disk,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    int64_t *ret_last, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int64_t last = 0, counter = 0;
    int result = disk_prepare(disk, ROW_COLUMNS "ORDER BY revision", &statement, err);
    if (result == 0)
        result = step_rows(disk, statement, row, context, &last, err);
    sqlite3_finalize(statement);
    if (result == 0)
        result = store_disk_query_int(
            disk, "SELECT seq FROM sqlite_sequence WHERE name = 'changes'", &counter, err);
    if (result < 0)
        return result;
    if (counter > last && counter <= STORE_REVISION_MAX)
        last = counter;
    disk->lost = disk->acknowledged > last ? disk->acknowledged - last : 0;
    disk_classify_log(disk);
    *ret_last = last + disk->lost;
    return 0;
}

int store_disk_read(struct store_disk *disk, int64_t revision,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int result = disk_prepare(disk, ROW_COLUMNS "WHERE revision = ?", &statement, err);
    if (result < 0)
        return result;
    sqlite3_bind_int64(statement, 1, revision);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        const struct store_row read = read_row(statement);
        row(context, &read);
    } else if (code == SQLITE_DONE) {
        result = err_set(err, ERR_NOT_FOUND, "'%s' has no revision %lld", disk->path,
                         (long long)revision);
    } else {
        result = store_disk_fail(disk, err);
    }
    sqlite3_finalize(statement);
    return result;
}

static int disk_run(struct store_disk *disk, sqlite3_stmt *statement, struct err *err)
{
    int result = sqlite3_step(statement) == SQLITE_DONE ? 0 : store_disk_fail(disk, err);
    sqlite3_reset(statement);
    return result;
}

int store_disk_begin(struct store_disk *disk, struct err *err)
{
    disk->inserted = 0;
    return disk_run(disk, disk->begin, err);
}

int store_disk_insert(struct store_disk *disk, const struct store_row *row, struct err *err)
{
    sqlite3_stmt *insert = disk->insert;
    size_t key_size = strlen(row->key);
    uint64_t head =
        store_checksum_head(row->revision, row->key, key_size, row->created, row->deleted);
    uint64_t sum = store_checksum_row(head, row->data, row->size);
    sqlite3_bind_int64(insert, 1, row->revision);
    sqlite3_bind_text(insert, 2, row->key, (int)key_size, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, row->created);
    sqlite3_bind_int(insert, 4, row->deleted);
    sqlite3_bind_int64(insert, 5, (sqlite3_int64)head);
    sqlite3_bind_int64(insert, 6, (sqlite3_int64)sum);
    sqlite3_bind_blob64(insert, 7, row->data ? row->data : "", row->size, SQLITE_STATIC);
    int result = disk_run(disk, insert, err);
    sqlite3_clear_bindings(insert);
    if (row->revision > disk->inserted)
        disk->inserted = row->revision;
    return result;
}

int store_disk_drop(struct store_disk *disk, int64_t revision, struct err *err)
{
    sqlite3_bind_int64(disk->drop, 1, revision);
    return disk_run(disk, disk->drop, err);
}

int store_disk_commit(struct store_disk *disk, struct err *err)
{
    int result = disk_run(disk, disk->commit, err);
    if (result == 0 && disk->inserted)
        store_mark_write(disk->mark_fd, disk->inserted);
    return result;
}

void store_disk_rollback(struct store_disk *disk)
{
    /* After some failures SQLite has already rolled back, and this statement fails. Ignore that
     * error. */
    disk_run(disk, disk->rollback, NULL);
}
