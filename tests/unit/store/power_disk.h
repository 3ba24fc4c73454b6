/* A disk in memory, as a VFS of SQLite, whose power can be cut. What was written is seen at once by
 * whoever reads, but only a sync puts it on the disk for good; a new or deleted name is there for
 * good once the directory was synced. At a cut everything since is lost, kept in part or torn
 * within a sector's bounds, as the seed has it; nothing works until the power is back.
 *
 * One store at a time: its threads take turns with the database, and so do they here. */
#ifndef TRAINYARD_TESTS_POWER_DISK_H
#define TRAINYARD_TESTS_POWER_DISK_H

#include "base/rand.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct power_inode;

struct power_name {
    char *path;
    struct power_inode *now;     /* NULL: no such file */
    struct power_inode *durable; /* what the name means after a cut */
};

struct power_disk {
    sqlite3_vfs vfs;
    struct power_inode *inodes;
    struct power_name names[4]; /* a database, its log and its journal */
    struct rand rand;
    int64_t operations_left; /* writes, syncs, truncations and deletions until the cut */
    bool off;
};

/* From now on the default of every database that is opened. */
void power_disk_init(struct power_disk *disk, uint64_t seed);
void power_disk_release(struct power_disk *disk);

/* Cut the power now, if it is not off yet, and bring it back; it goes again in the middle of the
 * operation after so many. All files must be closed. */
void power_disk_cycle(struct power_disk *disk, int64_t operations);

/* The bytes of a file as they are now, valid until it is written; size 0 if there is none. */
const unsigned char *power_disk_read(const struct power_disk *disk, const char *path,
                                     size_t *ret_size);

#endif
