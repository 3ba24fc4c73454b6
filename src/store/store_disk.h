/* The database of the store: one SQLite table with one row per change of an object. Each row has
 * checksums (store_checksum.h). The row of a superseded version is removed after the history has
 * dropped the change that superseded it. The row of a deletion is removed after the history has
 * dropped the deletion, unless a damaged row may have the same key.
 *
 * In a running store, the loop thread opens and reads the database. Then only the writer thread
 * uses the database, until that thread has ended and the loop thread closes the database. */
#ifndef TRAINYARD_STORE_STORE_DISK_H
#define TRAINYARD_STORE_STORE_DISK_H

#include "base/cleanup.h"
#include "base/err.h"
#include "store/store_reserve.h"
#include "store/store_wal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

struct store_disk {
    struct sqlite3 *db;
    struct sqlite3_stmt *begin, *commit, *rollback, *insert, *drop;
    struct store_reserve reserve;
    char *path;
    int mark_fd;          /* descriptor of the mark file (store_mark.h); -1: none */
    int64_t acknowledged; /* revision in the mark when the database was opened */
    int64_t inserted;     /* newest revision of the current transaction; 0: none */
    struct store_wal wal; /* state of the write-ahead log before SQLite read it */
    char *wal_copy;       /* path of the copy of a damaged or suspect log; NULL: none */
    int64_t lost; /* number of acknowledged changes that are missing; set by store_disk_load() */
};

enum store_row_damage {
    STORE_ROW_INTACT,
    STORE_ROW_DATA, /* the data or the row checksum is damaged; the head checksum proves the other
                       columns */
    STORE_ROW_HEAD, /* no column can be trusted */
};

struct store_row {
    int64_t revision;
    int64_t created; /* revision of the object's first version */
    bool deleted;
    const char *key; /* never NULL */
    const void *data;
    size_t size;

    /* Set only in rows that were read from the database: */
    enum store_row_damage damage;
    uint64_t head_sum; /* head checksum that is stored in the row */
};

/* The largest revision. Clients that read JSON numbers as double have exact values up to this
 * number. A row with a larger revision is damaged. */
#define STORE_REVISION_MAX (INT64_C(1) << 53)

/* Opens or creates the database, exclusively for this process. Upgrades a database of an older
 * format in one transaction. Returns 0, -ERR_UNAVAILABLE if another process has it open,
 * -ERR_INVALID if its pages or its table are damaged, -ERR_UNSUPPORTED if it has a newer format or
 * belongs to another program, or another error if a file cannot be used. */
int store_disk_open(const char *path, struct store_disk **ret, struct err *err);
struct store_disk *store_disk_free(struct store_disk *disk);
DEFINE_CLEANUP(store_disk)

/* Calls `row` for every row in the order of revisions, including damaged rows. The row is valid
 * during the call. Sets *ret_last to the last revision that was assigned according to the rows,
 * SQLite's counter and the mark. Sets disk->lost. Removes the copy of the log unless the log is
 * proven to be damaged. */
int store_disk_load(struct store_disk *disk,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    int64_t *ret_last, struct err *err);

/* Calls `row` for the row of this revision. Returns 0, -ERR_NOT_FOUND if there is no such row, or
 * another error. */
int store_disk_read(struct store_disk *disk, int64_t revision,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    struct err *err);

/* A transaction is store_disk_begin(), any number of inserts and drops, and store_disk_commit(). If
 * a call after store_disk_begin() fails, the caller must call store_disk_rollback() or
 * store_disk_free(). */
int store_disk_begin(struct store_disk *disk, struct err *err);
int store_disk_insert(struct store_disk *disk, const struct store_row *row, struct err *err);
int store_disk_drop(struct store_disk *disk, int64_t revision, struct err *err);
/* Blocks until the transaction is on the disk. Then writes the mark (store_mark.h). */
int store_disk_commit(struct store_disk *disk, struct err *err);
void store_disk_rollback(struct store_disk *disk);

/* Sets the error of a full disk, and returns -ERR_IO. err->sys is ENOSPC. */
int store_disk_fail_full(const struct store_disk *disk, struct err *err);

#endif
