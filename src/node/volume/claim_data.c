/* Deletes the data of deleted claims; see volume/claim_data.h. */
#include "node/volume/claim_data.h"

#include "node/pod/status.h"

#include "base/str.h"
#include "kube/kinds/volume.h"
#include "kube/object.h"

#include <string.h>

/* Returns true if the pod uses the claim. Ephemeral volumes do not count: their claim exists until
 * the pod has ended, and no other claim shares their directory. */
static bool uses_claim(const struct json *pod, const char *claim)
{
    JSON_EACH (volume, json_at(pod, "spec", "volumes", NULL)) {
        const struct json *source = json_get(volume, "persistentVolumeClaim");
        if (str_eq(json_get_string(source, "claimName", ""), claim))
            return true;
    }
    return false;
}

const char *claim_data_directory(const struct json *volume)
{
    const char *place = kube_meta_annotation(volume, VOLUME_DIRECTORY_ANNOTATION);
    const char *slash = place ? strchr(place, '/') : NULL;
    return slash && str_is_dns_subdomain(slash + 1) ? slash + 1 : NULL;
}

/* Reads the two names of the annotation. Returns false if one of them is not valid: both become
 * parts of a path. */
static bool split_place(struct arena *arena, const struct json *volume, const char **ret_namespace,
                        const char **ret_claim)
{
    const char *place = kube_meta_annotation(volume, VOLUME_DIRECTORY_ANNOTATION);
    *ret_claim = claim_data_directory(volume);
    if (!*ret_claim)
        return false;
    *ret_namespace = arena_strndup(arena, place, (size_t)(*ret_claim - 1 - place));
    return str_is_dns_label(*ret_namespace);
}

bool claim_data_is_unwanted(const struct json *volume, struct kube_informer *claims,
                            struct kube_informer *pods)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *namespace_, *claim;
    const char *policy =
        json_get_string(json_get(volume, "spec"), "persistentVolumeReclaimPolicy", "");
    if (!str_eq(policy, "Delete") || !split_place(arena, volume, &namespace_, &claim) ||
        kube_informer_get(claims, namespace_, claim))
        return false;
    size_t position = 0;
    for (struct kube_object *pod; (pod = kube_informer_next(pods, namespace_, &position));)
        if (uses_claim(pod->json, claim) && !pod_phase_is_final(pod->json))
            return false;
    return true;
}

void claim_data_delete(struct trash *trash, const char *state_dir, const struct json *volume)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *namespace_, *claim;
    if (!split_place(arena, volume, &namespace_, &claim))
        return;
    /* If no pod ever used the volume, there is no directory. */
    (void)trash_throw(trash, arena_printf(arena, "%s/volumes/%s/%s", state_dir, namespace_, claim),
                      kube_meta_name(volume));
}
