/* The controller's memory of workflows; see cache.h. */
#include "pipeline/cache.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>

enum { AWAIT_MS = 5 * 1000 };

void workflow_cache_init(struct workflow_cache *cache)
{
    map_init(&cache->entries);
}

static void clear_strings(struct map *map)
{
    const char *key;
    void *value;

    for (size_t i = 0; map_next(map, &i, &key, &value);)
        free(value);
    map_release(map);
    map_init(map);
}

void workflow_entry_drop(struct workflow_entry *entry, size_t results, size_t gone)
{
    for (; results > 0 && entry->results.count > 0; results--) {
        struct workflow_kept_result *result = &entry->results.items[0];

        free(result->node_id);
        free(result->error);
        if (result->object)
            kube_object_unref(result->object);
        vec_remove(&entry->results, 0);
    }
    for (; gone > 0 && entry->gone.count > 0; gone--) {
        kube_object_unref(entry->gone.items[0]);
        vec_remove(&entry->gone, 0);
    }
}

static void forget_own(struct workflow_entry *entry)
{
    workflow_entry_drop(entry, entry->results.count, entry->gone.count);
    clear_strings(&entry->awaited);
    entry->awaited_version = 0;
}

static void entry_free(struct workflow_entry *entry)
{
    const char *key;
    void *pod;

    forget_own(entry);
    for (size_t i = 0; map_next(&entry->pods, &i, &key, &pod);)
        kube_object_unref(pod);
    map_release(&entry->pods);
    map_release(&entry->awaited);
    vec_release(&entry->gone);
    vec_release(&entry->results);
    free(entry->key);
    free(entry);
}

void workflow_cache_release(struct workflow_cache *cache)
{
    const char *key;
    void *entry;

    for (size_t i = 0; map_next(&cache->entries, &i, &key, &entry);)
        entry_free(entry);
    map_release(&cache->entries);
}

struct workflow_entry *workflow_cache_get(struct workflow_cache *cache, const char *key)
{
    struct workflow_entry *entry = map_get(&cache->entries, key);

    if (entry)
        return entry;
    entry = mem_zalloc(sizeof(*entry));
    entry->key = mem_strdup(key);
    map_init(&entry->pods);
    map_init(&entry->awaited);
    map_put(&cache->entries, key, entry);
    return entry;
}

void workflow_cache_forget(struct workflow_cache *cache, const char *key)
{
    struct workflow_entry *entry = map_get(&cache->entries, key);

    if (!entry)
        return;
    forget_own(entry);
    if (entry->pods.count > 0)
        return;
    map_remove(&cache->entries, key);
    entry_free(entry);
}

/* Seen at all, whether it is still there or gone again: no longer awaited. */
static void saw(struct workflow_entry *entry, const struct kube_object *pod)
{
    const char *uid = map_get(&entry->awaited, pod->name);

    if (uid && str_eq(uid, pod->uid))
        free(map_remove(&entry->awaited, pod->name));
}

void workflow_cache_change(struct workflow_cache *cache, const char *key, struct kube_object *old,
                           struct kube_object *new_)
{
    struct workflow_entry *entry = workflow_cache_get(cache, key);
    struct kube_object *held;

    if (new_) {
        held = map_put(&entry->pods, new_->name, kube_object_ref(new_));
        saw(entry, new_);
    } else {
        held = map_remove(&entry->pods, old->name);
        saw(entry, old);
        vec_push(&entry->gone, kube_object_ref(old));
    }
    if (held)
        kube_object_unref(held);
}

void workflow_entry_keep_result(struct workflow_entry *entry, const char *node_id,
                                const struct json *object, const char *error)
{
    struct workflow_kept_result result = {
        .node_id = mem_strdup(node_id),
        .object = object ? kube_object_new(object) : NULL,
        .error = error ? mem_strdup(error) : NULL,
    };

    vec_push(&entry->results, result);
}

void workflow_entry_await_pod(struct workflow_entry *entry, const struct json *pod, int64_t now_ms)
{
    const char *name = kube_meta_name(pod);
    struct kube_object *seen = map_get(&entry->pods, name);

    if (seen && str_eq(seen->uid, kube_meta_uid(pod)))
        return;
    free(map_put(&entry->awaited, name, mem_strdup(kube_meta_uid(pod))));
    entry->awaited_until_ms = now_ms + AWAIT_MS;
}

/* Versions of one resource are numbers that grow; one that is no number is not waited for. */
static int64_t version_of(const struct json *object)
{
    int64_t version;

    if (str_to_int64(kube_meta_resource_version(object), 0, INT64_MAX, &version, NULL) < 0)
        return 0;
    return version;
}

void workflow_entry_await_version(struct workflow_entry *entry, const struct json *workflow,
                                  int64_t now_ms)
{
    int64_t version = version_of(workflow);

    if (version <= entry->awaited_version)
        return;
    entry->awaited_version = version;
    entry->awaited_until_ms = now_ms + AWAIT_MS;
}

int64_t workflow_entry_wait_ms(struct workflow_entry *entry, const struct json *workflow,
                               int64_t now_ms)
{
    int64_t version = version_of(workflow);
    bool seen = version == 0 || version >= entry->awaited_version;

    if (seen && entry->awaited.count == 0)
        return 0;
    if (now_ms < entry->awaited_until_ms)
        return entry->awaited_until_ms - now_ms;
    clear_strings(&entry->awaited);
    entry->awaited_version = 0;
    return 0;
}
