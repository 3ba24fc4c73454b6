/* Reports the fields of a manifest that have no effect on this machine, as texts of events. The
 * runner calls plan_unsupported_report() after it has planned a pod. A field that the planner
 * ignores must be reported here, so that a user notices it. Pure. */
#ifndef TRAINYARD_NODE_PLAN_UNSUPPORTED_H
#define TRAINYARD_NODE_PLAN_UNSUPPORTED_H

#include "node/objects.h"

#include "base/arena.h"

#include <stdbool.h>

/* `reason` and `message` are the reason and the text of a Warning event about the pod. */
typedef void plan_unsupported_tell(void *context, const char *reason, const char *message);

/* The machine on which the pod runs. */
struct plan_unsupported_machine {
    bool nested;       /* trainyard runs without the privileges of root */
    bool plain;        /* pods have no namespaces */
    const char *hosts; /* the content of the machine's /etc/hosts, which plain pods use */
};

/* Calls `tell` once per event. */
void plan_unsupported_report(struct arena *arena, const struct json *pod,
                             const struct plan_unsupported_machine *machine,
                             const struct node_objects *objects, plan_unsupported_tell *tell,
                             void *context);

#endif
