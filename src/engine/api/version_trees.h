/* Stored versions as trees, read once for all who look at them: each watch with a selector, and
 * each that shows another form than the whole object, needs the tree of every change. */
#ifndef TRAINYARD_ENGINE_VERSION_TREES_H
#define TRAINYARD_ENGINE_VERSION_TREES_H

#include "base/json/json.h"
#include "store/store.h"

struct version_trees;

struct version_trees *version_trees_new(void);
struct version_trees *version_trees_free(struct version_trees *trees);

/* Everybody's, so it is not to be changed. It lives until two others were asked for: a change has a
 * version before and one after. NULL: it cannot be read
 * (engine/kinds/stored.h). */
const struct json *version_trees_get(struct version_trees *trees, struct store_object *version);

#endif
