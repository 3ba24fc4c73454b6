/* Reports fields of a manifest that have no effect here, as sentences for events. So no field is
 * ignored silently. Pure. */
#ifndef TRAINYARD_NODE_PLAN_UNSUPPORTED_H
#define TRAINYARD_NODE_PLAN_UNSUPPORTED_H

#include "node/objects.h"

#include "base/arena.h"

#include <stdbool.h>

typedef void plan_unsupported_tell(void *context, const char *reason, const char *message);

/* The machine on which the pod runs. */
struct plan_unsupported_machine {
    bool nested;       /* an ordinary user runs the pods */
    bool plain;        /* pods have no namespaces */
    const char *hosts; /* the content of the machine's /etc/hosts, which plain pods use */
};

void plan_unsupported_report(struct arena *arena, const struct json *pod,
                             const struct plan_unsupported_machine *machine,
                             const struct node_objects *objects, plan_unsupported_tell *tell,
                             void *context);

#endif
