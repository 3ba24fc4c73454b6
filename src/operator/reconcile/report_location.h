/* Tells the user where the report of a run is: converts the path that the program names in its
 * container to a path on a volume. The reconcile calls it for the pod that reports the progress,
 * when that pod has succeeded. Pure. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_REPORT_LOCATION_H
#define TRAINYARD_OPERATOR_RECONCILE_REPORT_LOCATION_H

#include "base/json/json.h"

#define TRAINING_REPORT_ANNOTATION "trainyard.dev/report"

/* Finds the directory of a claim's data on the operator's machine. */
struct training_claims {
    /* Returns the directory, allocated in `arena`. Returns NULL if it is not on this machine. */
    const char *(*directory)(void *context, struct arena *arena, const char *namespace_,
                             const char *claim);
    void *context;
};

/* Returns the location of the file `path` of a container, in `arena`. `claims` is NULL if the nodes
 * are not this machine.
 *
 *   in a host path: "/srv/models/face/report.html", or without `claims` "… on node a"
 *   in a claim: such a path if `claims` finds the data, else "face/report.html in claim models"
 *
 * Returns NULL if the path is invalid or not on a volume of these two types, or if its mount has a
 * subPathExpr. `spec` is the pod spec of the job's template, because the operator's copy of `pod`
 * has no volumes. */
const char *training_report_location(struct arena *arena, const struct training_claims *claims,
                                     const struct json *pod, const struct json *spec,
                                     const char *container, const char *path);

#endif
