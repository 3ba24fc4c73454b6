/* Prepares a pod's volumes as directories of this machine, which the pod's supervisor mounts. Used
 * by the planner of pods (node/plan), and by node/pod/refresh.c after changes. The data of a claim
 * is in <state>/volumes/<namespace>/<claim>, unless a user created the volume of the claim.
 * hostPath volumes stay where they are. All other volumes are in the pod's own directory and are
 * removed with it. */
#ifndef TRAINYARD_NODE_VOLUME_VOLUMES_H
#define TRAINYARD_NODE_VOLUME_VOLUMES_H

#include "base/map.h"
#include "node/plan/environment.h"

struct volume_context {
    const char *state_dir; /* the cluster's directory, <state> */
    const char *pod_dir;   /* the pod's own directory */
    const struct pod_facts *facts;
    const struct node_objects *objects;
    const struct map *tokens; /* tokens of the service account by audience, or NULL */
    int64_t group;            /* fsGroup; -1 keeps the groups of volumes */
};

struct volume {
    const char *name;
    const char *source; /* the path of the volume on the machine */
    bool read_only;
    bool memory;  /* the supervisor mounts a tmpfs at `source` for all containers */
    int64_t size; /* size of the tmpfs in bytes; 0 means the kernel's default */
};

/* Returns the pod's fsGroup, or -1 if it has none. Also returns -1 if trainyard runs as an ordinary
 * user (`nested`), who can set only one group. */
int64_t volume_group_of(const struct json *pod, bool nested);

/* Prepares the volume. Returns 0, -ERR_NOT_FOUND if something is missing that may be created later
 * (an object, a key, the binding of a claim, a token, the source of a hostPath volume), or another
 * negative code. */
int volume_prepare(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct volume *ret, struct err *err);

/* Updates a volume of a running pod atomically after an object that the volume shows has changed.
 * volume_files_is() must be true for the volume. */
int volume_refresh(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct err *err);

/* Finds the directory of a bound claim. `*ret_is_managed` becomes true if the directory is below
 * <state>/volumes and may have to be created, or false if it is the source of a volume that a user
 * created. Returns -ERR_NOT_FOUND if the claim, its volume, or the directory of a user's volume
 * does not exist, or if the claim is not bound. */
int volume_claim_find(struct arena *arena, const struct node_objects *objects,
                      const char *state_dir, const char *namespace_, const char *name,
                      const char **ret_directory, bool *ret_is_managed, struct err *err);

/* Returns <state>/volumes/<namespace>/<claim>. */
char *volume_claim_path(struct arena *arena, const char *state_dir, const char *namespace_,
                        const char *claim);

#endif
