/* The roles and bindings of the store, parsed once per version. Must run on the loop thread. */
#ifndef TRAINYARD_ENGINE_ACCESS_CACHE_H
#define TRAINYARD_ENGINE_ACCESS_CACHE_H

#include "engine/access/access.h"
#include "store/store.h"

struct access_cache;

struct access_cache *access_cache_new(struct store *store);
struct access_cache *access_cache_free(struct access_cache *cache);

/* The committed roles and bindings; valid until the loop turns. */
const struct access_policy *access_cache_get(struct access_cache *cache);

#endif
