/* Implements the hash map; see map.h. The table uses open addressing with linear probing
 * and is at most three quarters full. A removal moves the following entries back instead of leaving
 * a tombstone, so that a long-lived map does not become slow. */
#include "base/map.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 8 }; /* a power of two, like all later capacities */

struct map_slot {
    char *key; /* NULL: the slot is free */
    void *value;
    uint64_t hash;
};

void map_init(struct map *map)
{
    *map = (struct map){0};
}

void map_release(struct map *map)
{
    for (size_t i = 0; i < map->capacity; i++)
        free(map->slots[i].key);
    free(map->slots);
    *map = (struct map){0};
}

/* Returns the slot of the key, or the free slot where the key would be stored. The map must have
 * slots. */
static struct map_slot *map_find(const struct map *map, const char *key, uint64_t hash)
{
    size_t mask = map->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_slot *slot = &map->slots[i];
        if (!slot->key || (slot->hash == hash && strcmp(slot->key, key) == 0))
            return slot;
    }
}

static uint64_t hash_of(const struct map *map, const char *key)
{
    return hash_bytes(&map->hash_key, key, strlen(key));
}

void *map_get(const struct map *map, const char *key)
{
    if (map->count == 0)
        return NULL;
    struct map_slot *slot = map_find(map, key, hash_of(map, key));
    return slot->key ? slot->value : NULL;
}

static void map_grow(struct map *map)
{
    struct map_slot *old = map->slots;
    size_t old_capacity = map->capacity;
    if (old_capacity == 0)
        hash_key_draw(&map->hash_key);
    map->capacity = old_capacity ? old_capacity * 2 : CAPACITY_FIRST;
    map->slots = mem_calloc(map->capacity, sizeof(*map->slots));
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].key)
            *map_find(map, old[i].key, old[i].hash) = old[i];
    free(old);
}

void *map_put(struct map *map, const char *key, void *value)
{
    if ((map->count + 1) * 4 > map->capacity * 3)
        map_grow(map);
    uint64_t hash = hash_of(map, key);
    struct map_slot *slot = map_find(map, key, hash);
    if (slot->key) {
        void *replaced = slot->value;
        slot->value = value;
        return replaced;
    }
    *slot = (struct map_slot){.key = mem_strdup(key), .value = value, .hash = hash};
    map->count++;
    return NULL;
}

void *map_remove(struct map *map, const char *key)
{
    if (map->count == 0)
        return NULL;
    struct map_slot *slot = map_find(map, key, hash_of(map, key));
    if (!slot->key)
        return NULL;
    void *removed = slot->value;
    free(slot->key);
    map->count--;

    /* Close the gap: an entry after the gap moves into the gap unless its home slot lies after the
     * gap. */
    size_t mask = map->capacity - 1, gap = (size_t)(slot - map->slots);
    for (size_t i = (gap + 1) & mask; map->slots[i].key; i = (i + 1) & mask) {
        size_t home = map->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            map->slots[gap] = map->slots[i];
            gap = i;
        }
    }
    map->slots[gap] = (struct map_slot){0};
    return removed;
}

bool map_next(const struct map *map, size_t *position, const char **ret_key, void **ret_value)
{
    while (*position < map->capacity) {
        const struct map_slot *slot = &map->slots[(*position)++];
        if (!slot->key)
            continue;
        if (ret_key)
            *ret_key = slot->key;
        if (ret_value)
            *ret_value = slot->value;
        return true;
    }
    return false;
}
