/* What a manifest asks for and does not get here, in sentences for events: nothing is left out in
 * silence. Pure. */
#ifndef TRAINYARD_NODE_POD_GAPS_H
#define TRAINYARD_NODE_POD_GAPS_H

#include "node/objects.h"

#include "base/arena.h"

#include <stdbool.h>

typedef void pod_gap_tell(void *context, const char *reason, const char *message);

/* `nested`: pods are an ordinary user's; `plain`: they have no namespaces. */
void pod_gaps_tell(struct arena *arena, const struct json *pod, bool nested, bool plain,
                   const struct node_objects *objects, pod_gap_tell *tell, void *context);

#endif
