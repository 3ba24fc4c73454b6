/* Reserves disk space, so that objects can still be deleted when the disk is full. A deletion needs
 * space, because it adds a row and frees space only later.
 *
 * The space is allocated as blocks of two files: blocks after the end of the database file, and the
 * first blocks of its write-ahead log. No other program can use these blocks, and SQLite uses them
 * when it writes. On a file system that cannot allocate blocks in advance, nothing is reserved. If
 * the blocks cannot be allocated, or almost no other space is left, the disk counts as full before
 * any write has failed. Then the store accepts only deletions and writes that prepare a deletion.
 *
 * Any thread may call store_reserve_is_spent(). Only the thread that uses the database may call the
 * other functions. */
#ifndef TRAINYARD_STORE_STORE_RESERVE_H
#define TRAINYARD_STORE_STORE_RESERVE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* SQLite lets the log grow to 1000 pages (4 MB), copies the pages into the database and starts
     * the log again. The reserves of log and database are twice that size. One half is for such a
     * log and its pages, the other half for deletions. */
    STORE_RESERVE_LOG = 8 * 1024 * 1024,
    STORE_RESERVE_DATABASE = 8 * 1024 * 1024, /* allocated after the end of the file */
    /* A full disk counts as having space again when this many bytes are free besides the
     * reserve. */
    STORE_RESERVE_AGAIN = 4 * 1024 * 1024,
};

struct store_reserve {
    int database, log;    /* descriptors; -1: none */
    int64_t database_end; /* file offset up to which blocks of the database are allocated */
    bool log_tried;       /* the blocks of the log were requested, and the disk was not full */
    bool has_full_file;   /* this process has created `full_file` */
    char *full_file;      /* path of the file that tells other processes that the disk is full */
};

/* `database` is a descriptor of the database file, which SQLite must not have opened yet; -1:
 * nothing is reserved. store_reserve_release() closes the descriptor. Call it after SQLite has
 * closed the file, because closing any descriptor of the file drops SQLite's locks. */
void store_reserve_init(struct store_reserve *reserve, int database, const char *path);
/* Opens the log of the database at `path`. Removes the file `full_file` that an earlier process has
 * left. Must be called when the log exists and this process has locked the database. */
void store_reserve_open_log(struct store_reserve *reserve, const char *path);
void store_reserve_release(struct store_reserve *reserve);

/* Allocates the missing part of the reserve. Returns false if the disk is full. Creates `full_file`
 * if the disk is full, else removes it. */
bool store_reserve_refill(struct store_reserve *reserve);

/* Returns whether the store at this path has reported that its disk is full. For use in other
 * processes. The report is an empty file, which can be created even on a full disk. */
bool store_reserve_is_spent(struct arena *arena, const char *path);

#endif
