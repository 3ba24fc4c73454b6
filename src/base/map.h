/* A hash map from string to pointer. Keys are copied; values belong to the caller. The hash has a
 * random key, so that crafted input cannot cause collisions. Zeroed memory is an empty map. */
#ifndef TRAINYARD_BASE_MAP_H
#define TRAINYARD_BASE_MAP_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>

struct map_slot;

struct map {
    struct map_slot *slots;
    size_t capacity;          /* number of slots */
    size_t count;             /* number of entries */
    struct hash_key hash_key; /* random; set when the first slots are allocated */
};

void map_init(struct map *map);
void map_release(struct map *map); /* frees the keys, not the values; may be called twice */

void *map_get(const struct map *map, const char *key); /* NULL if the key is absent */
/* Sets the value of the key. Returns the old value, or NULL. */
void *map_put(struct map *map, const char *key, void *value);
void *map_remove(struct map *map, const char *key); /* returns the removed value, or NULL */

/* Visits all entries in an unspecified order: `for (size_t i = 0; map_next(&map, &i, &key,
 * &value);)`. Returns false after the last entry. `ret_key` and `ret_value` may be NULL. The map
 * must not change during the visit. */
bool map_next(const struct map *map, size_t *position, const char **ret_key, void **ret_value);

#endif
