/* Data of claims that are gone; see volume/claim_data.h. */
#include "node/volume/claim_data.h"

#include "node/pod/status.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdio.h>
#include <string.h>

/* Ephemeral volumes do not count: their claim stays until the pod has ended, and their data lies
 * where no other claim's does. */
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
    const char *place = kube_meta_annotation(volume, CLAIM_DATA_ANNOTATION);
    const char *slash = place ? strchr(place, '/') : NULL;
    return slash && str_is_dns_subdomain(slash + 1) ? slash + 1 : NULL;
}

/* The two names of the annotation, checked because they become a path. */
static bool split_place(struct arena *arena, const struct json *volume, const char **ret_namespace,
                        const char **ret_claim)
{
    const char *place = kube_meta_annotation(volume, CLAIM_DATA_ANNOTATION);
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

struct deletion {
    struct loop_work work;
    char *path;
    struct err err;
};

static void delete_now(struct loop_work *work)
{
    struct deletion *deletion = CONTAINER_OF(work, struct deletion, work);
    (void)file_remove_tree(deletion->path, &deletion->err);
}

static void deleted(struct loop_work *work)
{
    struct deletion *deletion = CONTAINER_OF(work, struct deletion, work);
    if (deletion->err.code)
        log_warning("volume", "%s", deletion->err.message);
    free(deletion->path);
    free(deletion);
}

void claim_data_delete(struct loop *loop, const char *state_dir, const struct json *volume)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *namespace_, *claim;
    if (!split_place(arena, volume, &namespace_, &claim))
        return;
    _cleanup_free_ char *path = mem_printf("%s/volumes/%s/%s", state_dir, namespace_, claim);
    struct deletion *deletion = mem_zalloc(sizeof(*deletion));
    /* Out of the way first, so that a new claim of that name finds nothing of the old. */
    deletion->path = mem_printf("%s/volumes/.deleted-%s", state_dir, kube_meta_name(volume));
    if (rename(path, deletion->path) < 0) {
        free(deletion->path);
        free(deletion);
        return; /* no pod ever used it */
    }
    deletion->work = (struct loop_work){.work = delete_now, .done = deleted};
    loop_work_start(loop, &deletion->work);
}
