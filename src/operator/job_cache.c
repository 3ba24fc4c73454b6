/* The controller's memory of jobs; see job_cache.h. Only the controller calls it, on its loop. */
#include "operator/job_cache.h"

#include "operator/training_job.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>

enum { SAID_MAX = 1000 };

void job_cache_init(struct job_cache *cache)
{
    map_init(&cache->entries);
}

static void release_strings(struct map *map)
{
    const char *key;
    void *value;

    for (size_t i = 0; map_next(map, &i, &key, &value);)
        free(value);
    map_release(map);
    map_init(map);
}

static void release_objects(struct map *map)
{
    const char *key;
    void *object;

    for (size_t i = 0; map_next(map, &i, &key, &object);)
        kube_object_unref(object);
    map_release(map);
    map_init(map);
}

void job_entry_drop_gone(struct job_entry *entry, size_t count)
{
    for (size_t i = 0; i < count && entry->gone.count > 0; i++) {
        kube_object_unref(entry->gone.items[0]);
        vec_remove(&entry->gone, 0);
    }
}

/* All that is not the informers'. */
static void forget_own(struct job_entry *entry)
{
    job_entry_drop_gone(entry, entry->gone.count);
    release_strings(&entry->said);
    free(entry->autoscaler);
    entry->autoscaler = NULL;
    kube_own_writes_forget(&entry->writes);
}

static void entry_free(struct job_entry *entry)
{
    forget_own(entry);
    for (int part = 0; part < JOB_PARTS; part++)
        release_objects(&entry->parts[part]);
    map_release(&entry->said);
    kube_own_writes_release(&entry->writes);
    vec_release(&entry->gone);
    free(entry->key);
    free(entry);
}

void job_cache_release(struct job_cache *cache)
{
    const char *key;
    void *entry;

    for (size_t i = 0; map_next(&cache->entries, &i, &key, &entry);)
        entry_free(entry);
    map_release(&cache->entries);
}

struct job_entry *job_cache_get(struct job_cache *cache, const char *key)
{
    struct job_entry *entry = map_get(&cache->entries, key);

    if (entry)
        return entry;
    entry = mem_zalloc(sizeof(*entry));
    entry->key = mem_strdup(key);
    for (int part = 0; part < JOB_PARTS; part++)
        map_init(&entry->parts[part]);
    map_init(&entry->said);
    kube_own_writes_init(&entry->writes);
    map_put(&cache->entries, key, entry);
    return entry;
}

void job_cache_forget(struct job_cache *cache, const char *key)
{
    struct job_entry *entry = map_get(&cache->entries, key);

    if (!entry)
        return;
    forget_own(entry);
    for (int part = 0; part < JOB_PARTS; part++) {
        if (entry->parts[part].count > 0)
            return;
    }
    map_remove(&cache->entries, key);
    entry_free(entry);
}

char *job_cache_key(struct arena *arena, const struct json *object)
{
    const char *name = kube_meta_label(object, TRAINING_NAME_LABEL);

    if (str_is_empty(name))
        return NULL;
    return arena_printf(arena, "%s/%s", kube_meta_namespace(object), name);
}

void job_cache_change(struct job_cache *cache, const char *key, enum job_part part,
                      struct kube_object *old, struct kube_object *new_)
{
    struct job_entry *entry = job_cache_get(cache, key);
    const char *name = new_ ? new_->name : old->name;
    struct kube_object *held;

    if (new_) {
        held = map_put(&entry->parts[part], name, kube_object_ref(new_));
        kube_own_writes_saw(&entry->writes, new_->uid);
    } else {
        held = map_remove(&entry->parts[part], name);
        kube_own_writes_saw(&entry->writes, old->uid);
    }
    if (!new_ && part == JOB_PODS)
        vec_push(&entry->gone, kube_object_ref(old));
    if (held)
        kube_object_unref(held);
}

void job_entry_await_object(struct job_entry *entry, enum job_part part, const struct json *object,
                            int64_t now_ms)
{
    const struct kube_object *seen = map_get(&entry->parts[part], kube_meta_name(object));

    if (!seen || !str_eq(seen->uid, kube_meta_uid(object)))
        kube_own_writes_made(&entry->writes, kube_meta_uid(object), now_ms);
}

bool job_entry_say(struct job_entry *entry, const char *reason, const char *message)
{
    _cleanup_free_ char *text = mem_printf("%s: %s", reason, message);

    if (map_get(&entry->said, text))
        return false;
    if (entry->said.count >= SAID_MAX)
        release_strings(&entry->said);
    free(map_put(&entry->said, text, mem_strdup(reason)));
    return true;
}
