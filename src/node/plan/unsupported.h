/* What a manifest asks for and does not get here, in sentences for events: nothing is left out in
 * silence. Pure. */
#ifndef TRAINYARD_NODE_POD_GAPS_H
#define TRAINYARD_NODE_POD_GAPS_H

#include "node/objects.h"

#include "base/arena.h"

#include <stdbool.h>

typedef void plan_unsupported_tell(void *context, const char *reason, const char *message);

/* Where the pod runs. */
struct plan_unsupported_machine {
    bool nested;       /* pods are an ordinary user's */
    bool plain;        /* they have no namespaces */
    const char *hosts; /* content of its /etc/hosts, which plain pods have for theirs */
};

void plan_unsupported_report(struct arena *arena, const struct json *pod,
                             const struct plan_unsupported_machine *machine,
                             const struct node_objects *objects, plan_unsupported_tell *tell,
                             void *context);

#endif
