/* Stored versions as trees, parsed once for all readers: each watch with a selector or with another
 * form than whole objects needs the tree of every change. */
#ifndef TRAINYARD_ENGINE_STORED_VERSION_TREES_H
#define TRAINYARD_ENGINE_STORED_VERSION_TREES_H

#include "base/json/json.h"
#include "store/store.h"

struct version_trees;

struct version_trees *version_trees_new(void);
struct version_trees *version_trees_free(struct version_trees *trees);

/* The tree is shared and must not be changed. It lives until two other versions were asked for,
 * because a change has a version before and one after. Returns NULL if the version cannot be read
 * (stored.h). */
const struct json *version_trees_get(struct version_trees *trees, struct store_object *version);

#endif
