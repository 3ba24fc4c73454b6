/* A node of an earlier start of this cluster that the current start does not have, as after `up
 * --nodes 3` and then `up --nodes 2`. No process reports for it, so it would stay Ready for ever
 * and pods would wait on it in silence. Its status is set to not Ready; a start that has the node
 * again makes it Ready. Pure. */
#ifndef TRAINYARD_NODE_NODE_RETIRED_H
#define TRAINYARD_NODE_NODE_RETIRED_H

#include "base/json/json.h"

/* Returns a merge patch of the node's status, or NULL if the node is one of `names`, was not
 * created by trainyard, or is already reported as not Ready. */
struct json *node_retired_patch(struct arena *arena, const struct json *node,
                                const char *const *names, int64_t now_ms);

#endif
