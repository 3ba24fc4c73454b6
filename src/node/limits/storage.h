/* Measures the disk space that a pod uses, and compares it with the pod's limits: sizeLimit of its
 * emptyDirs and limits of ephemeral-storage, by the rules of the kubelet. In addition, a container
 * without a limit of ephemeral-storage may write at most STORAGE_LAYER_MAX bytes outside of its
 * volumes. pod/eviction.c calls it. */
#ifndef TRAINYARD_NODE_LIMITS_STORAGE_H
#define TRAINYARD_NODE_LIMITS_STORAGE_H

#include "base/json/json.h"

#include <stddef.h>
#include <stdint.h>

/* Maxima of one measurement. */
enum {
    STORAGE_ENTRIES_MAX = 1000 * 1000, /* files and directories */
    STORAGE_DEPTH_MAX = 4096,          /* depth of nested directories */
    STORAGE_NAMES_MAX = 64 << 20,      /* bytes of file names that are in memory at once */
};

/* Bytes outside of volumes that a container without a limit may write. */
static const int64_t STORAGE_LAYER_MAX = INT64_C(20) << 30;

enum storage_kind {
    STORAGE_EMPTY_DIR,
    STORAGE_FILES, /* a volume whose files the node writes: configMap or downwardAPI */
    STORAGE_LAYER, /* files of a container outside of its volumes */
    STORAGE_LOGS,  /* the log files of a container */
};

/* A directory that is measured, and the result. */
struct storage_place {
    enum storage_kind kind;
    const char *name; /* the name of the volume or container */
    const char *path;
    int64_t used;   /* bytes on the disk that were counted */
    bool is_beyond; /* the measurement stopped at a maximum */
    size_t closed;  /* directories that could not be opened; their content is not counted */
};

/* Returns true if the pod's spec limits its disk space. */
bool storage_is_limited(const struct json *pod);

/* Sets *ret to an array of the places that count towards a limit, and returns their number. If the
 * pod's spec has no limit, these are the STORAGE_LAYER places of its containers. The array and its
 * strings are in the arena. */
size_t storage_places(struct arena *arena, const struct json *pod, const char *pod_dir,
                      struct storage_place **ret);

/* Counts the bytes in each place. Blocks while it reads the disk. May count only a part of a file
 * that is written at the same time. */
void storage_measure(struct storage_place *places, size_t count);

/* Returns why the pod is to be evicted, or NULL. Where the kubelet has the same limit, the text is
 * the kubelet's. A pod with limits in its spec is also evicted if a measurement stopped at a
 * maximum, because the rest could have any size. */
const char *storage_judge(struct arena *arena, const struct json *pod,
                          const struct storage_place *places, size_t count);

/* Returns a sentence about the first place with directories that could not be opened, or NULL if
 * there is none. */
const char *storage_gap(struct arena *arena, const struct storage_place *places, size_t count);

#endif
