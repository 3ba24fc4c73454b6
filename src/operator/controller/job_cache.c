/* Implements the cache of the jobs' objects; see job_cache.h. */
#include "operator/controller/job_cache.h"

#include "operator/kind/training_job.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>

/* Maximum number of records of one job: room for one event per replica and 1000 other events. At
 * the limit all records are dropped, and an event may be reported again. */
enum { RECORDED_EVENTS_MAX = TRAINING_REPLICAS_MAX + 1000 };
/* The shortest and the longest wait between passes while the server does not answer. */
enum { WAIT_MIN_MS = 50, WAIT_MAX_MS = 5000 };

void job_cache_init(struct job_cache *cache, job_cache_changed *changed, void *context)
{
    *cache = (struct job_cache){.changed = changed, .context = context};
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

void job_entry_note_server(struct job_entry *entry, bool answered, int64_t now_ms)
{
    if (answered)
        entry->wait_ms = 0;
    else if (entry->wait_ms == 0)
        entry->wait_ms = WAIT_MIN_MS;
    else
        entry->wait_ms = entry->wait_ms * 2 < WAIT_MAX_MS ? entry->wait_ms * 2 : WAIT_MAX_MS;
    entry->wait_until_ms = answered ? 0 : now_ms + entry->wait_ms;
}

static int64_t generation_of(const struct json *job)
{
    return json_get_int(json_get(job, "metadata"), "generation", 0);
}

void job_entry_reject(struct job_entry *entry, const struct json *job, const char *why)
{
    if (job_entry_rejection(entry, job))
        return;
    free(entry->rejection);
    entry->rejection = mem_strdup(why);
    entry->rejected_generation = generation_of(job);
}

const char *job_entry_rejection(const struct job_entry *entry, const struct json *job)
{
    return entry->rejected_generation == generation_of(job) ? entry->rejection : NULL;
}

/* Drops what the controller remembers about the job: everything except the objects with its labels.
 */
static void drop_controller_data(struct job_entry *entry)
{
    job_entry_drop_gone(entry, entry->gone.count);
    release_objects(&entry->parts[JOB_UNMATCHED_PODS]); /* the pods cannot be released any more */
    release_strings(&entry->recorded_events);
    free(entry->rejection);
    entry->rejection = NULL;
    free(entry->autoscaler);
    entry->autoscaler = NULL;
    kube_own_writes_forget(&entry->writes);
}

static void job_entry_free(struct job_entry *entry)
{
    drop_controller_data(entry);
    for (int part = 0; part < JOB_PARTS; part++)
        release_objects(&entry->parts[part]);
    map_release(&entry->recorded_events);
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
        job_entry_free(entry);
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
    map_init(&entry->recorded_events);
    kube_own_writes_init(&entry->writes);
    map_put(&cache->entries, key, entry);
    return entry;
}

void job_cache_forget(struct job_cache *cache, const char *key)
{
    struct job_entry *entry = map_get(&cache->entries, key);

    if (!entry)
        return;
    drop_controller_data(entry);
    for (int part = 0; part < JOB_PARTS; part++) {
        if (entry->parts[part].count > 0)
            return;
    }
    map_remove(&cache->entries, key);
    job_entry_free(entry);
}

/* Returns the key of the job that an object's labels name, or NULL. */
static const char *labelled_key(struct arena *arena, const struct json *object)
{
    const char *name = kube_meta_label(object, TRAINING_NAME_LABEL);

    if (str_is_empty(name))
        return NULL;
    return arena_printf(arena, "%s/%s", kube_meta_namespace(object), name);
}

/* Returns the key of the job that controls a pod, if the pod's labels name another job or none.
 * Otherwise returns NULL. */
static const char *unmatched_key(struct arena *arena, enum job_part part, const struct json *object)
{
    const char *name = json_get_string(kube_meta_controller(object), "name", NULL);

    if (part != JOB_PODS || str_is_empty(name) ||
        str_eq(name, kube_meta_label(object, TRAINING_NAME_LABEL)))
        return NULL;
    return arena_printf(arena, "%s/%s", kube_meta_namespace(object), name);
}

static void entry_put(struct job_entry *entry, enum job_part part, struct kube_object *object)
{
    struct kube_object *held = map_put(&entry->parts[part], object->name, kube_object_ref(object));

    if (held)
        kube_object_unref(held);
}

static void entry_remove(struct job_entry *entry, enum job_part part, const char *name)
{
    struct kube_object *held = map_remove(&entry->parts[part], name);

    if (held)
        kube_object_unref(held);
}

/* Updates one of the maps after a change: removes the object from the job with old_key, and stores
 * it in the job with new_key. A key is NULL if there is no such job. */
static void move_object(struct job_cache *cache, enum job_part part, const char *old_key,
                        struct kube_object *old, const char *new_key, struct kube_object *new_)
{
    struct job_entry *entry;

    if (old_key && !str_eq(old_key, new_key)) {
        entry = job_cache_get(cache, old_key);
        entry_remove(entry, part, old->name);
        kube_own_writes_observe(&entry->writes, old->uid);
        /* a pod that moved to another job has not vanished */
        if (!new_ && part == JOB_PODS)
            vec_push(&entry->gone, kube_object_ref(old));
        cache->changed(cache->context, old_key);
    }
    if (new_key) {
        entry = job_cache_get(cache, new_key);
        entry_put(entry, part, new_);
        kube_own_writes_observe(&entry->writes, new_->uid);
        cache->changed(cache->context, new_key);
    }
}

void job_cache_change(struct job_cache *cache, enum job_part part, struct kube_object *old,
                      struct kube_object *new_)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();

    move_object(cache, part, old ? labelled_key(arena, old->json) : NULL, old,
                new_ ? labelled_key(arena, new_->json) : NULL, new_);
    move_object(cache, JOB_UNMATCHED_PODS, old ? unmatched_key(arena, part, old->json) : NULL, old,
                new_ ? unmatched_key(arena, part, new_->json) : NULL, new_);
}

void job_entry_found(struct job_entry *entry, const struct json *pod, bool unmatched)
{
    struct kube_object *object = kube_object_new(pod);

    for (size_t i = 0; i < entry->gone.count; i++) {
        if (!str_eq(entry->gone.items[i]->uid, object->uid))
            continue;
        kube_object_unref(entry->gone.items[i]);
        vec_remove(&entry->gone, i);
        break;
    }
    if (unmatched)
        entry_put(entry, JOB_UNMATCHED_PODS, object);
    kube_object_unref(object);
}

void job_entry_drop_unmatched(struct job_entry *entry, const char *name)
{
    entry_remove(entry, JOB_UNMATCHED_PODS, name);
}

void job_entry_await_object(struct job_entry *entry, enum job_part part, const struct json *object,
                            int64_t now_ms)
{
    const struct kube_object *seen = map_get(&entry->parts[part], kube_meta_name(object));

    if (seen && str_eq(seen->uid, kube_meta_uid(object)))
        return;
    /* A watch may be ahead of the call's answer. An object that the watch showed as deleted is
     * never shown again. */
    for (size_t i = 0; i < entry->gone.count; i++)
        if (str_eq(entry->gone.items[i]->uid, kube_meta_uid(object)))
            return;
    kube_own_writes_add_created(&entry->writes, kube_meta_uid(object), now_ms);
}

bool job_entry_record_pod_event(struct job_entry *entry, const char *uid, const char *reason,
                                const char *message)
{
    _cleanup_free_ char *text = mem_printf("%s %s: %s", uid ? uid : "", reason, message);

    if (map_get(&entry->recorded_events, text))
        return false;
    if (entry->recorded_events.count >= RECORDED_EVENTS_MAX)
        release_strings(&entry->recorded_events);
    free(map_put(&entry->recorded_events, text, mem_strdup(reason)));
    return true;
}

bool job_entry_record_event(struct job_entry *entry, const char *reason, const char *message)
{
    return job_entry_record_pod_event(entry, NULL, reason, message);
}
