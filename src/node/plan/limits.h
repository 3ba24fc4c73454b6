/* What a pod's containers may use, in the figures of control groups; the arithmetic is that of the
 * kubelet. Control plans it, the supervisor sets it. */
#ifndef TRAINYARD_NODE_POD_LIMITS_H
#define TRAINYARD_NODE_POD_LIMITS_H

#include "base/json/json.h"
#include "node/limits/cgroup.h"
#include "node/pod/spec.h"

/* How many processes and threads one pod may have, unless it says another number. It is far above
 * what training needs, and a fork bomb stays far below what a machine can bear. */
enum { POD_PIDS_DEFAULT = 4096, POD_PIDS_MAX = 4194304 };
#define POD_PIDS_ANNOTATION "trainyard.dev/pids-limit"

void plan_limits_of_container(const struct json *container, struct cgroup_limits *ret);
int plan_limits_of_pod(const struct json *pod, struct cgroup_limits *ret, struct err *err);

/* Complete the spec of a planned pod. */
int plan_limits(const struct json *pod, struct pod_spec *spec, struct err *err);

/* "cpu and memory": what the pod limits and these controllers do not hold; NULL: nothing. */
const char *plan_limits_not_enforced(const struct json *pod, unsigned controllers);

#endif
