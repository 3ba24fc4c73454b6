/* Decides how PersistentVolumeClaims are bound to volumes, and when claims and volumes are deleted.
 * Pure; claim_controller.c writes the results.
 *
 * A claim takes an existing volume that fits. If no volume fits, one is created: at once if the
 * claim's StorageClass names CLAIM_PROVISIONER, else after CLAIM_PROVISION_WAIT_MS, so that another
 * provisioner can create it first. If the class delays binding (WaitForFirstConsumer), a claim that
 * names no volume waits until a pod with a node uses it. No volume is created for a claim that
 * names a volume or has no class, or whose class names kubernetes.io/no-provisioner.
 *
 * A created volume is a directory of this machine (VOLUME_DIRECTORY_ANNOTATION names it), which the
 * node creates when a pod first uses the claim. The deletion of a claim waits until no pod uses the
 * claim. The deletion of a volume waits until the volume is not bound. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_CLAIM_BINDER_H
#define TRAINYARD_ENGINE_CONTROLLERS_CLAIM_BINDER_H

#include "base/json/json.h"
#include "kube/kinds/volume.h"

/* A claim waits this long after its creation for another provisioner than CLAIM_PROVISIONER. */
enum { CLAIM_PROVISION_WAIT_MS = 3000 };

/* Returns the name of the volume for the claim: spec.volumeName, or "pvc-<uid>" if that is
 * empty. */
const char *claim_volume_name(struct arena *arena, const struct json *claim);
/* Returns the name of the StorageClass of a claim or volume, or "" if it has none. */
const char *claim_class_name(const struct json *object);

/* Returns a new PersistentVolume for the claim. `class_` is the claim's StorageClass; NULL: it does
 * not exist. */
struct json *claim_make_volume(struct arena *arena, const struct json *claim,
                               const struct json *class_);

/* Returns whether the volume is free or its claimRef names the claim, and the volume fits the claim
 * and is better than `best` (NULL: none yet). A volume whose claimRef names the claim is better
 * than a free volume, and the smaller of two free volumes is better. */
bool claim_prefers(struct arena *arena, const struct json *claim, const struct json *volume,
                   const struct json *best);

/* Returns whether the pod has a node and uses the claim. An ephemeral volume uses its claim only if
 * the claim was created for the pod and the pod has not ended. */
bool claim_is_used_by(const struct json *claim, const struct json *pod);
/* Returns whether the pod is being deleted with a grace period of 0, so that its deletion does not
 * wait for a node. */
bool claim_pod_has_ended(const struct json *pod);

/* The objects that the next step of a claim depends on. */
struct claim_view {
    const struct json *claim;
    const struct json *class_; /* the claim's StorageClass; NULL: it does not exist */
    /* The claim's volume, else the best volume according to claim_prefers(). NULL: there is none,
     * or the claim is being deleted. */
    const struct json *volume;
    /* A pod that has a node uses the claim. Matters only if the claim is being deleted or not
     * bound. */
    bool used;
    bool overdue; /* the claim was created at least CLAIM_PROVISION_WAIT_MS ago */
};

enum claim_step {
    CLAIM_DONE,                /* nothing to do */
    CLAIM_MAKE_VOLUME,         /* create the volume that claim_make_volume() returns */
    CLAIM_PATCH_CLAIM,         /* set spec.volumeName */
    CLAIM_PATCH_STATUS,        /* set the claim's status.phase to Bound */
    CLAIM_PATCH_VOLUME,        /* set claimRef of a volume that no claim has taken */
    CLAIM_PATCH_VOLUME_STATUS, /* set the volume's status.phase to Bound */
    CLAIM_LOSE,                /* the claim's volume is gone: set status.phase Lost */
    CLAIM_UNPROTECT,           /* remove the claim's finalizer, so that its deletion completes */
    CLAIM_WAIT,                /* no step is possible yet; the event says why the claim waits */
};

/* The event to write about the claim. If there is none, all members are NULL. */
struct claim_event {
    const char *type, *reason, *message;
};

/* Returns the next step that binds or deletes the claim. *ret_patch is the patch of this step, or
 * NULL if the step has none. */
enum claim_step claim_next_step(struct arena *arena, const struct claim_view *view,
                                struct json **ret_patch, struct claim_event *ret_event);

enum volume_step {
    VOLUME_DONE,         /* nothing to do */
    VOLUME_PATCH_STATUS, /* set status.phase to Available or Released */
    VOLUME_DELETE,       /* delete the volume, because its claim is gone */
    VOLUME_UNPROTECT,    /* remove the volume's finalizer, so that its deletion completes */
};

/* Returns the next step of a volume. *ret_patch is the patch of this step, or NULL if the step has
 * none. `claim` is the claim that the volume's claimRef names; NULL: it does not exist. */
enum volume_step claim_volume_next_step(struct arena *arena, const struct json *volume,
                                        const struct json *claim, struct json **ret_patch);

#endif
