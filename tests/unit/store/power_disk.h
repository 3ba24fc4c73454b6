/* A disk in memory, as a VFS of SQLite, whose power can be cut. Readers see written bytes at once,
 * but only a sync makes them durable; a new or removed name is durable after a sync of its
 * directory. A cut loses everything since then, keeps a part of it, or tears it at sector bounds,
 * as the seed decides; all operations fail until the power is back. Supports one store at a time,
 * whose threads use the database in turn. */
#ifndef TRAINYARD_TESTS_UNIT_STORE_POWER_DISK_H
#define TRAINYARD_TESTS_UNIT_STORE_POWER_DISK_H

#include "base/rand.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct power_inode;

struct power_name {
    char *path;
    struct power_inode *now;     /* NULL: no such file */
    struct power_inode *durable; /* the file of this name after a power cut */
};

struct power_disk {
    sqlite3_vfs vfs;
    struct power_inode *inodes;
    struct power_name names[4]; /* a database, its log, its journal, and one more */
    struct rand rand;
    int64_t operations_left; /* writes, syncs, truncations and deletions until the cut */
    bool off;
};

/* Registers the disk as SQLite's default VFS, so that all databases opened later use it. */
void power_disk_init(struct power_disk *disk, uint64_t seed);
void power_disk_release(struct power_disk *disk);

/* Cuts the power now, if it is not off yet, and restores it. The power is cut again after
 * `operations` further operations, in the middle of one. All files must be closed. */
void power_disk_cycle(struct power_disk *disk, int64_t operations);

/* Returns the present bytes of a file, valid until it is written. The size is 0 if there is no
 * file. */
const unsigned char *power_disk_read(const struct power_disk *disk, const char *path,
                                     size_t *ret_size);

#endif
