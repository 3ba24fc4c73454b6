/* A set of files that a pod sees change all at once, laid out as Kubernetes lays it out because
 * programs watch for it: the files lie in "..<time>.<sum>", "..data" links to that directory, and
 * each name of the set links to "..data/<name>". A change writes a new directory and then moves
 * "..data" over, so whoever reads sees the old set or the new one. Nobody but us writes there. */
#ifndef TRAINYARD_NODE_VOLUME_SET_H
#define TRAINYARD_NODE_VOLUME_SET_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VOLUME_SET_DATA "..data"

struct volume_set_entry {
    const char *path; /* relative, without ".." */
    const char *data;
    size_t size;
    mode_t mode;
};

/* In the arena's memory: nothing to release. */
struct volume_set {
    struct arena *arena;
    struct volume_set_entry *entries;
    size_t count, capacity;
    /* The start of the machine in which the set is written: nobody waits for the disk, so one that
     * is there of another start may have lost its files. NULL: it is not to be told apart. */
    const char *boot;
};

/* A later file of the same path replaces the earlier one. */
int volume_set_add(struct volume_set *set, const char *path, const char *data, size_t size,
                   mode_t mode, struct err *err);

/* Make `directory` show exactly this set; one that shows it already, written in the same start of
 * the machine, is left alone. The files belong to `group`, unless that is negative. */
int volume_set_publish(const struct volume_set *set, const char *directory, int64_t group,
                       struct err *err);

#endif
