/* The disk a pod uses; see limits/storage.h. */
#include "node/limits/storage.h"

#include "base/file_walk.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/quantity.h"

#include <errno.h>
#include <string.h>

/* False: there is no such limit. One of zero is none for a volume. */
static bool read_limit(const struct json *value, struct kube_quantity *ret)
{
    return value && kube_quantity_from_json(value, ret, NULL) == 0;
}

static bool volume_limit(const struct json *volume, struct kube_quantity *ret)
{
    return read_limit(json_at(volume, "emptyDir", "sizeLimit", NULL), ret) && ret->nano > 0;
}

static bool container_limit(const struct json *container, struct kube_quantity *ret)
{
    return read_limit(json_at(container, "resources", "limits", "ephemeral-storage", NULL), ret);
}

/* The sum of the containers that have one; an init container runs alone. */
static bool pod_limit(const struct json *pod, struct kube_quantity *ret)
{
    struct kube_quantity limit;
    bool found = false;
    *ret = (struct kube_quantity){0};
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        if (!container_limit(container, &limit))
            continue;
        if (found)
            kube_quantity_add(ret, &limit);
        else
            *ret = limit;
        found = true;
    }
    JSON_EACH (container, json_at(pod, "spec", "initContainers", NULL)) {
        if (!container_limit(container, &limit))
            continue;
        if (!found || kube_quantity_compare(&limit, ret) > 0)
            *ret = limit;
        found = true;
    }
    return found;
}

bool storage_is_limited(const struct json *pod)
{
    struct kube_quantity limit;
    JSON_EACH (volume, json_at(pod, "spec", "volumes", NULL)) {
        if (volume_limit(volume, &limit))
            return true;
    }
    return pod_limit(pod, &limit);
}

/* ---- where it lies --------------------------------------------------------------------------- */

/* What lies in memory has the size of its file system. A secret counts for nobody. */
static bool volume_kind(const struct json *volume, enum storage_kind *ret)
{
    const struct json *empty = json_get(volume, "emptyDir");
    *ret = empty ? STORAGE_EMPTY_DIR : STORAGE_FILES;
    return empty ? !str_eq(json_get_string(empty, "medium", ""), "Memory")
                 : json_get(volume, "configMap") || json_get(volume, "downwardAPI");
}

size_t storage_places(struct arena *arena, const struct json *pod, const char *pod_dir,
                      struct storage_place **ret)
{
    static const char *const LISTS[] = {"containers", "initContainers"};
    const struct json *spec = json_get(pod, "spec");
    size_t most = json_count(json_get(spec, "volumes")), count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++)
        most += 2 * json_count(json_get(spec, LISTS[i]));
    struct storage_place *places = arena_alloc(arena, most * sizeof(*places));
    JSON_EACH (volume, json_get(spec, "volumes")) {
        const char *name = arena_strdup(arena, json_get_string(volume, "name", ""));
        enum storage_kind kind;
        if (volume_kind(volume, &kind))
            places[count++] = (struct storage_place){
                kind, name, arena_printf(arena, "%s/volumes/%s", pod_dir, name), 0};
    }
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (container, json_get(spec, LISTS[i])) {
            const char *name = arena_strdup(arena, json_get_string(container, "name", ""));
            places[count++] = (struct storage_place){
                STORAGE_LAYER, name, arena_printf(arena, "%s/layers/%s", pod_dir, name), 0};
            places[count++] = (struct storage_place){STORAGE_LOGS, name,
                                                     arena_printf(arena, "%s/logs", pod_dir), 0};
        }
    }
    *ret = places;
    return count;
}

/* ---- counting -------------------------------------------------------------------------------- */

struct count {
    struct storage_place *place;
    size_t *left; /* entries that may still be looked at */
};

/* Files of a log are named after their container, whose name has no dot. */
static bool is_other_log(const struct storage_place *place, const char *name)
{
    size_t size = strlen(place->name);
    return place->kind == STORAGE_LOGS &&
           (strncmp(name, place->name, size) != 0 || name[size] != '.');
}

static int count_entry(void *context, int directory, const char *name, const struct stat *info)
{
    const struct count *count = context;
    if (*count->left == 0)
        return ECANCELED;
    --*count->left;
    /* Of a file with several names each has its part. */
    if (!is_other_log(count->place, name))
        count->place->used +=
            (int64_t)info->st_blocks * 512 /
            (S_ISDIR(info->st_mode) || !info->st_nlink ? 1 : (int64_t)info->st_nlink);
    return 0;
}

void storage_measure(struct storage_place *places, size_t count)
{
    size_t left = STORAGE_ENTRIES_MAX;
    for (size_t i = 0; i < count; i++) {
        struct count one = {&places[i], &left};
        const struct file_walk walk = {.visit = count_entry, .context = &one, .verb = "measure"};
        /* What could not be read, or moved while it was, is counted next time or not at all: a
         * pod is evicted for what was found only. */
        (void)file_walk(&walk, places[i].path, NULL);
    }
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Of a volume, a container (name), or of all (NULL). */
static int64_t sum(const struct storage_place *places, size_t count, bool volumes, const char *name)
{
    int64_t used = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_volume = places[i].kind == STORAGE_EMPTY_DIR || places[i].kind == STORAGE_FILES;
        if (!name || (is_volume == volumes && str_eq(places[i].name, name)))
            used += places[i].used;
    }
    return used;
}

static const char *limit_text(struct arena *arena, const struct kube_quantity *limit)
{
    char text[KUBE_QUANTITY_TEXT_MAX];
    kube_quantity_format(limit, text);
    return arena_strdup(arena, text);
}

const char *storage_judge(struct arena *arena, const struct json *pod,
                          const struct storage_place *places, size_t count)
{
    struct kube_quantity limit;
    JSON_EACH (volume, json_at(pod, "spec", "volumes", NULL)) {
        const char *name = json_get_string(volume, "name", "");
        if (volume_limit(volume, &limit) &&
            sum(places, count, true, name) > kube_quantity_value(&limit))
            return arena_printf(arena, "Usage of EmptyDir volume \"%s\" exceeds the limit \"%s\". ",
                                name, limit_text(arena, &limit));
    }
    if (pod_limit(pod, &limit) && sum(places, count, false, NULL) > kube_quantity_value(&limit))
        return arena_printf(
            arena, "Pod ephemeral local storage usage exceeds the total limit of containers %s. ",
            limit_text(arena, &limit));
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        const char *name = json_get_string(container, "name", "");
        if (container_limit(container, &limit) &&
            sum(places, count, false, name) > kube_quantity_value(&limit))
            return arena_printf(arena,
                                "Container %s exceeded its local ephemeral storage limit \"%s\". ",
                                name, limit_text(arena, &limit));
    }
    return NULL;
}
