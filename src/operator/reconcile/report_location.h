/* Finds the report of a run for the user: converts the path that the program in the container names
 * to a path on a volume. Pure. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_REPORT_LOCATION_H
#define TRAINYARD_OPERATOR_RECONCILE_REPORT_LOCATION_H

#include "base/json/json.h"

#define TRAINING_REPORT_ANNOTATION "trainyard.dev/report"

/* Finds the directory of a claim's data on the operator's machine. */
struct training_claims {
    /* Returns the directory in `arena`; NULL if it is not on this machine. */
    const char *(*directory)(void *context, struct arena *arena, const char *namespace_,
                             const char *claim);
    void *context;
};

/* Returns "/srv/models/face/report.html" if `claims` is given, which means that the nodes are this
 * machine, otherwise "face/report.html in claim models" or "/srv/models/face/report.html on node
 * a". Returns NULL if the path is invalid or is not on a volume that outlives the pod. `spec` is
 * the pod spec of the job's template, because the operator's copy of `pod` has no volumes. */
const char *training_report_location(struct arena *arena, const struct training_claims *claims,
                                     const struct json *pod, const struct json *spec,
                                     const char *container, const char *path);

#endif
