/* A cache of parsed object versions, so that all watches share one tree per change. A WATCH request
 * needs the tree if it has a selector or does not report whole objects. A log request that waits
 * for its container always needs it. */
#ifndef TRAINYARD_ENGINE_STORED_VERSION_TREES_H
#define TRAINYARD_ENGINE_STORED_VERSION_TREES_H

#include "base/json/json.h"
#include "store/store.h"

struct version_trees;

struct version_trees *version_trees_new(void);
/* NULL-safe; returns NULL. */
struct version_trees *version_trees_free(struct version_trees *trees);

/* Returns the tree of a version, or NULL if the version cannot be read (stored.h). The tree is
 * shared and must not be changed. It is valid until two other versions have been requested, so a
 * caller can use the old and the new version of a change at the same time. */
const struct json *version_trees_get(struct version_trees *trees, struct store_object *version);

#endif
