/* See cache.h. The cache does not watch the store. If the store's revision has changed since the
 * last call, access_cache_get() lists all roles and bindings and parses those with a new
 * revision. */
#include "engine/access/cache.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "engine/stored/stored.h"
#include "kube/kinds/kinds.h"

#include <stdlib.h>

static const struct kube_kind *const ROWS[] = {
    &KUBE_CLUSTERROLE_KIND, &KUBE_CLUSTERROLEBINDING_KIND, &KUBE_ROLE_KIND, &KUBE_ROLEBINDING_KIND};
enum { KINDS = ARRAY_SIZE(ROWS) };

struct entry {
    struct arena *arena;
    struct json *object; /* NULL: the stored object cannot be read, and allows nothing */
    int64_t revision;
    uint64_t seen; /* the value of access_cache.look when the object was last found in the store */
};

struct access_cache {
    struct store *store;
    struct map entries; /* by key */
    VEC(const struct json *) lists[KINDS];
    struct access_policy policy;
    int64_t revision; /* the store's revision at the last call */
    uint64_t look;
};

struct access_cache *access_cache_new(struct store *store)
{
    struct access_cache *cache = mem_zalloc(sizeof(*cache));
    cache->store = store;
    cache->revision = -1;
    map_init(&cache->entries);
    return cache;
}

static void access_cache_entry_free(struct entry *entry)
{
    arena_free(entry->arena);
    free(entry);
}

struct access_cache *access_cache_free(struct access_cache *cache)
{
    if (!cache)
        return NULL;
    const char *key;
    void *entry;
    for (size_t i = 0; map_next(&cache->entries, &i, &key, &entry);)
        access_cache_entry_free(entry);
    map_release(&cache->entries);
    for (size_t i = 0; i < KINDS; i++)
        vec_release(&cache->lists[i]);
    free(cache);
    return NULL;
}

static struct entry *access_cache_entry_of(struct access_cache *cache, struct store_object *stored)
{
    struct entry *entry = map_get(&cache->entries, stored->key);
    if (entry && entry->revision == stored->revision)
        return entry;
    if (entry) {
        map_remove(&cache->entries, stored->key);
        access_cache_entry_free(entry);
    }
    entry = mem_zalloc(sizeof(*entry));
    entry->arena = arena_new();
    entry->revision = stored->revision;
    if (stored_read(entry->arena, stored, &entry->object, NULL) < 0)
        entry->object = NULL;
    map_put(&cache->entries, stored->key, entry);
    return entry;
}

static void access_cache_read_kind(struct access_cache *cache, size_t kind)
{
    _cleanup_free_ char *prefix = mem_printf("/%s/", ROWS[kind]->storage);
    struct store_object **objects;
    size_t count = store_list(cache->store, prefix, &objects);
    cache->lists[kind].count = 0;
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = access_cache_entry_of(cache, objects[i]);
        entry->seen = cache->look;
        if (entry->object)
            vec_push(&cache->lists[kind], entry->object);
        store_object_unref(objects[i]);
    }
    free(objects);
}

/* Drops the objects that are gone from the store. */
static void forget_unseen(struct access_cache *cache)
{
    VEC(char *) gone = {0};
    const char *key;
    void *entry;
    for (size_t i = 0; map_next(&cache->entries, &i, &key, &entry);)
        if (((struct entry *)entry)->seen != cache->look)
            vec_push(&gone, mem_strdup(key));
    for (size_t i = 0; i < gone.count; i++) {
        access_cache_entry_free(map_remove(&cache->entries, gone.items[i]));
        free(gone.items[i]);
    }
    vec_release(&gone);
}

const struct access_policy *access_cache_get(struct access_cache *cache)
{
    if (cache->revision == store_revision(cache->store))
        return &cache->policy;
    cache->look++;
    for (size_t i = 0; i < KINDS; i++)
        access_cache_read_kind(cache, i);
    forget_unseen(cache);
    struct access_objects *const targets[KINDS] = {&cache->policy.cluster_roles,
                                                   &cache->policy.cluster_bindings,
                                                   &cache->policy.roles, &cache->policy.bindings};
    for (size_t i = 0; i < KINDS; i++)
        *targets[i] = (struct access_objects){cache->lists[i].items, cache->lists[i].count};
    cache->revision = store_revision(cache->store);
    return &cache->policy;
}
