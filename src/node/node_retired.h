/* Sets the conditions of a retired node to Unknown, which clients show as NotReady. A node is
 * retired if an earlier start of this cluster had it and the current start does not, for example
 * after `up --nodes 3` and then `up --nodes 2`. No process sends heartbeats for it, so it would
 * stay Ready for ever, and its pods would wait without a reason. A start that has the node again
 * makes it Ready. Pure. */
#ifndef TRAINYARD_NODE_NODE_RETIRED_H
#define TRAINYARD_NODE_NODE_RETIRED_H

#include "base/json/json.h"

/* Returns a merge patch of the node's status, or NULL if the node is one of `names`, was not
 * created by trainyard, or has only conditions that are already Unknown. */
struct json *node_retired_patch(struct arena *arena, const struct json *node,
                                const char *const *names, int64_t now_ms);

#endif
