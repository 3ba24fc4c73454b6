/* The store's database: one append-only table of changes in SQLite. Opened and read on the loop's
 * thread, then used by the writer's thread alone until it is closed. */
#ifndef TRAINYARD_STORE_STORE_DISK_H
#define TRAINYARD_STORE_STORE_DISK_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

struct store_disk {
    struct sqlite3 *db;
    struct sqlite3_stmt *begin, *commit, *rollback, *insert, *drop;
    char *path;
};

struct store_row {
    int64_t revision;
    int64_t created; /* the revision of the first version */
    bool deleted;
    const char *key;
    const void *data;
    size_t size;
};

/* Opened for this process alone: a second one is refused while it is open. */
int store_disk_open(const char *path, struct store_disk **ret, struct err *err);
struct store_disk *store_disk_free(struct store_disk *disk);
DEFINE_CLEANUP(store_disk)

/* Every row in the order of revisions; then ret_last is the last revision ever given, also if its
 * row is gone. */
int store_disk_load(struct store_disk *disk,
                    void (*row)(void *context, const struct store_row *row), void *context,
                    int64_t *ret_last, struct err *err);

/* One transaction: begin, any number of inserts and drops, commit. After a failure of any of these
 * roll back. */
int store_disk_begin(struct store_disk *disk, struct err *err);
int store_disk_insert(struct store_disk *disk, const struct store_row *row, struct err *err);
int store_disk_drop(struct store_disk *disk, int64_t revision, struct err *err);
int store_disk_commit(struct store_disk *disk, struct err *err); /* returns with it on the disk */
void store_disk_rollback(struct store_disk *disk);

#endif
