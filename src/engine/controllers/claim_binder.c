/* Decides the next step of a claim or volume; see claim_binder.h. */
#include "engine/controllers/claim_binder.h"

#include "base/str.h"
#include "engine/controllers/claim_match.h"
#include "engine/controllers/garbage.h"
#include "kube/object.h"
#include "kube/pod_claim.h"
#include "kube/resource.h"

static const char *claim_phase_of(const struct json *object)
{
    return json_get_string(json_get(object, "status"), "phase", "");
}

static const char *named_volume(const struct json *claim)
{
    return json_get_string(json_get(claim, "spec"), "volumeName", "");
}

const char *claim_volume_name(struct arena *arena, const struct json *claim)
{
    const char *named = named_volume(claim);
    return named[0] ? named : arena_printf(arena, "pvc-%s", kube_meta_uid(claim));
}

bool claim_pod_has_ended(const struct json *pod)
{
    return kube_meta_is_deleting(pod) &&
           json_get_int(json_get(pod, "metadata"), "deletionGracePeriodSeconds", 1) == 0;
}

/* Returns whether the ephemeral claim was created for this pod and the pod has not ended. A pod
 * that has ended must not keep its ephemeral claim: the foreground deletion of a pod waits until
 * its claims are deleted. */
static bool pod_keeps_claim(struct arena *arena, const struct json *claim, const struct json *pod)
{
    return !claim_pod_has_ended(pod) && !kube_pod_claim_rejection(arena, pod, claim);
}

bool claim_is_used_by(const struct json *claim, const struct json *pod)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *spec = json_get(pod, "spec");
    if (str_is_empty(json_get_string(spec, "nodeName", "")))
        return false;
    JSON_EACH (volume, json_get(spec, "volumes")) {
        const char *name = kube_pod_claim_name(arena, pod, volume);
        if (name && str_eq(name, kube_meta_name(claim)) &&
            (!json_get(volume, "ephemeral") || pod_keeps_claim(arena, claim, pod)))
            return true;
    }
    return false;
}

static struct json *claim_reference(struct arena *arena, const struct json *claim)
{
    struct json *reference = json_object(arena);
    json_set_string(arena, reference, "apiVersion", "v1");
    json_set_string(arena, reference, "kind", "PersistentVolumeClaim");
    json_set_string(arena, reference, "namespace", kube_meta_namespace(claim));
    json_set_string(arena, reference, "name", kube_meta_name(claim));
    json_set_string(arena, reference, "uid", kube_meta_uid(claim));
    return reference;
}

static void claim_copy_member(struct arena *arena, struct json *target, const char *name,
                              const struct json *value)
{
    if (value)
        json_set(arena, target, name, json_clone(arena, value));
}

struct json *claim_make_volume(struct arena *arena, const struct json *claim,
                               const struct json *class_)
{
    const struct json *claim_spec = json_get(claim, "spec");
    const char *name = claim_volume_name(arena, claim);
    bool is_ephemeral = str_eq(json_get_string(kube_meta_controller(claim), "kind", ""), "Pod");
    struct json *volume = kube_object_make(arena, &KUBE_PVS, NULL, name);
    kube_meta_set_annotation(arena, volume, "pv.kubernetes.io/provisioned-by", CLAIM_PROVISIONER);
    kube_meta_set_annotation(arena, volume, VOLUME_DIRECTORY_ANNOTATION,
                             arena_printf(arena, "%s/%s", kube_meta_namespace(claim),
                                          is_ephemeral ? name : kube_meta_name(claim)));
    struct json *spec = json_ensure_object(arena, volume, "spec");
    struct json *capacity = json_ensure_object(arena, spec, "capacity");
    claim_copy_member(arena, capacity, "storage",
                      json_at(claim_spec, "resources", "requests", "storage", NULL));
    claim_copy_member(arena, spec, "accessModes", json_get(claim_spec, "accessModes"));
    claim_copy_member(arena, spec, "volumeMode", json_get(claim_spec, "volumeMode"));
    claim_copy_member(arena, spec, "storageClassName", json_get(claim_spec, "storageClassName"));
    json_set_string(arena, spec, "persistentVolumeReclaimPolicy",
                    json_get_string(class_, "reclaimPolicy", "Delete"));
    json_set(arena, spec, "claimRef", claim_reference(arena, claim));
    return volume;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static struct json *status_patch(struct arena *arena, const char *phase)
{
    struct json *patch = json_object(arena);
    json_set_string(arena, json_ensure_object(arena, patch, "status"), "phase", phase);
    return patch;
}

static struct json *bound_patch(struct arena *arena, const struct json *volume)
{
    struct json *patch = status_patch(arena, "Bound"), *status = json_get(patch, "status");
    claim_copy_member(arena, status, "accessModes", json_at(volume, "spec", "accessModes", NULL));
    claim_copy_member(arena, status, "capacity", json_at(volume, "spec", "capacity", NULL));
    return patch;
}

/* Returns a patch that sets the volume's claimRef. The patch contains the volume's resourceVersion,
 * so that it fails if another claim takes the volume first. */
static struct json *reference_patch(struct arena *arena, const struct json *volume,
                                    const struct json *claim)
{
    struct json *patch = json_object(arena);
    json_set_string(arena, json_ensure_object(arena, patch, "metadata"), "resourceVersion",
                    kube_meta_resource_version(volume));
    json_set(arena, json_ensure_object(arena, patch, "spec"), "claimRef",
             claim_reference(arena, claim));
    return patch;
}

/* Sets the event. Returns CLAIM_WAIT, which is the step if the event says why the claim waits. */
static enum claim_step claim_set_event(struct claim_event *ret_event, const char *type,
                                       const char *reason, const char *message)
{
    *ret_event = (struct claim_event){type, reason, message};
    return CLAIM_WAIT;
}

/* Returns the next step of a claim for which no volume was found. */
static enum claim_step claim_step_without_volume(struct arena *arena, const struct claim_view *view,
                                                 struct json **ret_patch,
                                                 struct claim_event *ret_event)
{
    const char *named = named_volume(view->claim), *class_ = claim_class_name(view->claim);
    const char *provisioner = json_get_string(view->class_, "provisioner", "");
    if (named[0] && str_eq(claim_phase_of(view->claim), "Lost"))
        return CLAIM_DONE;
    if (named[0] && str_eq(claim_phase_of(view->claim), "Bound")) {
        claim_set_event(ret_event, "Warning", "ClaimLost",
                        "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
        *ret_patch = status_patch(arena, "Lost");
        return CLAIM_LOSE;
    }
    if (named[0])
        return claim_set_event(ret_event, "Normal", "FailedBinding",
                               arena_printf(arena, "volume \"%s\" not found", named));
    if (class_[0] == '\0')
        return claim_set_event(
            ret_event, "Normal", "FailedBinding",
            "no persistent volumes available for this claim and no storage class is set");
    if (str_eq(provisioner, "kubernetes.io/no-provisioner"))
        return claim_set_event(ret_event, "Warning", "ProvisioningFailed",
                               "no volume plugin matched name: kubernetes.io/no-provisioner");
    if (view->overdue && !str_eq(provisioner, CLAIM_PROVISIONER)) {
        claim_set_event(
            ret_event, "Normal", "ProvisionedHere",
            arena_printf(arena,
                         "class \"%s\" has no provisioner here: the claim gets a directory of "
                         "this machine, as with class \"" CLAIM_CLASS "\"",
                         class_));
        return CLAIM_MAKE_VOLUME;
    }
    if (!view->class_)
        return claim_set_event(
            ret_event, "Warning", "ProvisioningFailed",
            arena_printf(arena, "storageclass.storage.k8s.io \"%s\" not found", class_));
    if (!str_eq(provisioner, CLAIM_PROVISIONER))
        return claim_set_event(
            ret_event, "Normal", "ExternalProvisioning",
            arena_printf(arena,
                         "waiting for a volume to be created, either by external "
                         "provisioner \"%s\" or manually created by system "
                         "administrator",
                         provisioner));
    return CLAIM_MAKE_VOLUME;
}

/* Returns the next step of a claim whose volume no claim has taken yet: the volume has no claimRef,
 * or its claimRef has no uid. */
static enum claim_step take_volume(struct arena *arena, const struct claim_view *view,
                                   struct json **ret_patch, struct claim_event *ret_event)
{
    const char *mismatch = claim_mismatch(view->claim, view->volume);
    if (mismatch)
        return claim_set_event(ret_event, "Warning", "VolumeMismatch",
                               arena_printf(arena, "Cannot bind to requested volume \"%s\": %s",
                                            kube_meta_name(view->volume), mismatch));
    *ret_patch = reference_patch(arena, view->volume, view->claim);
    return CLAIM_PATCH_VOLUME;
}

/* Returns whether the class delays binding until a pod with a node uses the claim, and no such pod
 * exists yet. `owner` is the uid in the volume's claimRef. */
static bool waits_for_consumer(const struct claim_view *view, const char *owner)
{
    return !view->used && !owner[0] && !named_volume(view->claim)[0] &&
           str_eq(json_get_string(view->class_, "volumeBindingMode", ""), "WaitForFirstConsumer");
}

static bool was_provisioned_here(const struct json *volume)
{
    return str_eq(kube_meta_annotation(volume, "pv.kubernetes.io/provisioned-by"),
                  CLAIM_PROVISIONER);
}

enum claim_step claim_next_step(struct arena *arena, const struct claim_view *view,
                                struct json **ret_patch, struct claim_event *ret_event)
{
    const struct json *claim = view->claim, *volume = view->volume;
    const char *owner = json_get_string(json_at(volume, "spec", "claimRef", NULL), "uid", "");
    *ret_patch = NULL;
    *ret_event = (struct claim_event){0};
    if (kube_meta_is_deleting(claim)) {
        if (!view->used)
            *ret_patch = garbage_finalizer_patch(arena, claim, CLAIM_PROTECTION);
        return *ret_patch ? CLAIM_UNPROTECT : CLAIM_DONE;
    }
    if (waits_for_consumer(view, owner))
        return claim_set_event(ret_event, "Normal", "WaitForFirstConsumer",
                               "waiting for first consumer to be created before binding");
    if (!volume)
        return claim_step_without_volume(arena, view, ret_patch, ret_event);
    if (!owner[0])
        return take_volume(arena, view, ret_patch, ret_event);
    if (!str_eq(owner, kube_meta_uid(claim)))
        return claim_set_event(ret_event, "Warning", "FailedBinding",
                               arena_printf(arena,
                                            "volume \"%s\" already bound to a different claim.",
                                            kube_meta_name(volume)));
    if (named_volume(claim)[0] == '\0') {
        *ret_patch = json_object(arena);
        json_set_string(arena, json_ensure_object(arena, *ret_patch, "spec"), "volumeName",
                        kube_meta_name(volume));
        if (was_provisioned_here(volume))
            claim_set_event(
                ret_event, "Normal", "ProvisioningSucceeded",
                arena_printf(arena, "Successfully provisioned volume %s", kube_meta_name(volume)));
        return CLAIM_PATCH_CLAIM;
    }
    if (!str_eq(claim_phase_of(volume), "Bound")) {
        *ret_patch = status_patch(arena, "Bound");
        return CLAIM_PATCH_VOLUME_STATUS;
    }
    if (!str_eq(claim_phase_of(claim), "Bound")) {
        *ret_patch = bound_patch(arena, volume);
        return CLAIM_PATCH_STATUS;
    }
    return CLAIM_DONE;
}

/* ---- Volumes --------------------------------------------------------------------------------- */

enum volume_step claim_volume_next_step(struct arena *arena, const struct json *volume,
                                        const struct json *claim, struct json **ret_patch)
{
    const struct json *spec = json_get(volume, "spec"), *reference = json_get(spec, "claimRef");
    const char *owner = json_get_string(reference, "uid", ""), *phase = claim_phase_of(volume);
    bool released = owner[0] && (!claim || !str_eq(owner, kube_meta_uid(claim)));
    *ret_patch = NULL;
    if ((released && str_eq(phase, "Bound")) || (!reference && str_eq(phase, "Released"))) {
        *ret_patch = status_patch(arena, released ? "Released" : "Available");
        return VOLUME_PATCH_STATUS;
    }
    if (kube_meta_is_deleting(volume)) {
        if (!str_eq(phase, "Bound"))
            *ret_patch = garbage_finalizer_patch(arena, volume, CLAIM_VOLUME_PROTECTION);
        return *ret_patch ? VOLUME_UNPROTECT : VOLUME_DONE;
    }
    bool is_reclaimed =
        str_eq(json_get_string(spec, "persistentVolumeReclaimPolicy", ""), "Delete");
    return released && is_reclaimed ? VOLUME_DELETE : VOLUME_DONE;
}
