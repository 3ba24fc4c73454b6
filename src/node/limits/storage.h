/* How much of the disk a pod may use, and does: sizeLimit of its emptyDirs and limits of
 * ephemeral-storage, counted and judged as the kubelet does. A container without such a limit may
 * write STORAGE_LAYER_MAX bytes outside of its volumes. */
#ifndef TRAINYARD_NODE_LIMITS_STORAGE_H
#define TRAINYARD_NODE_LIMITS_STORAGE_H

#include "base/json/json.h"

#include <stddef.h>
#include <stdint.h>

/* Looked at in one measuring of a pod. */
enum {
    STORAGE_ENTRIES_MAX = 1000 * 1000, /* files and directories */
    STORAGE_DEPTH_MAX = 4096,          /* of directories within each other */
    STORAGE_NAMES_MAX = 64 << 20,      /* bytes of names in memory */
};

static const int64_t STORAGE_LAYER_MAX = INT64_C(20) << 30; /* where no limit is given */

enum storage_kind {
    STORAGE_EMPTY_DIR,
    STORAGE_FILES, /* a volume that the node has written */
    STORAGE_LAYER, /* what a container has written outside of its volumes */
    STORAGE_LOGS,  /* of a container */
};

struct storage_place {
    enum storage_kind kind;
    const char *name; /* of the volume or container */
    const char *path;
    int64_t used;   /* bytes on the disk, as far as they were counted */
    bool is_beyond; /* there is more than may be looked at */
    size_t closed;  /* directories that we may not enter: what is in them is not counted */
};

/* Whether the pod has a limit of its own. */
bool storage_is_limited(const struct json *pod);

/* Where the pod's bytes lie that a limit counts; returns their number. */
size_t storage_places(struct arena *arena, const struct json *pod, const char *pod_dir,
                      struct storage_place **ret);

/* Count what is there. It blocks for as long as the disk takes; who goes on writing meanwhile is
 * counted in part. */
void storage_measure(struct storage_place *places, size_t count);

/* Why the pod is to be evicted, in the kubelet's words, or NULL. Who has more than may be looked at
 * is, too: it could hide anything there. */
const char *storage_judge(struct arena *arena, const struct json *pod,
                          const struct storage_place *places, size_t count);

/* What was not counted, as a sentence, or NULL. */
const char *storage_gap(struct arena *arena, const struct storage_place *places, size_t count);

#endif
