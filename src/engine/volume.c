/* PersistentVolumeClaims and PersistentVolumes. */
#include "engine/kinds.h"

#include "base/str.h"
#include "engine/claim_binder.h"
#include "engine/rule.h"
#include "kube/object.h"
#include "kube/quantity.h"

static const char *const ACCESS_MODES[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                           "ReadWriteOncePod", NULL};

static const char *const VOLUME_MODES[] = {"Block", "Filesystem", NULL};

static void set_phase(struct arena *arena, struct json *object, const char *phase)
{
    struct json *status = json_object(arena);
    json_set_string(arena, status, "phase", phase);
    json_set(arena, object, "status", status);
}

static void validate_modes(struct field_errors *errors, const struct json *modes,
                           const char *missing)
{
    if (json_count(modes) == 0)
        field_required(errors, "spec.accessModes", missing);
    JSON_EACH (mode, modes) {
        const char *text = json_text(mode);
        bool known = false;
        for (size_t i = 0; ACCESS_MODES[i]; i++)
            known |= str_eq(text, ACCESS_MODES[i]);
        if (!known)
            field_unsupported(errors, "spec.accessModes", text ? text : "", ACCESS_MODES);
    }
}

static void validate_storage(struct field_errors *errors, const struct json *resources,
                             const char *field)
{
    const struct json *storage = json_get(resources, "storage");
    struct kube_quantity quantity;
    struct err err = ERR_INIT;
    if (!storage)
        field_required(errors, field, NULL);
    else if (kube_quantity_from_json(storage, &quantity, &err) < 0)
        field_invalid(errors, field, storage, "%s", err.message);
    else if (quantity.nano <= 0)
        field_invalid(errors, field, storage, "must be greater than zero");
}

void kind_claim_create(struct arena *arena, struct json *claim)
{
    set_phase(arena, claim, "Pending");
}

/* The spec without what may change: the size asked for, and the volume that the binder fills in. */
static struct json *fixed_part(struct arena *arena, const struct json *claim,
                               const struct json *old)
{
    struct json *spec = json_clone(arena, json_get(claim, "spec"));
    json_remove(spec, "resources");
    if (str_is_empty(json_get_string(json_get(old, "spec"), "volumeName", "")))
        json_remove(spec, "volumeName");
    return spec;
}

void kind_claim_validate(struct field_errors *errors, const struct json *claim,
                         const struct json *old)
{
    const struct json *spec = json_get(claim, "spec");
    validate_modes(errors, json_get(spec, "accessModes"), "at least 1 access mode is required");
    validate_storage(errors, json_at(spec, "resources", "requests", NULL),
                     "spec.resources[storage]");
    rule_selector(errors, json_get(spec, "selector"), "spec.selector");
    rule_name(errors, spec, "storageClassName", NAME_SUBDOMAIN, false, "spec");
    rule_word(errors, spec, "volumeMode", VOLUME_MODES, "spec");
    if (str_eq(json_get_string(spec, "volumeMode", ""), "Block"))
        field_invalid(errors, "spec.volumeMode", json_get(spec, "volumeMode"),
                      "there are no block devices on this machine: use Filesystem");
    if (old &&
        !json_equal(fixed_part(errors->arena, claim, old), fixed_part(errors->arena, old, old)))
        field_forbidden(errors, "spec",
                        "spec is immutable after creation except resources.requests for bound "
                        "claims");
}

void kind_volume_create(struct arena *arena, struct json *volume)
{
    set_phase(arena, volume, "Available");
}

/* Exactly one source; a volume that the binder makes has none, and says where its data is. */
static void validate_source(struct field_errors *errors, const struct json *volume)
{
    static const char *const plain[] = {"capacity",
                                        "accessModes",
                                        "claimRef",
                                        "persistentVolumeReclaimPolicy",
                                        "storageClassName",
                                        "mountOptions",
                                        "volumeMode",
                                        "nodeAffinity",
                                        "volumeAttributesClassName",
                                        NULL};
    size_t count = 0;
    JSON_EACH (member, json_get(volume, "spec")) {
        bool source = member->type == JSON_OBJECT;
        for (size_t i = 0; plain[i]; i++)
            source = source && !str_eq(member->name, plain[i]);
        if (source && count++ > 0)
            field_forbidden(errors, field_path(errors, "spec.%s", member->name),
                            "may not specify more than 1 volume type");
    }
    if (count == 0 && !kube_meta_annotation(volume, CLAIM_WHERE))
        field_required(errors, "spec", "must specify a volume type");
}

/* The sources of both, without what may change. */
static void validate_source_update(struct field_errors *errors, const struct json *volume,
                                   const struct json *old)
{
    const struct json *spec = json_get(volume, "spec"), *before = json_get(old, "spec");
    JSON_EACH (member, before) {
        bool source = member->type == JSON_OBJECT && !str_eq(member->name, "capacity") &&
                      !str_eq(member->name, "claimRef") && !str_eq(member->name, "nodeAffinity");
        if (source && !rule_same(member, json_get(spec, member->name)))
            field_forbidden(errors, "spec.persistentvolumesource",
                            "spec.persistentvolumesource is immutable after creation");
    }
    rule_immutable(errors, json_get(spec, "volumeMode"), json_get(before, "volumeMode"),
                   "spec.volumeMode");
}

void kind_volume_validate(struct field_errors *errors, const struct json *volume,
                          const struct json *old)
{
    static const char *const only[] = {"storage", NULL};
    static const char *const policies[] = {"Delete", "Recycle", "Retain", NULL};
    const struct json *spec = json_get(volume, "spec"), *capacity = json_get(spec, "capacity");
    validate_modes(errors, json_get(spec, "accessModes"), NULL);
    if (json_count(capacity) == 0)
        field_required(errors, "spec.capacity", NULL);
    if (!json_get(capacity, "storage") || json_count(capacity) > 1)
        field_unsupported(errors, "spec.capacity", "…", only);
    if (json_get(capacity, "storage"))
        validate_storage(errors, capacity, "spec.capacity[storage]");
    validate_source(errors, volume);
    rule_no_backsteps(errors, json_get_string(json_get(spec, "hostPath"), "path", ""),
                      "spec.hostPath.path");
    rule_word(errors, spec, "persistentVolumeReclaimPolicy", policies, "spec");
    rule_word(errors, spec, "volumeMode", VOLUME_MODES, "spec");
    rule_name(errors, spec, "storageClassName", NAME_SUBDOMAIN, false, "spec");
    if (old)
        validate_source_update(errors, volume, old);
}
