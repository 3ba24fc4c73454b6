/* The cells of PersistentVolumes, claims and StorageClasses; see cells.h. */
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/storage_class.h"
#include "kube/table/cells.h"

static const char *phase_or_terminating(const struct json *object)
{
    if (kube_meta_is_deleting(object))
        return "Terminating";
    return json_get_string(json_get(object, "status"), "phase", "");
}

/* Returns a quantity as it is written. It may be a string or a number. */
static struct json *quantity_cell(struct arena *arena, const struct json *quantity)
{
    if (!quantity || quantity->type == JSON_NULL)
        return json_string(arena, "");
    if (quantity->type == JSON_STRING)
        return json_string(arena, quantity->text);
    return json_string(arena, json_to_string(arena, quantity));
}

static struct json *access_cell(struct arena *arena, const struct json *modes)
{
    static const char *const SHORT[][2] = {{"ReadWriteOnce", "RWO"},
                                           {"ReadOnlyMany", "ROX"},
                                           {"ReadWriteMany", "RWX"},
                                           {"ReadWriteOncePod", "RWOP"}};
    char *text = arena_strdup(arena, "");
    for (size_t i = 0; i < ARRAY_SIZE(SHORT); i++) {
        JSON_EACH (mode, modes) {
            if (!str_eq(json_text(mode), SHORT[i][0]))
                continue;
            text = arena_printf(arena, "%s%s%s", text, *text ? "," : "", SHORT[i][1]);
            break;
        }
    }
    return json_string(arena, text);
}

struct json *table_volume_mode(struct arena *arena, const struct json *object, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(object, "spec"), "volumeMode", "<unset>"));
}

struct json *table_claim_status(struct arena *arena, const struct json *claim, int64_t now_ms)
{
    return json_string(arena, phase_or_terminating(claim));
}

struct json *table_claim_volume(struct arena *arena, const struct json *claim, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(claim, "spec"), "volumeName", ""));
}

static bool is_bound(const struct json *claim)
{
    return !str_is_empty(json_get_string(json_get(claim, "spec"), "volumeName", NULL));
}

struct json *table_claim_capacity(struct arena *arena, const struct json *claim, int64_t now_ms)
{
    return quantity_cell(
        arena, is_bound(claim) ? json_at(claim, "status", "capacity", "storage", NULL) : NULL);
}

struct json *table_claim_access(struct arena *arena, const struct json *claim, int64_t now_ms)
{
    return access_cell(arena,
                       is_bound(claim) ? json_at(claim, "status", "accessModes", NULL) : NULL);
}

struct json *table_claim_class(struct arena *arena, const struct json *claim, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(claim, "spec"), "storageClassName", ""));
}

struct json *table_volume_capacity(struct arena *arena, const struct json *volume, int64_t now_ms)
{
    return quantity_cell(arena, json_at(volume, "spec", "capacity", "storage", NULL));
}

struct json *table_volume_access(struct arena *arena, const struct json *volume, int64_t now_ms)
{
    return access_cell(arena, json_at(volume, "spec", "accessModes", NULL));
}

struct json *table_volume_reclaim(struct arena *arena, const struct json *volume, int64_t now_ms)
{
    return json_string(
        arena, json_get_string(json_get(volume, "spec"), "persistentVolumeReclaimPolicy", ""));
}

struct json *table_volume_status(struct arena *arena, const struct json *volume, int64_t now_ms)
{
    return json_string(arena, phase_or_terminating(volume));
}

struct json *table_volume_claim(struct arena *arena, const struct json *volume, int64_t now_ms)
{
    const struct json *claim = json_at(volume, "spec", "claimRef", NULL);
    if (!claim)
        return json_string(arena, "");
    return json_stringf(arena, "%s/%s", json_get_string(claim, "namespace", ""),
                        json_get_string(claim, "name", ""));
}

struct json *table_volume_class(struct arena *arena, const struct json *volume, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(volume, "spec"), "storageClassName", ""));
}

struct json *table_volume_reason(struct arena *arena, const struct json *volume, int64_t now_ms)
{
    return json_string(arena, json_get_string(json_get(volume, "status"), "reason", ""));
}

struct json *table_class_name(struct arena *arena, const struct json *class_, int64_t now_ms)
{
    return json_stringf(arena, "%s%s", kube_meta_name(class_),
                        kube_class_is_default(class_) ? " (default)" : "");
}

struct json *table_class_provisioner(struct arena *arena, const struct json *class_, int64_t now_ms)
{
    return json_string(arena, json_get_string(class_, "provisioner", ""));
}

struct json *table_class_reclaim(struct arena *arena, const struct json *class_, int64_t now_ms)
{
    return json_string(arena, json_get_string(class_, "reclaimPolicy", "Delete"));
}

struct json *table_class_binding(struct arena *arena, const struct json *class_, int64_t now_ms)
{
    return json_string(arena, json_get_string(class_, "volumeBindingMode", "Immediate"));
}

struct json *table_class_expansion(struct arena *arena, const struct json *class_, int64_t now_ms)
{
    return json_bool(arena, json_get_bool(class_, "allowVolumeExpansion", false));
}
