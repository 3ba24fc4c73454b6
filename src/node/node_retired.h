/* A node that an earlier start of this cluster had and this one has not, as after `up --nodes 3`
 * and `up --nodes 2`. Nobody speaks for it any more, and so it would stay ready for ever: pods
 * would be sent there and wait in silence. It is told not to be ready; a start that has it again
 * makes it ready. Pure. */
#ifndef TRAINYARD_NODE_NODE_RETIRED_H
#define TRAINYARD_NODE_NODE_RETIRED_H

#include "base/json/json.h"

/* A merge patch of its status, or NULL: it is one of `names`, it was not made by a cluster of ours,
 * or it says so already. */
struct json *node_retired_patch(struct arena *arena, const struct json *node,
                                const char *const *names, int64_t now_ms);

#endif
