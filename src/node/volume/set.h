/* Writes a set of files that changes atomically, in the layout of Kubernetes, which programs watch.
 * The files are in "..<time>.<sum>", "..data" is a link to that directory, and each name of the set
 * is a link to "..data/<name>". A change writes a new directory and then replaces "..data", so that
 * a reader sees either the old set or the new set. Only files.c uses it; no other process writes to
 * the directory. */
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
    size_t size; /* bytes of `data` */
    mode_t mode;
};

/* A set of files. The caller sets `arena`, from which the entries are allocated, and `boot`. */
struct volume_set {
    struct arena *arena;
    struct volume_set_entry *entries;
    size_t count, capacity;
    /* The ID of the boot during which the set is written. Writes do not wait for the disk, so a set
     * that was written during an earlier boot may have lost files. NULL means that the boot is not
     * checked. */
    const char *boot;
};

/* Adds a file. `path` and `data` are not copied. A file with the same path is replaced. Returns
 * -ERR_INVALID if the path may lead out of the volume. */
int volume_set_add(struct volume_set *set, const char *path, const char *data, size_t size,
                   mode_t mode, struct err *err);

/* Replaces the content of `directory` by this set. Does nothing if the directory contains the same
 * set, written during the same boot. The files get the group `group`, unless it is negative. */
int volume_set_publish(const struct volume_set *set, const char *directory, int64_t group,
                       struct err *err);

#endif
