/* Computes the resources that a pod and its containers may use, in units of control groups, as the
 * kubelet does. The planner writes these limits into the pod's spec, and the supervisor sets them.
 * Pure. */
#ifndef TRAINYARD_NODE_PLAN_LIMITS_H
#define TRAINYARD_NODE_PLAN_LIMITS_H

#include "base/json/json.h"
#include "node/limits/cgroup.h"
#include "node/pod/record/spec.h"

/* The annotation with the limit of processes and threads of a pod, the limit of a pod without the
 * annotation, and the largest value of the annotation. Training needs far fewer than the default,
 * and a fork bomb of the default size does not stop a machine. */
#define POD_PIDS_ANNOTATION "trainyard.dev/pids-limit"
enum { POD_PIDS_DEFAULT = 4096, POD_PIDS_MAX = 4194304 };

void plan_limits_of_container(const struct json *container, struct cgroup_limits *ret);
/* Returns 0, or a negative code if the value of the annotation is not valid. */
int plan_limits_of_pod(const struct json *pod, struct cgroup_limits *ret, struct err *err);

/* Sets the limits of the pod and of its containers in the spec. The containers of the spec must
 * have the order of the manifest. Returns as plan_limits_of_pod(). */
int plan_limits(const struct json *pod, struct pod_spec *spec, struct err *err);

/* Returns the resources that the pod limits but that these controllers (CGROUP_…) do not enforce,
 * such as "cpu and memory". Returns NULL if all are enforced. */
const char *plan_limits_not_enforced(const struct json *pod, unsigned controllers);

#endif
