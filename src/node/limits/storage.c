/* Measures the disk space that a pod uses; see limits/storage.h. */
#include "node/limits/storage.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file_walk.h"
#include "kube/quantity.h"

#include <errno.h>
#include <string.h>

/* The maximum of walks through one place. A walk is repeated if a directory was moved during it. */
enum { WALKS_MAX = 4 };

/* Parses a limit. Returns false if `value` is NULL or is not a quantity. */
static bool read_limit(const struct json *value, struct kube_quantity *ret)
{
    return value && kube_quantity_from_json(value, ret, NULL) == 0;
}

/* Returns true for an emptyDir in memory. Its limit is the size of its file system. */
static bool is_in_memory(const struct json *volume)
{
    return str_eq(json_get_string(json_get(volume, "emptyDir"), "medium", ""), "Memory");
}

/* Finds the limit of a volume. Returns false if there is none. A limit of zero means no limit. */
static bool volume_limit(const struct json *volume, struct kube_quantity *ret)
{
    return !is_in_memory(volume) &&
           read_limit(json_at(volume, "emptyDir", "sizeLimit", NULL), ret) && ret->nano > 0;
}

static bool container_limit(const struct json *container, struct kube_quantity *ret)
{
    return read_limit(json_at(container, "resources", "limits", "ephemeral-storage", NULL), ret);
}

static bool storage_is_sidecar(const struct json *init)
{
    return str_eq(json_get_string(init, "restartPolicy", ""), "Always");
}

/* Computes the limit of the whole pod, and returns false if it has none. The limit is the sum over
 * the containers that run together. If an init container and the sidecars before it have a larger
 * sum, that sum counts. Containers without a limit count as zero. */
static bool pod_limit(const struct json *pod, struct kube_quantity *ret)
{
    static const char *const LISTS[] = {"initContainers", "containers"};
    struct kube_quantity limit, together = {0}, most = {0};
    bool found = false;
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL)) {
            if (!container_limit(container, &limit))
                continue;
            found = true;
            struct kube_quantity whole = together;
            kube_quantity_add(&whole, &limit);
            if (i == 1 || storage_is_sidecar(container))
                together = whole;
            if (kube_quantity_compare(&whole, &most) > 0)
                most = whole;
        }
    }
    *ret = most;
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

/* ---- places ---------------------------------------------------------------------------------- */

/* Finds the kind of a volume. Returns false for volumes that do not count. Only emptyDirs on disk,
 * configMap and downwardAPI count. */
static bool volume_kind(const struct json *volume, enum storage_kind *ret)
{
    const struct json *empty = json_get(volume, "emptyDir");
    *ret = empty ? STORAGE_EMPTY_DIR : STORAGE_FILES;
    return empty ? !is_in_memory(volume)
                 : json_get(volume, "configMap") || json_get(volume, "downwardAPI");
}

static void storage_add_place(struct storage_place **next, enum storage_kind kind, const char *name,
                              const char *path)
{
    *(*next)++ = (struct storage_place){.kind = kind, .name = name, .path = path};
}

size_t storage_places(struct arena *arena, const struct json *pod, const char *pod_dir,
                      struct storage_place **ret)
{
    static const char *const LISTS[] = {"containers", "initContainers"};
    const struct json *spec = json_get(pod, "spec");
    const bool is_limited = storage_is_limited(pod);
    size_t most = json_count(json_get(spec, "volumes"));
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++)
        most += 2 * json_count(json_get(spec, LISTS[i]));
    struct storage_place *next = arena_alloc(arena, most * sizeof(*next));
    *ret = next;
    JSON_EACH (volume, is_limited ? json_get(spec, "volumes") : NULL) {
        const char *name = arena_strdup(arena, json_get_string(volume, "name", ""));
        enum storage_kind kind;
        if (volume_kind(volume, &kind))
            storage_add_place(&next, kind, name,
                              arena_printf(arena, "%s/volumes/%s", pod_dir, name));
    }
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (container, json_get(spec, LISTS[i])) {
            const char *name = arena_strdup(arena, json_get_string(container, "name", ""));
            storage_add_place(&next, STORAGE_LAYER, name,
                              arena_printf(arena, "%s/layers/%s", pod_dir, name));
            if (is_limited)
                storage_add_place(&next, STORAGE_LOGS, name,
                                  arena_printf(arena, "%s/logs", pod_dir));
        }
    }
    return (size_t)(next - *ret);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Returns true for a log file of another container. The name of a log file is the container's name,
 * a dot, and more; a container's name has no dot. */
static bool is_other_log(const struct storage_place *place, const char *name)
{
    size_t size = strlen(place->name);
    return place->kind == STORAGE_LOGS &&
           (strncmp(name, place->name, size) != 0 || name[size] != '.');
}

static int count_entry(void *context, int directory, const char *name, const struct stat *info)
{
    struct storage_place *place = context;
    /* A file with several hard links counts in equal parts for each of its names. */
    if (!is_other_log(place, name))
        place->used += (int64_t)info->st_blocks * 512 /
                       (S_ISDIR(info->st_mode) || !info->st_nlink ? 1 : (int64_t)info->st_nlink);
    return 0;
}

/* Measures one place. `left` is the number of files and directories that may still be visited. If
 * the walk fails, the bytes that it has counted are the result. If a directory was moved during the
 * walk, the walk is repeated, and the largest result counts. */
static void storage_measure_place(struct storage_place *place, size_t *left)
{
    const size_t allowed = *left;
    const struct file_walk walk = {.visit = count_entry,
                                   .context = place,
                                   .verb = "measure",
                                   .closed = &place->closed,
                                   .entries_left = left,
                                   .depth_max = STORAGE_DEPTH_MAX,
                                   .names_max = STORAGE_NAMES_MAX};
    struct err err;
    int64_t most = 0;
    int walks = 0;
    do {
        err = (struct err)ERR_INIT;
        *left = allowed;
        place->used = 0;
        place->closed = 0;
        (void)file_walk(&walk, place->path, &err);
        most = place->used > most ? place->used : most;
    } while (err.sys == ESTALE && ++walks < WALKS_MAX);
    place->used = most;
    place->is_beyond = err.sys == E2BIG;
}

void storage_measure(struct storage_place *places, size_t count)
{
    size_t left = STORAGE_ENTRIES_MAX;
    for (size_t i = 0; i < count; i++)
        storage_measure_place(&places[i], &left);
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Sums the used bytes of the volume (if `volumes`) or container with this name, or of all places if
 * `name` is NULL. */
static int64_t storage_sum_places(const struct storage_place *places, size_t count, bool volumes,
                                  const char *name)
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

/* Checks the limits in the pod's spec. Returns a reason for eviction, or NULL. */
static const char *judge_limits(struct arena *arena, const struct json *pod,
                                const struct storage_place *places, size_t count)
{
    struct kube_quantity limit;
    JSON_EACH (volume, json_at(pod, "spec", "volumes", NULL)) {
        const char *name = json_get_string(volume, "name", "");
        if (volume_limit(volume, &limit) &&
            storage_sum_places(places, count, true, name) > kube_quantity_value(&limit))
            return arena_printf(arena, "Usage of EmptyDir volume \"%s\" exceeds the limit \"%s\". ",
                                name, limit_text(arena, &limit));
    }
    if (pod_limit(pod, &limit) &&
        storage_sum_places(places, count, false, NULL) > kube_quantity_value(&limit))
        return arena_printf(
            arena, "Pod ephemeral local storage usage exceeds the total limit of containers %s. ",
            limit_text(arena, &limit));
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        const char *name = json_get_string(container, "name", "");
        if (container_limit(container, &limit) &&
            storage_sum_places(places, count, false, name) > kube_quantity_value(&limit))
            return arena_printf(arena,
                                "Container %s exceeded its local ephemeral storage limit \"%s\". ",
                                name, limit_text(arena, &limit));
    }
    for (size_t i = 0; i < count; i++)
        if (places[i].is_beyond)
            return arena_printf(
                arena,
                "Pod has limits on ephemeral local storage, but its usage cannot "
                "be measured: it has more than %d files and directories, directories "
                "nested more than %d deep, or too many large directories. ",
                STORAGE_ENTRIES_MAX, STORAGE_DEPTH_MAX);
    return NULL;
}

static int64_t layer_used(const struct storage_place *places, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (places[i].kind == STORAGE_LAYER && str_eq(places[i].name, name))
            return places[i].used;
    return 0;
}

/* Checks containers without a limit. Returns a reason for eviction, or NULL. */
static const char *judge_layers(struct arena *arena, const struct json *pod,
                                const struct storage_place *places, size_t count)
{
    static const char *const LISTS[] = {"containers", "initContainers"};
    struct kube_quantity limit;
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++) {
        JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL)) {
            const char *name = json_get_string(container, "name", "");
            if (!container_limit(container, &limit) &&
                layer_used(places, count, name) > STORAGE_LAYER_MAX)
                return arena_printf(
                    arena,
                    "Container %s wrote more than %dGi, the default limit, outside of its volumes: "
                    "write to a volume, or set resources.limits.ephemeral-storage. ",
                    name, (int)(STORAGE_LAYER_MAX >> 30));
        }
    }
    return NULL;
}

const char *storage_judge(struct arena *arena, const struct json *pod,
                          const struct storage_place *places, size_t count)
{
    const char *why = judge_layers(arena, pod, places, count);
    return why || !storage_is_limited(pod) ? why : judge_limits(arena, pod, places, count);
}

const char *storage_gap(struct arena *arena, const struct storage_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (places[i].closed)
            return arena_printf(arena,
                                "the disk usage of the pod cannot be measured completely: the user "
                                "that runs the cluster has no permission to read %zu directories "
                                "in '%s', so their contents are not counted",
                                places[i].closed, places[i].path);
    return NULL;
}
