/* Caches the parsed roles and bindings; see cache.h. The cache does not watch the store. If the
 * store's revision has changed since the previous call, access_cache_get() lists all roles and
 * bindings and parses those with a new revision. */
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

/* A parsed role or binding. */
struct entry {
    struct arena *arena; /* owns `object` */
    struct json *object; /* NULL: the stored object cannot be read, and allows nothing */
    int64_t revision;    /* the revision of the parsed version */
    uint64_t refresh;    /* the number of the latest refresh that found the object in the store */
};

struct access_cache {
    struct store *store;
    struct map entries;                    /* struct entry, by the key of the stored object */
    VEC(const struct json *) lists[KINDS]; /* the readable objects, in the order of ROWS */
    struct access_policy policy;           /* refers to `lists` */
    int64_t revision;                      /* the store's revision at the latest refresh */
    uint64_t refreshes;                    /* how often the lists have been refreshed */
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

/* Returns the entry of the stored object. Parses the object if this version is not in the cache. */
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

/* Refreshes the list of the kind ROWS[kind]. */
static void access_cache_read_kind(struct access_cache *cache, size_t kind)
{
    _cleanup_free_ char *prefix = mem_printf("/%s/", ROWS[kind]->storage);
    struct store_object **objects;
    size_t count = store_list(cache->store, prefix, &objects);
    cache->lists[kind].count = 0;
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = access_cache_entry_of(cache, objects[i]);
        entry->refresh = cache->refreshes;
        if (entry->object)
            vec_push(&cache->lists[kind], entry->object);
        store_object_unref(objects[i]);
    }
    free(objects);
}

/* Frees the entries whose objects the latest refresh has not found in the store. */
static void remove_gone_entries(struct access_cache *cache)
{
    VEC(char *) gone = {0};
    const char *key;
    void *entry;
    for (size_t i = 0; map_next(&cache->entries, &i, &key, &entry);)
        if (((struct entry *)entry)->refresh != cache->refreshes)
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
    cache->refreshes++;
    for (size_t i = 0; i < KINDS; i++)
        access_cache_read_kind(cache, i);
    remove_gone_entries(cache);
    struct access_objects *const targets[KINDS] = {&cache->policy.cluster_roles,
                                                   &cache->policy.cluster_bindings,
                                                   &cache->policy.roles, &cache->policy.bindings};
    for (size_t i = 0; i < KINDS; i++)
        *targets[i] = (struct access_objects){cache->lists[i].items, cache->lists[i].count};
    cache->revision = store_revision(cache->store);
    return &cache->policy;
}
