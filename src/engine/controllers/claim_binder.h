/* Binds PersistentVolumeClaims to volumes, and decides when both are deleted. A claim takes an
 * existing volume that fits. If there is none, a volume is created for it: at once if its class is
 * one of this server, else after a short time in which another provisioner could have done it. The
 * volume is a directory of this machine, <state>/volumes/<namespace>/<claim>, which the node
 * creates when a pod first uses it. A claim is kept as long as a pod uses it, a volume as long as
 * it is bound. Pure; claim_controller.c writes the results. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_CLAIM_BINDER_H
#define TRAINYARD_ENGINE_CONTROLLERS_CLAIM_BINDER_H

#include "base/json/json.h"
#include "kube/kinds/volume.h"

/* How long a claim of another class waits for a volume of another provisioner. */
enum { CLAIM_PROVISION_WAIT_MS = 3000 };

/* "pvc-<uid>", or the volume that the claim names. */
const char *claim_volume_name(struct arena *arena, const struct json *claim);
/* The class that a claim or volume names, or "". */
const char *claim_class_name(const struct json *object);

/* Returns the PersistentVolume for the claim, which has the class `class_`. */
struct json *claim_make_volume(struct arena *arena, const struct json *claim,
                               const struct json *class_);

/* Whether this free volume is better for the claim than `best` (NULL: none yet). A volume that is
 * reserved for the claim is the best, else the smallest one that is large enough. */
bool claim_prefers(struct arena *arena, const struct json *claim, const struct json *volume,
                   const struct json *best);

/* Whether the pod uses the claim, so that the claim must be kept. */
bool claim_is_used_by(const struct json *claim, const struct json *pod);
/* Whether the pod is being deleted and no node runs it any more. */
bool claim_pod_has_ended(const struct json *pod);

struct claim_view {
    const struct json *claim;
    const struct json *class_; /* the class that it names; NULL: it does not exist */
    const struct json *volume; /* the volume that it names, or would get; NULL: none */
    bool used;                 /* a pod that has a node uses it */
    bool overdue;              /* it has waited CLAIM_PROVISION_WAIT_MS for a volume */
};

enum claim_step {
    CLAIM_DONE,
    CLAIM_MAKE_VOLUME,  /* create what claim_make_volume() returns */
    CLAIM_PATCH_CLAIM,  /* set spec.volumeName */
    CLAIM_PATCH_STATUS, /* set status.phase Bound */
    CLAIM_PATCH_VOLUME, /* set claimRef of a volume that a user created */
    CLAIM_PATCH_VOLUME_STATUS,
    CLAIM_LOSE,      /* its volume is gone: set status.phase Lost */
    CLAIM_UNPROTECT, /* remove its finalizer: it may be deleted */
    CLAIM_WAIT,      /* the event says why it waits */
};

/* The event to write on the claim; all NULL: none. */
struct claim_event {
    const char *type, *reason, *message;
};

/* Returns the next step towards bound or deleted, and its patch. */
enum claim_step claim_next_step(struct arena *arena, const struct claim_view *view,
                                struct json **ret_patch, struct claim_event *ret_event);

enum volume_step {
    VOLUME_DONE,
    VOLUME_PATCH_STATUS, /* set its phase: free, or released by its claim */
    VOLUME_DELETE,       /* delete it together with its claim */
    VOLUME_UNPROTECT,    /* remove its finalizer: it may be deleted */
};

/* Returns the next step of a volume, and its patch. `claim` is the claim that its claimRef names;
 * NULL: it does not exist. */
enum volume_step claim_volume_next_step(struct arena *arena, const struct json *volume,
                                        const struct json *claim, struct json **ret_patch);

#endif
