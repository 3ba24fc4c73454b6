/* A pod's volumes as directories of this machine: made ready before the pod starts, mounted by its
 * supervisor. Claims live in <state>/volumes/<namespace>/<claim>, everything else in the pod's own
 * directory and goes with it. */
#ifndef TRAINYARD_NODE_VOLUME_VOLUMES_H
#define TRAINYARD_NODE_VOLUME_VOLUMES_H

#include "base/map.h"
#include "node/plan/environment.h"

struct volume_context {
    const char *state_dir;
    const char *pod_dir;
    const struct pod_facts *facts;
    const struct node_objects *objects;
    const struct map *tokens; /* of the service account, by audience */
    int64_t group;            /* fsGroup; -1: volumes keep theirs */
};

struct volume {
    const char *name;
    const char *source;
    bool read_only;
    bool memory;  /* `source` is where the pod's supervisor mounts memory for all containers */
    int64_t size; /* of the memory; 0: as much as the machine gives */
};

/* fsGroup of the pod, where we can give it: an ordinary user has one group only. */
int64_t volume_group_of(const struct json *pod, bool nested);

/* Make the volume ready. ERR_NOT_FOUND: something it refers to does not exist yet. */
int volume_prepare(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct volume *ret, struct err *err);

/* Something that the volume of a running pod shows has changed: show the new, all at once. */
int volume_refresh(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct err *err);

/* The directory of a bound claim; *ret_made_here: it is one of ours, and may have to be made. */
int volume_claim_find(struct arena *arena, const struct node_objects *objects,
                      const char *state_dir, const char *namespace_, const char *name,
                      const char **ret_directory, bool *ret_made_here, struct err *err);

/* Where the data of a claim lies that has a directory of ours. */
char *volume_claim_path(struct arena *arena, const char *state_dir, const char *namespace_,
                        const char *claim);

#endif
