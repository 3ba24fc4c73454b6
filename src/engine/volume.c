/* PersistentVolumeClaims and PersistentVolumes. */
#include "engine/kinds.h"

#include "base/str.h"
#include "kube/object.h"
#include "kube/quantity.h"

static const char *const ACCESS_MODES[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                           "ReadWriteOncePod", NULL};

static void set_phase(struct arena *arena, struct json *object, const char *phase)
{
    struct json *status = json_object(arena);
    json_set_string(arena, status, "phase", phase);
    json_set(arena, object, "status", status);
}

static void validate_modes(struct field_errors *errors, const struct json *modes)
{
    if (json_count(modes) == 0)
        field_required(errors, "spec.accessModes", "at least 1 access mode is required");
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
    validate_modes(errors, json_get(spec, "accessModes"));
    validate_storage(errors, json_at(spec, "resources", "requests", NULL),
                     "spec.resources[storage]");
    if (!str_eq(json_get_string(spec, "volumeMode", ""), "Filesystem"))
        field_unsupported(errors, "spec.volumeMode", json_get_string(spec, "volumeMode", ""),
                          (const char *const[]){"Filesystem", NULL});
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

void kind_volume_validate(struct field_errors *errors, const struct json *volume,
                          const struct json *old)
{
    const struct json *spec = json_get(volume, "spec");
    validate_modes(errors, json_get(spec, "accessModes"));
    validate_storage(errors, json_get(spec, "capacity"), "spec.capacity[storage]");
}
