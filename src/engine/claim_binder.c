/* Binding claims; see claim_binder.h. */
#include "engine/claim_binder.h"

#include "base/str.h"
#include "kube/object.h"
#include "kube/resource.h"

const char *claim_volume_name(struct arena *arena, const struct json *claim)
{
    const char *named = json_get_string(json_get(claim, "spec"), "volumeName", "");
    return named[0] ? named : arena_printf(arena, "pvc-%s", kube_meta_uid(claim));
}

bool claim_owns_volume(const struct json *claim)
{
    const char *named = json_get_string(json_get(claim, "spec"), "volumeName", "");
    return named[0] == '\0' ||
           (str_has_prefix(named, "pvc-") && str_eq(named + 4, kube_meta_uid(claim)));
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

static void copy(struct arena *arena, struct json *target, const char *name,
                 const struct json *value)
{
    if (value)
        json_set(arena, target, name, json_clone(arena, value));
}

struct json *claim_make_volume(struct arena *arena, const struct json *claim,
                               const struct json *class_)
{
    const struct json *asked = json_get(claim, "spec");
    struct json *volume = kube_object_make(arena, &KUBE_PVS, NULL, claim_volume_name(arena, claim));
    kube_meta_set_annotation(arena, volume, "pv.kubernetes.io/provisioned-by", CLAIM_PROVISIONER);
    kube_meta_set_annotation(
        arena, volume, CLAIM_WHERE,
        arena_printf(arena, "%s/%s", kube_meta_namespace(claim), kube_meta_name(claim)));
    struct json *spec = json_ensure_object(arena, volume, "spec");
    struct json *capacity = json_ensure_object(arena, spec, "capacity");
    copy(arena, capacity, "storage", json_at(asked, "resources", "requests", "storage", NULL));
    copy(arena, spec, "accessModes", json_get(asked, "accessModes"));
    copy(arena, spec, "volumeMode", json_get(asked, "volumeMode"));
    copy(arena, spec, "storageClassName", json_get(asked, "storageClassName"));
    json_set_string(arena, spec, "persistentVolumeReclaimPolicy",
                    json_get_string(class_, "reclaimPolicy", "Delete"));
    json_set(arena, spec, "claimRef", claim_reference(arena, claim));
    return volume;
}

static struct json *phase_patch(struct arena *arena, const struct json *volume,
                                const struct json *claim)
{
    struct json *patch = json_object(arena);
    struct json *status = json_ensure_object(arena, patch, "status");
    json_set_string(arena, status, "phase", "Bound");
    if (claim) {
        copy(arena, status, "accessModes", json_at(volume, "spec", "accessModes", NULL));
        copy(arena, status, "capacity", json_at(volume, "spec", "capacity", NULL));
    }
    return patch;
}

static bool is_bound(const struct json *object)
{
    return str_eq(json_get_string(json_get(object, "status"), "phase", ""), "Bound");
}

enum claim_step claim_next_step(struct arena *arena, const struct json *claim,
                                const struct json *class_, const struct json *volume,
                                struct json **ret_patch)
{
    const char *provisioner = json_get_string(class_, "provisioner", CLAIM_PROVISIONER);
    *ret_patch = NULL;
    if (kube_meta_is_deleting(claim))
        return CLAIM_DONE;
    if (!volume && claim_owns_volume(claim) && !str_eq(provisioner, CLAIM_PROVISIONER))
        return CLAIM_WAIT_PROVISIONER;
    if (!volume)
        return claim_owns_volume(claim) ? CLAIM_MAKE_VOLUME : CLAIM_WAIT;
    const struct json *reference = json_at(volume, "spec", "claimRef", NULL);
    const char *owner = json_get_string(reference, "uid", "");
    if (owner[0] && !str_eq(owner, kube_meta_uid(claim)))
        return CLAIM_WAIT;
    if (!owner[0]) {
        *ret_patch = json_object(arena);
        json_set(arena, json_ensure_object(arena, *ret_patch, "spec"), "claimRef",
                 claim_reference(arena, claim));
        return CLAIM_PATCH_VOLUME;
    }
    if (str_is_empty(json_get_string(json_get(claim, "spec"), "volumeName", ""))) {
        *ret_patch = json_object(arena);
        json_set_string(arena, json_ensure_object(arena, *ret_patch, "spec"), "volumeName",
                        kube_meta_name(volume));
        return CLAIM_PATCH_CLAIM;
    }
    if (!is_bound(volume)) {
        *ret_patch = phase_patch(arena, volume, NULL);
        return CLAIM_PATCH_VOLUME_STATUS;
    }
    if (!is_bound(claim)) {
        *ret_patch = phase_patch(arena, volume, claim);
        return CLAIM_PATCH_STATUS;
    }
    return CLAIM_DONE;
}
