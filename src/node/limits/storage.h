/* How much of the disk a pod may use, and does: sizeLimit of its emptyDirs and limits of
 * ephemeral-storage, counted and judged as the kubelet does. Pods without such a limit are never
 * measured. */
#ifndef TRAINYARD_NODE_LIMITS_STORAGE_H
#define TRAINYARD_NODE_LIMITS_STORAGE_H

#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

enum { STORAGE_ENTRIES_MAX = 1000 * 1000 }; /* looked at in one measuring */

enum storage_kind {
    STORAGE_EMPTY_DIR,
    STORAGE_FILES, /* a volume that the node has written */
    STORAGE_LAYER, /* what a container has written over its image */
    STORAGE_LOGS,  /* of a container */
};

struct storage_place {
    enum storage_kind kind;
    const char *name; /* of the volume or container */
    const char *path;
    int64_t used; /* bytes on the disk, as far as they were counted */
};

bool storage_is_limited(const struct json *pod);

/* Where the pod's bytes lie; returns their number. */
size_t storage_places(struct arena *arena, const struct json *pod, const char *pod_dir,
                      struct storage_place **ret);

/* Count what is there. It blocks for as long as the disk takes; who goes on writing meanwhile is
 * counted in part. Beyond STORAGE_ENTRIES_MAX nothing more is counted. */
void storage_measure(struct storage_place *places, size_t count);

/* Why the pod is to be evicted, in the kubelet's words, or NULL. */
const char *storage_judge(struct arena *arena, const struct json *pod,
                          const struct storage_place *places, size_t count);

#endif
