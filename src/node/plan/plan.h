/* Plans a pod: turns a Pod of the API into the spec for the pod's supervisor, with names, commands,
 * environment and mounts. plan/preparation.c calls plan_pod() on a thread of the pool. So the
 * planner reads no informer: all API objects come from its input. It creates the directories and
 * files of the pod's volumes, but it starts no process. If the pod cannot run on this machine, the
 * planner refuses it with a reason that Kubernetes uses and a message. */
#ifndef TRAINYARD_NODE_PLAN_PLAN_H
#define TRAINYARD_NODE_PLAN_PLAN_H

#include "node/volume/volumes.h"

struct plan_input {
    const struct json *pod;
    const char *state_dir;
    const char *pod_dir; /* <state_dir>/pods/<uid> */
    /* The directory for files that containers which run as other users must read; see
     * plan/kubeconfig.h. */
    const char *handout_dir;
    const char *network; /* the lock file of the process that holds the pod network */
    bool nested;         /* trainyard runs without the privileges of root */
    bool plain;          /* pods run without namespaces (docs/design/plain.md) */
    /* The pod's address. It is equal to `host_address` if the pod has hostNetwork or `plain` is
     * set. */
    const char *address;
    const char *host_address;    /* the node's address */
    const struct json *capacity; /* the node's capacity by resource */
    int api_port;                /* the API's port on 127.0.0.1 */
    const char *trainer_path;    /* the program `trainer` on this machine, or NULL */
    const char *step_path;       /* the program trainyard-step, or NULL */
    const char *prober;          /* the program that runs probes over TLS, or NULL */
    /* The wall time at which the node accepted the pod. The pod's deadline counts from this time.
     */
    int64_t started_ms;
    const char *home;          /* the home directory of the user who runs the cluster, or NULL */
    const char *const *shares; /* node_options.shares; the list ends with NULL, or is NULL */
    const char *machine_resolv_conf;    /* the content of the file node_options.resolv_conf */
    const struct json *images;          /* the table of images (image/table.h) */
    const struct node_objects *objects; /* finds the API objects that the pod refers to */
    const struct map *tokens;           /* tokens of the service account by audience */
};

/* Describes why a pod cannot be planned. `reason` is the kubelet's reason, such as
 * "CreateContainerConfigError" or "FailedMount". `container` names the container with the problem;
 * NULL means all containers. */
struct plan_refusal {
    const char *reason;
    const char *container;
    bool is_temporary; /* something is missing that a user may still create, such as a config map */
};

/* Returns whether the pod has hostNetwork. */
bool plan_uses_host_network(const struct json *pod);
/* Returns the pod's host name without a domain. */
const char *plan_pod_hostname(struct arena *arena, const struct json *pod);

/* Plans the pod. Returns 0 and sets `*ret`, which points into the arena and into the input. On
 * failure returns a negative code and sets `*ret_refusal`. */
int plan_pod(struct arena *arena, const struct plan_input *input, struct pod_spec *ret,
             struct plan_refusal *ret_refusal, struct err *err);

#endif
