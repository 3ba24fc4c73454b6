/* Caches the parsed roles and bindings of the store, for the authorization of every request. Parses
 * each version of an object once. All functions must run on the loop thread. */
#ifndef TRAINYARD_ENGINE_ACCESS_CACHE_H
#define TRAINYARD_ENGINE_ACCESS_CACHE_H

#include "engine/access/access.h"
#include "store/store.h"

struct access_cache;

struct access_cache *access_cache_new(struct store *store);
struct access_cache *access_cache_free(struct access_cache *cache);

/* Returns the committed roles and bindings that can be read. The cache owns them. They are valid
 * until the next turn of the loop. */
const struct access_policy *access_cache_get(struct access_cache *cache);

#endif
