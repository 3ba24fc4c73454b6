/* The store's database: one append-only table of changes in SQLite, each row with checksums
 * (store_seal.h). Opened and read on the loop's thread, then used by the writer's thread alone
 * until it is closed. */
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
    int mark_fd;          /* store_mark.h; -1: none */
    int64_t acknowledged; /* by the mark, when it was opened */
    int64_t inserted;     /* the newest revision of the transaction under way; 0: none */
    struct store_wal wal; /* the log as it was found, before SQLite read it */
    char *wal_copy;       /* of a log that is or may be damaged; NULL: there is none */
    int64_t lost;         /* so many acknowledged changes up to `acknowledged` are missing */
};

enum store_row_damage {
    STORE_ROW_INTACT,
    STORE_ROW_DATA, /* the data is altered; which change this is, is proven */
    STORE_ROW_HEAD, /* it is not proven which change this is: no column can be believed */
};

struct store_row {
    int64_t revision;
    int64_t created; /* the revision of the first version */
    bool deleted;
    const char *key; /* never NULL */
    const void *data;
    size_t size;

    /* Of a row that was read: */
    enum store_row_damage damage;
    uint64_t head_sum; /* as it is in the row */
};

/* Revisions are exact in the numbers of JSON. A row beyond it is damaged. */
#define STORE_REVISION_MAX (INT64_C(1) << 53)

/* Opened for this process alone: a second one is refused while it is open. A database of an older
 * format is upgraded in one transaction. ERR_INVALID: its pages are damaged. ERR_UNSUPPORTED: it is
 * of a newer format, or of another program. */
int store_disk_open(const char *path, struct store_disk **ret, struct err *err);
struct store_disk *store_disk_free(struct store_disk *disk);
DEFINE_CLEANUP(store_disk)

/* Every row in the order of revisions, damaged ones too. Then ret_last is the last revision ever
 * given, also if its row is gone; disk->lost is set; and disk->wal_copy is kept only if the log
 * proved to be damaged. */
int store_disk_load(struct store_disk *disk,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    int64_t *ret_last, struct err *err);

/* Calls `row` for the row of this revision; ERR_NOT_FOUND if there is none. */
int store_disk_read(struct store_disk *disk, int64_t revision,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    struct err *err);

/* One transaction: begin, any number of inserts and drops, commit. After a failure of any of these
 * roll back. */
int store_disk_begin(struct store_disk *disk, struct err *err);
int store_disk_insert(struct store_disk *disk, const struct store_row *row, struct err *err);
int store_disk_drop(struct store_disk *disk, int64_t revision, struct err *err);
int store_disk_commit(struct store_disk *disk, struct err *err); /* returns with it on the disk */
void store_disk_rollback(struct store_disk *disk);

/* The error of a full disk: ERR_IO, with ENOSPC. */
int store_disk_fail_full(const struct store_disk *disk, struct err *err);

#endif
