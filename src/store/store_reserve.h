/* Disk space that the store reserves, so that objects can still be deleted when the disk is full. A
 * deletion is a write too: it adds a row, and frees space only later.
 *
 * The space is allocated behind the end of the database and of its write-ahead log, as blocks of
 * these files: no other program can take it, and SQLite uses it when it writes. When the reserve
 * cannot be kept, or no other space is left, the disk counts as full before any write has failed.
 * Then only writes that delete are accepted.
 *
 * Used by the thread that owns the disk. */
#ifndef TRAINYARD_STORE_STORE_RESERVE_H
#define TRAINYARD_STORE_STORE_RESERVE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* SQLite lets the log grow to 1000 pages (4 MB), copies them into the database and starts over.
     * Log and database reserve twice as much, so that deletions have the other half. */
    STORE_RESERVE_LOG = 8 * 1024 * 1024,
    STORE_RESERVE_DATABASE = 8 * 1024 * 1024, /* behind the end of the file */
    /* Free space besides the reserve before a full disk counts as having space again. */
    STORE_RESERVE_AGAIN = 4 * 1024 * 1024,
};

struct store_reserve {
    int database, log;     /* descriptors; -1: none */
    int64_t database_held; /* file offset up to which the database has blocks */
    bool log_held;         /* the log has all its blocks */
    bool has_mark;         /* the file that tells other processes that the disk is full exists */
    char *mark;            /* path of that file */
};

/* `database` is a descriptor of the database file, which SQLite must not have opened yet: closing
 * another descriptor of the file would drop SQLite's locks. store_reserve_release() closes it, and
 * must be called after SQLite has closed the file. */
void store_reserve_init(struct store_reserve *reserve, int database, const char *path);
/* The log exists now, and the database is locked for this process. */
void store_reserve_open_log(struct store_reserve *reserve, const char *path);
void store_reserve_release(struct store_reserve *reserve);

/* Allocates the missing part of the reserve. Returns false if the disk is full. */
bool store_reserve_keep(struct store_reserve *reserve);

/* Whether the store at this path reports that its disk is full; for other processes. The report is
 * an empty file, for which a full disk has room. */
bool store_reserve_is_spent(struct arena *arena, const char *path);

#endif
