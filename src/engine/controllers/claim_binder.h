/* How a claim gets its volume, and what becomes of both. A claim takes a volume that somebody made
 * and that suits it; where there is none, a volume is made for it, at once if its class is one of
 * ours, else after a moment in which somebody else could have done it: a directory of this machine
 * below <state>/volumes/<namespace>/<claim>, made by the node when a pod first uses it. A claim
 * stays as long as a pod uses it, a volume as long as it is bound. Pure; claim_controller.c writes
 * it down. */
#ifndef TRAINYARD_ENGINE_CLAIM_BINDER_H
#define TRAINYARD_ENGINE_CLAIM_BINDER_H

#include "base/json/json.h"
#include "kube/kinds/volume.h"

/* How long a claim whose class is none of ours waits for a volume of somebody else. */
enum { CLAIM_PATIENCE_MS = 3000 };

/* "pvc-<uid>", or the volume the claim itself names. */
const char *claim_volume_name(struct arena *arena, const struct json *claim);
/* The class that a claim or volume names; "" for none. */
const char *claim_class_name(const struct json *object);

/* The PersistentVolume for the claim; `class_` is its class. */
struct json *claim_make_volume(struct arena *arena, const struct json *claim,
                               const struct json *class_);

/* Whether the claim would rather have this free volume than the best so far (NULL: none yet): one
 * kept for it before all others, else the smallest that is large enough. */
bool claim_prefers(struct arena *arena, const struct json *claim, const struct json *volume,
                   const struct json *best);

/* Whether the pod keeps the claim of its namespace from going. */
bool claim_is_used_by(const struct json *claim, const struct json *pod);
/* It is deleted and no node runs it any more; what is left of it waits for others. */
bool claim_pod_has_ended(const struct json *pod);

struct claim_view {
    const struct json *claim;
    const struct json *class_; /* the one it names; NULL: it is not there */
    const struct json *volume; /* the one it names, or would have; NULL: none */
    bool used;                 /* by a pod that has a node */
    bool overdue;              /* nobody has made it a volume for CLAIM_PATIENCE_MS */
};

enum claim_step {
    CLAIM_DONE,
    CLAIM_MAKE_VOLUME,  /* create what claim_make_volume() gives */
    CLAIM_PATCH_CLAIM,  /* spec.volumeName */
    CLAIM_PATCH_STATUS, /* status.phase Bound */
    CLAIM_PATCH_VOLUME, /* the volume's claimRef, where it was made by hand */
    CLAIM_PATCH_VOLUME_STATUS,
    CLAIM_LOSE,      /* its volume is gone: status.phase Lost */
    CLAIM_UNPROTECT, /* it may go */
    CLAIM_WAIT,      /* the event says for what */
};

/* What is to be told on the claim; all NULL: nothing. */
struct claim_event {
    const char *type, *reason, *message;
};

/* The next step towards bound, or towards its end, and the patch for it. */
enum claim_step claim_next_step(struct arena *arena, const struct claim_view *view,
                                struct json **ret_patch, struct claim_event *ret_event);

enum volume_step {
    VOLUME_DONE,
    VOLUME_PATCH_STATUS, /* free, or released by its claim */
    VOLUME_DELETE,       /* it goes with its claim */
    VOLUME_UNPROTECT,    /* it may go */
};

/* The same of a volume; `claim` is the one that its claimRef names, NULL where there is none. */
enum volume_step claim_volume_next_step(struct arena *arena, const struct json *volume,
                                        const struct json *claim, struct json **ret_patch);

#endif
