/* A hash map from string to pointer (keys are copied; the hash is keyed at random against crafted
 * input). Values belong to the caller. Zeroed memory is an empty map too. */
#ifndef TRAINYARD_BASE_MAP_H
#define TRAINYARD_BASE_MAP_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>

struct map_slot;

struct map {
    struct map_slot *slots;
    size_t capacity;
    size_t count;
    struct hash_key hash_key; /* drawn with the first slots */
};

void map_init(struct map *map);
void map_release(struct map *map); /* frees the keys, not the values; safe twice */

void *map_get(const struct map *map, const char *key);        /* NULL when absent */
void *map_put(struct map *map, const char *key, void *value); /* the value it replaces, or NULL */
void *map_remove(struct map *map, const char *key);           /* the value removed, or NULL */

/* Visit all, in no order: `for (size_t i = 0; map_next(&map, &i, &key, &value);)`. The map must not
 * change meanwhile. */
bool map_next(const struct map *map, size_t *position, const char **ret_key, void **ret_value);

#endif
