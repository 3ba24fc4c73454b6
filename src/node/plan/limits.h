/* Computes the resources that a pod's containers may use, in units of control groups, as the
 * kubelet does. The control process computes the limits, and the supervisor sets them. */
#ifndef TRAINYARD_NODE_PLAN_LIMITS_H
#define TRAINYARD_NODE_PLAN_LIMITS_H

#include "base/json/json.h"
#include "node/limits/cgroup.h"
#include "node/pod/record/spec.h"

/* The limit of processes and threads per pod, unless the pod has the annotation. Training needs far
 * less, and a fork bomb of this size does not stop a machine. */
enum { POD_PIDS_DEFAULT = 4096, POD_PIDS_MAX = 4194304 };
#define POD_PIDS_ANNOTATION "trainyard.dev/pids-limit"

void plan_limits_of_container(const struct json *container, struct cgroup_limits *ret);
int plan_limits_of_pod(const struct json *pod, struct cgroup_limits *ret, struct err *err);

/* Adds the limits to the spec of a planned pod. */
int plan_limits(const struct json *pod, struct pod_spec *spec, struct err *err);

/* Returns the resources that the pod limits but these controllers do not enforce, such as "cpu and
 * memory". Returns NULL if all are enforced. */
const char *plan_limits_not_enforced(const struct json *pod, unsigned controllers);

#endif
