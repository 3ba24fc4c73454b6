/* PersistentVolumeClaims and PersistentVolumes: their rows, defaults and validation. */
#include "kube/kinds/row.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/pod/validate.h"
#include "kube/kinds/rule.h"
#include "kube/kinds/volume.h"
#include "kube/object.h"
#include "kube/quantity.h"

#include <string.h>

static const char *const ACCESS_MODES[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                           "ReadWriteOncePod", NULL};

static const char *const VOLUME_MODES[] = {"Block", "Filesystem", NULL};

static void set_phase(struct arena *arena, struct json *object, const char *phase)
{
    struct json *status = json_object(arena);
    json_set_string(arena, status, "phase", phase);
    json_set(arena, object, "status", status);
}

static void add_protection(struct arena *arena, struct json *object, const char *finalizer)
{
    if (!kube_meta_has_finalizer(object, finalizer))
        kube_meta_add_finalizer(arena, object, finalizer);
}

/* Validates a list of access modes. `missing` is the detail of the error about an empty list; or
 * NULL. */
static void validate_modes(struct field_errors *errors, const struct json *modes,
                           const char *missing, const char *field)
{
    bool alone = false, others = false;
    if (json_count(modes) == 0)
        field_required(errors, field, missing);
    JSON_EACH (mode, modes) {
        const char *text = json_text(mode);
        bool known = false;
        for (size_t i = 0; ACCESS_MODES[i]; i++)
            known |= str_eq(text, ACCESS_MODES[i]);
        if (!known)
            field_unsupported(errors, field, text ? text : "", ACCESS_MODES);
        else if (str_eq(text, "ReadWriteOncePod"))
            alone = true;
        else
            others = true;
    }
    if (alone && others)
        field_forbidden(errors, field, "may not use ReadWriteOncePod with other access modes");
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

static void claim_create(struct arena *arena, struct json *claim)
{
    set_phase(arena, claim, "Pending");
    add_protection(arena, claim, CLAIM_PROTECTION);
}

/* Returns the spec without the fields that may change: volumeName while it is empty, and, for a
 * bound claim, the requested size and volumeAttributesClassName. */
static struct json *fixed_part(struct arena *arena, const struct json *claim,
                               const struct json *old)
{
    struct json *spec = json_clone(arena, json_get(claim, "spec"));
    if (str_eq(json_get_string(json_get(old, "status"), "phase", ""), "Bound")) {
        json_remove(json_at(spec, "resources", "requests", NULL), "storage");
        json_remove(spec, "volumeAttributesClassName");
    }
    if (str_is_empty(json_get_string(json_get(old, "spec"), "volumeName", "")))
        json_remove(spec, "volumeName");
    return spec;
}

static struct kube_quantity storage_at(const struct json *resources)
{
    struct kube_quantity quantity = {0};
    (void)kube_quantity_from_json(json_get(resources, "storage"), &quantity, NULL);
    return quantity;
}

/* A request that was raised may be lowered again, but it must stay above the current capacity. */
static void validate_shrink(struct field_errors *errors, const struct json *claim,
                            const struct json *old)
{
    struct kube_quantity wanted = storage_at(json_at(claim, "spec", "resources", "requests", NULL));
    struct kube_quantity stored = storage_at(json_at(old, "spec", "resources", "requests", NULL));
    struct kube_quantity has = storage_at(json_at(old, "status", "capacity", NULL));
    if (kube_quantity_compare(&wanted, &stored) < 0 && kube_quantity_compare(&wanted, &has) <= 0)
        field_forbidden(errors, "spec.resources.requests.storage",
                        "field can not be less than status.capacity");
}

void kube_claim_validate_spec(struct field_errors *errors, const struct json *spec,
                              const char *field)
{
    validate_modes(errors, json_get(spec, "accessModes"), "at least 1 access mode is required",
                   field_path(errors, "%s.accessModes", field));
    validate_storage(errors, json_at(spec, "resources", "requests", NULL),
                     field_path(errors, "%s.resources[storage]", field));
    rule_selector(errors, json_get(spec, "selector"), field_path(errors, "%s.selector", field));
    rule_name(errors, spec, "storageClassName", NAME_SUBDOMAIN, false, field);
    rule_word(errors, spec, "volumeMode", VOLUME_MODES, field);
    if (str_eq(json_get_string(spec, "volumeMode", ""), "Block"))
        field_invalid(errors, field_path(errors, "%s.volumeMode", field),
                      json_get(spec, "volumeMode"),
                      "block volumes are not supported here: use Filesystem");
}

static void claim_validate(struct field_errors *errors, const struct json *claim,
                           const struct json *old)
{
    const struct json *spec = json_get(claim, "spec");
    kube_claim_validate_spec(errors, spec, "spec");
    if (!old)
        return;
    if (!json_equal(fixed_part(errors->arena, claim, old), fixed_part(errors->arena, old, old)))
        field_forbidden(errors, "spec",
                        "spec is immutable after creation except resources.requests and "
                        "volumeAttributesClassName for bound claims");
    validate_shrink(errors, claim, old);
    rule_immutable(errors, json_get(spec, "volumeMode"), json_at(old, "spec", "volumeMode", NULL),
                   "volumeMode");
}

static void volume_create(struct arena *arena, struct json *volume)
{
    set_phase(arena, volume, "Available");
    add_protection(arena, volume, CLAIM_VOLUME_PROTECTION);
}

/* The sources of a volume in Kubernetes' order, and the fields that each source requires. If a
 * volume has two sources, the later one in this order is refused. */
static const struct volume_source {
    const char *name;
    const char *needed[2];
    void (*validate)(struct field_errors *errors, const struct json *source, const char *field);
    const char *shown; /* the source's name in Kubernetes' messages; NULL: `name` */
} SOURCES[] = {
    {"hostPath", {NULL}, kube_pod_validate_host_path},
    {"gcePersistentDisk", {"pdName"}, .shown = "persistentDisk"},
    {"awsElasticBlockStore", {"volumeID"}},
    {"glusterfs", {"endpoints", "path"}},
    {"flocker"},
    {"nfs", {NULL}, kube_pod_validate_nfs},
    {"rbd"},
    {"quobyte"},
    {"cephfs"},
    {"iscsi"},
    {"cinder", {"volumeID"}},
    {"fc"},
    {"flexVolume", {"driver"}},
    {"azureFile"},
    {"vsphereVolume", {"volumePath"}},
    {"photonPersistentDisk", {"pdID"}},
    {"portworxVolume", {"volumeID"}},
    {"azureDisk", {"diskName", "diskURI"}},
    {"scaleIO"},
    {"local", {"path"}},
    {"storageos"},
    {"csi", {"driver", "volumeHandle"}},
};

static void validate_source(struct field_errors *errors, const struct volume_source *row,
                            const struct json *spec)
{
    const struct json *source = json_get(spec, row->name);
    const char *field = field_path(errors, "spec.%s", row->shown ? row->shown : row->name);
    for (size_t i = 0; i < ARRAY_SIZE(row->needed) && row->needed[i]; i++)
        if (str_is_empty(json_get_string(source, row->needed[i], "")))
            field_required(errors, field_path(errors, "%s.%s", field, row->needed[i]), NULL);
    if (row->validate)
        row->validate(errors, source, field);
    if (!str_eq(row->name, "local"))
        return;
    rule_no_backsteps(errors, json_get_string(source, "path", ""), "spec.local.path");
    if (!json_get(spec, "nodeAffinity"))
        field_required(errors, "spec.nodeAffinity", "Local volume requires node affinity");
}

/* A volume has exactly one source. A volume that the claim controller makes has no source, but it
 * has the annotation VOLUME_DIRECTORY_ANNOTATION with the path of its data. */
static void validate_sources(struct field_errors *errors, const struct json *volume)
{
    const struct json *spec = json_get(volume, "spec");
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(SOURCES); i++) {
        if (!json_get(spec, SOURCES[i].name))
            continue;
        if (count++ > 0)
            field_forbidden(errors, field_path(errors, "spec.%s", SOURCES[i].name),
                            "may not specify more than 1 volume type");
        else
            validate_source(errors, &SOURCES[i], spec);
    }
    if (count == 0 && !kube_meta_annotation(volume, VOLUME_DIRECTORY_ANNOTATION))
        field_required(errors, "spec", "must specify a volume type");
}

static void validate_sources_kept(struct field_errors *errors, const struct json *spec,
                                  const struct json *before)
{
    for (size_t i = 0; i < ARRAY_SIZE(SOURCES); i++)
        if (!rule_same(json_get(spec, SOURCES[i].name), json_get(before, SOURCES[i].name)))
            field_forbidden(errors, "spec.persistentvolumesource",
                            "spec.persistentvolumesource is immutable after creation");
    rule_immutable(errors, json_get(spec, "volumeMode"), json_get(before, "volumeMode"),
                   "volumeMode");
}

static void validate_capacity(struct field_errors *errors, const struct json *capacity)
{
    static const char *const only[] = {"storage", NULL};
    if (json_count(capacity) == 0)
        field_required(errors, "spec.capacity", NULL);
    if (!json_get(capacity, "storage") || json_count(capacity) > 1)
        field_unsupported_value(errors, "spec.capacity",
                                json_count(capacity) ? capacity : json_null(errors->arena), only);
    if (json_get(capacity, "storage"))
        validate_storage(errors, capacity, "spec.capacity[storage]");
}

static void validate_reclaim(struct field_errors *errors, const struct json *spec)
{
    static const char *const policies[] = {"Delete", "Recycle", "Retain", NULL};
    const char *path = json_get_string(json_get(spec, "hostPath"), "path", "");
    bool root = path[0] && path[strspn(path, "/.")] == '\0';
    rule_word(errors, spec, "persistentVolumeReclaimPolicy", policies, "spec");
    if (root && str_eq(json_get_string(spec, "persistentVolumeReclaimPolicy", ""), "Recycle"))
        field_forbidden(errors, "spec.persistentVolumeReclaimPolicy",
                        "may not be 'recycle' for a hostPath mount of '/'");
}

static void volume_validate(struct field_errors *errors, const struct json *volume,
                            const struct json *old)
{
    const struct json *spec = json_get(volume, "spec"), *affinity = json_get(spec, "nodeAffinity");
    validate_modes(errors, json_get(spec, "accessModes"), NULL, "spec.accessModes");
    validate_capacity(errors, json_get(spec, "capacity"));
    validate_reclaim(errors, spec);
    validate_sources(errors, volume);
    rule_word(errors, spec, "volumeMode", VOLUME_MODES, "spec");
    rule_name(errors, spec, "storageClassName", NAME_SUBDOMAIN, false, "spec");
    if (affinity && !json_get(affinity, "required"))
        field_required(errors, "spec.nodeAffinity.required",
                       "must specify required node constraints");
    if (old)
        validate_sources_kept(errors, spec, json_get(old, "spec"));
}

static const struct kube_column CLAIM_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Status", "Phase of the claim, such as Pending or Bound.", table_claim_status),
    COLUMN_TEXT("Volume", "Volume that is bound to the claim.", table_claim_volume),
    COLUMN_TEXT("Capacity", "Capacity of the bound volume.", table_claim_capacity),
    COLUMN_TEXT("Access Modes", "Access modes of the bound volume.", table_claim_access),
    COLUMN_TEXT("StorageClass", "StorageClass that the claim requests.", table_claim_class),
    COLUMN_AGE,
    COLUMN_WIDE("VolumeMode", "Filesystem or Block.", table_volume_mode),
};

static const struct kube_column VOLUME_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Capacity", "Capacity of the volume.", table_volume_capacity),
    COLUMN_TEXT("Access Modes", "Access modes of the volume.", table_volume_access),
    COLUMN_TEXT("Reclaim Policy", "What happens to the volume after its claim is deleted.",
                table_volume_reclaim),
    COLUMN_TEXT("Status", "Phase of the volume, such as Available or Bound.", table_volume_status),
    COLUMN_TEXT("Claim", "Claim that the volume is bound to.", table_volume_claim),
    COLUMN_TEXT("StorageClass", "StorageClass of the volume.", table_volume_class),
    COLUMN_TEXT("Reason", "Why the volume failed.", table_volume_reason),
    COLUMN_AGE,
    COLUMN_WIDE("VolumeMode", "Filesystem or Block.", table_volume_mode),
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_PVCS, KUBE_PVC_KIND, "persistentvolumeclaims", "PersistentVolumeClaim",
        NAMESPACED,
    .schema = &TYPE_PERSISTENT_VOLUME_CLAIM,
    .singular = "persistentvolumeclaim",
    .short_names = NAMES("pvc"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(STATUS_OF("PersistentVolumeClaim")),
    .columns = COLUMNS(CLAIM_COLUMNS),
    .hooks = {.create = claim_create,
        .validate = claim_validate});

KUBE_CORE_KIND(KUBE_PVS, KUBE_PV_KIND, "persistentvolumes", "PersistentVolume", CLUSTER_WIDE,
    .schema = &TYPE_PERSISTENT_VOLUME,
    .singular = "persistentvolume",
    .short_names = NAMES("pv"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(STATUS_OF("PersistentVolume")),
    .columns = COLUMNS(VOLUME_COLUMNS),
    .hooks = {.create = volume_create, .validate = volume_validate});
