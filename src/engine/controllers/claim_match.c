/* Compares volumes with a claim; implements claim_mismatch() of claim_match.h, and
 * claim_class_name() and claim_prefers() of claim_binder.h. */
#include "engine/controllers/claim_match.h"

#include "base/str.h"
#include "engine/controllers/claim_binder.h"
#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/selector.h"

const char *claim_class_name(const struct json *object)
{
    const char *old = kube_meta_annotation(object, "volume.beta.kubernetes.io/storage-class");
    return old ? old : json_get_string(json_get(object, "spec"), "storageClassName", "");
}

static struct kube_quantity claim_parse_size(const struct json *storage)
{
    struct kube_quantity quantity = {0};
    (void)kube_quantity_from_json(storage, &quantity, NULL);
    return quantity;
}

static struct kube_quantity capacity_of(const struct json *volume)
{
    return claim_parse_size(json_at(volume, "spec", "capacity", "storage", NULL));
}

static bool has_mode(const struct json *modes, const char *wanted)
{
    JSON_EACH (mode, modes) {
        if (str_eq(json_text(mode), wanted))
            return true;
    }
    return false;
}

const char *claim_mismatch(const struct json *claim, const struct json *volume)
{
    const struct json *claim_spec = json_get(claim, "spec"),
                      *volume_spec = json_get(volume, "spec");
    struct kube_quantity wanted =
        claim_parse_size(json_at(claim_spec, "resources", "requests", "storage", NULL));
    struct kube_quantity capacity = capacity_of(volume);
    if (kube_quantity_compare(&capacity, &wanted) < 0)
        return "requested PV is too small";
    if (!str_eq(claim_class_name(claim), claim_class_name(volume)))
        return "storageClassName does not match";
    if (!str_eq(json_get_string(claim_spec, "volumeMode", "Filesystem"),
                json_get_string(volume_spec, "volumeMode", "Filesystem")))
        return "incompatible volumeMode";
    JSON_EACH (mode, json_get(claim_spec, "accessModes")) {
        if (!has_mode(json_get(volume_spec, "accessModes"), json_text(mode)))
            return "incompatible accessMode";
    }
    return NULL;
}

/* Returns whether the volume's claimRef names this claim. A user may set claimRef before the claim
 * exists; the claimRef then has no uid. */
static bool is_reserved_for(const struct json *volume, const struct json *claim)
{
    const struct json *reference = json_at(volume, "spec", "claimRef", NULL);
    const char *uid = json_get_string(reference, "uid", "");
    return str_eq(json_get_string(reference, "namespace", ""), kube_meta_namespace(claim)) &&
           str_eq(json_get_string(reference, "name", ""), kube_meta_name(claim)) &&
           (uid[0] == '\0' || str_eq(uid, kube_meta_uid(claim)));
}

static bool is_selected(struct arena *arena, const struct json *claim, const struct json *volume)
{
    const struct json *wanted = json_at(claim, "spec", "selector", NULL);
    struct kube_selector selector;
    return !wanted || (kube_selector_from_json(arena, wanted, &selector, NULL) == 0 &&
                       kube_selector_matches(&selector, kube_meta_labels(volume)));
}

bool claim_prefers(struct arena *arena, const struct json *claim, const struct json *volume,
                   const struct json *best)
{
    bool is_reserved = is_reserved_for(volume, claim),
         best_is_reserved = best && is_reserved_for(best, claim);
    const char *phase = json_get_string(json_get(volume, "status"), "phase", "");
    if (best_is_reserved || kube_meta_is_deleting(volume) || claim_mismatch(claim, volume))
        return false;
    if (is_reserved)
        return true;
    if (json_at(volume, "spec", "claimRef", NULL) || !str_eq(phase, "Available") ||
        !is_selected(arena, claim, volume))
        return false;
    struct kube_quantity size = capacity_of(volume), least = capacity_of(best);
    return !best || kube_quantity_compare(&size, &least) < 0;
}
