/* The store's database: one append-only table of changes in SQLite, each row with checksums
 * (store_checksum.h). It is opened and read on the loop thread, then used by the writer thread
 * only, until it is closed. */
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
    int mark_fd;          /* descriptor of the mark, see store_mark.h; -1: none */
    int64_t acknowledged; /* revision in the mark when the database was opened */
    int64_t inserted;     /* newest revision of the current transaction; 0: none */
    struct store_wal wal; /* the write-ahead log as it was before SQLite read it */
    char *wal_copy;       /* path of the copy of a log that is or may be damaged; NULL: none */
    int64_t lost;         /* number of acknowledged changes up to `acknowledged` that are missing */
};

enum store_row_damage {
    STORE_ROW_INTACT,
    STORE_ROW_DATA, /* the data is damaged; revision, key, created and deleted are proven */
    STORE_ROW_HEAD, /* no column can be trusted */
};

struct store_row {
    int64_t revision;
    int64_t created; /* revision of the object's first version */
    bool deleted;
    const char *key; /* never NULL */
    const void *data;
    size_t size;

    /* Set for rows that were read: */
    enum store_row_damage damage;
    uint64_t head_sum; /* checksum of the head as stored in the row */
};

/* JSON numbers hold revisions up to this exactly. A row with a larger one is damaged. */
#define STORE_REVISION_MAX (INT64_C(1) << 53)

/* Opens the database for this process alone: a second process is refused. A database of an older
 * format is upgraded in one transaction. Returns -ERR_INVALID if its pages are damaged,
 * -ERR_UNSUPPORTED if it has a newer format or belongs to another program. */
int store_disk_open(const char *path, struct store_disk **ret, struct err *err);
struct store_disk *store_disk_free(struct store_disk *disk);
DEFINE_CLEANUP(store_disk)

/* Calls `row` for every row in the order of revisions, including damaged ones. Sets *ret_last to
 * the last revision that was ever assigned, even if its row is gone, and sets disk->lost. Keeps
 * disk->wal_copy only if the log is proven to be damaged. */
int store_disk_load(struct store_disk *disk,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    int64_t *ret_last, struct err *err);

/* Calls `row` for the row of this revision. Returns -ERR_NOT_FOUND if there is none. */
int store_disk_read(struct store_disk *disk, int64_t revision,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    struct err *err);

/* One transaction: begin, any number of inserts and drops, commit. If one of these fails, the
 * caller must roll back. */
int store_disk_begin(struct store_disk *disk, struct err *err);
int store_disk_insert(struct store_disk *disk, const struct store_row *row, struct err *err);
int store_disk_drop(struct store_disk *disk, int64_t revision, struct err *err);
/* Returns when the transaction is on the disk. */
int store_disk_commit(struct store_disk *disk, struct err *err);
void store_disk_rollback(struct store_disk *disk);

/* Sets the error of a full disk: -ERR_IO with ENOSPC. */
int store_disk_fail_full(const struct store_disk *disk, struct err *err);

#endif
