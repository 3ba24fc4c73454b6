/* The resources that a pod's containers may use, in the units of control groups, with the
 * kubelet's arithmetic. The control process plans them, the supervisor sets them. */
#ifndef TRAINYARD_NODE_PLAN_LIMITS_H
#define TRAINYARD_NODE_PLAN_LIMITS_H

#include "base/json/json.h"
#include "node/limits/cgroup.h"
#include "node/pod/record/spec.h"

/* The number of processes and threads per pod, unless the pod sets another. It is far above what
 * training needs, and a fork bomb of this size does not stop a machine. */
enum { POD_PIDS_DEFAULT = 4096, POD_PIDS_MAX = 4194304 };
#define POD_PIDS_ANNOTATION "trainyard.dev/pids-limit"

void plan_limits_of_container(const struct json *container, struct cgroup_limits *ret);
int plan_limits_of_pod(const struct json *pod, struct cgroup_limits *ret, struct err *err);

/* Adds the limits to the spec of a planned pod. */
int plan_limits(const struct json *pod, struct pod_spec *spec, struct err *err);

/* Returns the resources that the pod limits and these controllers do not enforce, "cpu and
 * memory", or NULL. */
const char *plan_limits_not_enforced(const struct json *pod, unsigned controllers);

#endif
