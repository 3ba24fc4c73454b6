/* Room on the disk that belongs to the store before it needs it, so that objects can still be
 * deleted when the disk is full. A deletion is a write, too: it adds a row, and frees room later.
 *
 * The room lies behind the end of the database and in its log (WAL), as blocks of these files: no
 * other program can take it, and SQLite finds it there as it writes. When the room cannot be kept,
 * or nothing is left beside it, the disk counts as full, before any write has failed. Then only
 * writes that delete are taken.
 *
 * Used by the thread that has the disk. */
#ifndef TRAINYARD_STORE_STORE_RESERVE_H
#define TRAINYARD_STORE_STORE_RESERVE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* The log holds 4 MB until its pages go into the database (SQLite's 1000 pages), then starts
     * over. Both have as much again for the deletions. */
    STORE_RESERVE_LOG = 8 * 1024 * 1024,
    STORE_RESERVE_DATABASE = 8 * 1024 * 1024, /* behind the end of the file */
    /* What must be free beside these before a disk that was full counts as roomy. */
    STORE_RESERVE_AGAIN = 4 * 1024 * 1024,
};

struct store_reserve {
    int database, log;     /* descriptors; -1: none */
    int64_t database_held; /* up to where the database has its blocks */
    bool log_held;         /* so has the log */
    bool has_mark;         /* the file that says that the disk is full is there */
    char *mark;            /* its path */
};

/* `database` is a descriptor of the file, which SQLite must not have opened yet: to close another
 * one would drop its locks. It is closed by store_reserve_release(), after SQLite's. */
void store_reserve_init(struct store_reserve *reserve, int database, const char *path);
/* The log is there now, and the database is locked for this process. */
void store_reserve_open_log(struct store_reserve *reserve, const char *path);
void store_reserve_release(struct store_reserve *reserve);

/* Take what is missing of the room. False: the disk is full. */
bool store_reserve_keep(struct store_reserve *reserve);

/* Whether the store at this path says that its disk is full; for other processes. An empty file
 * says so, for which a full disk has room. */
bool store_reserve_is_spent(struct arena *arena, const char *path);

#endif
