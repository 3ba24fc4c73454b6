/* A pod's volumes as directories of this machine: made ready before the pod starts, mounted by its
 * supervisor. Claims live in <state>/volumes/<namespace>/<claim>, everything else in the pod's own
 * directory and goes with it. */
#ifndef TRAINYARD_NODE_VOLUMES_H
#define TRAINYARD_NODE_VOLUMES_H

#include "base/map.h"
#include "node/environment.h"

struct volume_context {
    const char *state_dir;
    const char *pod_dir;
    const struct pod_facts *facts;
    const struct node_objects *objects;
    const struct map *tokens; /* of the service account, by audience */
};

struct volume {
    const char *name;
    const char *source; /* NULL: memory of the container's own */
    bool read_only;
};

/* Make the volume ready. ERR_NOT_FOUND: something it refers to does not exist yet. */
int volume_prepare(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, struct volume *ret, struct err *err);

/* A config map or secret has changed: write what the volume of a running pod shows of it again,
 * file by file, each old or new but never half. A volume that shows nothing of it is left alone. */
int volume_refresh(struct arena *arena, const struct volume_context *context,
                   const struct json *volume, const struct kube_resource *resource,
                   const char *name, struct err *err);

/* Where a claim's data lies. */
char *volume_claim_path(struct arena *arena, const char *state_dir, const char *namespace_,
                        const char *claim);

#endif
