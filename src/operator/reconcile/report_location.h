/* Where a person finds the report of a run: the path that the program in the container names, as a
 * path on a volume. Pure. */
#ifndef TRAINYARD_OPERATOR_REPORT_PLACE_H
#define TRAINYARD_OPERATOR_REPORT_PLACE_H

#include "base/json/json.h"

#define TRAINING_REPORT_ANNOTATION "trainyard.dev/report"

/* Tells in which directory of the operator's own machine the data of a claim lies. */
struct training_claims {
    /* In `arena`; NULL: not on this machine. */
    const char *(*directory)(void *context, struct arena *arena, const char *namespace_,
                             const char *claim);
    void *context;
};

/* `spec` is the pod spec of the job's template, because the operator's copy of `pod` has no
 * volumes. Returns
 * "/srv/models/face/report.html" where the nodes are this machine (`claims` is given); elsewhere
 * "face/report.html in claim models" or "/srv/models/face/report.html on node a". NULL: the path is
 * not one, or lies on no volume that outlives the pod. */
const char *training_report_location(struct arena *arena, const struct training_claims *claims,
                                     const struct json *pod, const struct json *spec,
                                     const char *container, const char *path);

#endif
