/* Sets the conditions of a retired node to Unknown, which clients show as NotReady. A node is
 * retired if an earlier start of this cluster had it and the current start does not, for example
 * after 'trainyard up --nodes 3' and then 'trainyard up --nodes 2'. No process sends heartbeats for
 * a retired node. Without the change of its conditions the node would stay Ready, and its pods
 * would wait without a reason. A later start that has the node makes it Ready again. Pure: the
 * registrar (node_object.c) sends the patch. */
#ifndef TRAINYARD_NODE_NODE_RETIRED_H
#define TRAINYARD_NODE_NODE_RETIRED_H

#include "base/json/json.h"

/* Returns a merge patch of the node's status. Returns NULL if the node is one of `names` (a list
 * that ends with NULL), was not created by trainyard, or has no condition with another status than
 * Unknown. */
struct json *node_retired_patch(struct arena *arena, const struct json *node,
                                const char *const *names, int64_t now_ms);

#endif
