/* Prepares a pod's volumes as directories of this machine, which its supervisor mounts. The data of
 * a claim is in <state>/volumes/<namespace>/<claim>, unless a user created its volume. hostPath
 * volumes stay where they are. All other volumes are in the pod's own directory and are removed
 * with it. */
#ifndef TRAINYARD_NODE_VOLUME_VOLUMES_H
#define TRAINYARD_NODE_VOLUME_VOLUMES_H

#include "base/map.h"
#include "node/plan/environment.h"

struct volume_context {
    const char *state_dir;
    const char *pod_dir;
    const struct pod_facts *facts;
    const struct node_objects *objects;
    const struct map *tokens; /* tokens of the service account by audience */
    int64_t group;            /* fsGroup; -1 keeps the groups of volumes */
};

struct volume {
    const char *name;
    const char *source;
    bool read_only;
    bool memory;  /* the supervisor mounts a tmpfs at `source` for all containers */
    int64_t size; /* size of the tmpfs in bytes; 0 means the kernel's default */
};

/* Returns the pod's fsGroup, or -1. An ordinary user (`nested`) can set only one group, so -1 is
 * returned for it too. */
int64_t volume_group_of(const struct json *pod, bool nested);

/* Prepares the volume. Returns -ERR_NOT_FOUND if an object that it refers to does not exist yet. */
int volume_prepare(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct volume *ret, struct err *err);

/* Updates a volume of a running pod atomically after an object that it shows has changed. */
int volume_refresh(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct err *err);

/* Finds the directory of a bound claim. `*ret_made_here` is true if it is a directory of the
 * cluster, which may have to be created. */
int volume_claim_find(struct arena *arena, const struct node_objects *objects,
                      const char *state_dir, const char *namespace_, const char *name,
                      const char **ret_directory, bool *ret_made_here, struct err *err);

/* Returns the directory of a claim whose data is in a directory of the cluster. */
char *volume_claim_path(struct arena *arena, const char *state_dir, const char *namespace_,
                        const char *claim);

#endif
