/* Keeps the controller's cache of workflows; see cache.h. */
#include "pipeline/controller/cache.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>

void workflow_cache_init(struct workflow_cache *cache)
{
    map_init(&cache->entries);
}

void workflow_entry_drop(struct workflow_entry *entry, size_t results, size_t gone)
{
    for (; results > 0 && entry->results.count > 0; results--) {
        struct workflow_cached_result *result = &entry->results.items[0];

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

static void entry_clear(struct workflow_entry *entry)
{
    workflow_entry_drop(entry, entry->results.count, entry->gone.count);
    kube_own_writes_forget(&entry->writes);
}

static void workflow_entry_free(struct workflow_entry *entry)
{
    const char *key;
    void *pod;

    entry_clear(entry);
    for (size_t i = 0; map_next(&entry->pods, &i, &key, &pod);)
        kube_object_unref(pod);
    map_release(&entry->pods);
    kube_own_writes_release(&entry->writes);
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
        workflow_entry_free(entry);
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
    kube_own_writes_init(&entry->writes);
    map_put(&cache->entries, key, entry);
    return entry;
}

void workflow_cache_forget(struct workflow_cache *cache, const char *key)
{
    struct workflow_entry *entry = map_get(&cache->entries, key);

    if (!entry)
        return;
    entry_clear(entry);
    if (entry->pods.count > 0)
        return;
    map_remove(&cache->entries, key);
    workflow_entry_free(entry);
}

void workflow_cache_change(struct workflow_cache *cache, const char *key, struct kube_object *old,
                           struct kube_object *new_)
{
    struct workflow_entry *entry = workflow_cache_get(cache, key);
    struct kube_object *held;

    if (new_) {
        held = map_put(&entry->pods, new_->name, kube_object_ref(new_));
        kube_own_writes_observe(&entry->writes, new_->uid);
    } else {
        held = map_remove(&entry->pods, old->name);
        kube_own_writes_observe(&entry->writes, old->uid);
        vec_push(&entry->gone, kube_object_ref(old));
    }
    if (held)
        kube_object_unref(held);
}

void workflow_entry_keep_result(struct workflow_entry *entry, const char *node_id,
                                const struct json *object, const char *error)
{
    struct workflow_cached_result result = {
        .node_id = mem_strdup(node_id),
        .object = object ? kube_object_new(object) : NULL,
        .error = error ? mem_strdup(error) : NULL,
    };

    vec_push(&entry->results, result);
}

void workflow_entry_await_pod(struct workflow_entry *entry, const struct json *pod, int64_t now_ms)
{
    const struct kube_object *seen = map_get(&entry->pods, kube_meta_name(pod));

    if (!seen || !str_eq(seen->uid, kube_meta_uid(pod)))
        kube_own_writes_add_created(&entry->writes, kube_meta_uid(pod), now_ms);
}
