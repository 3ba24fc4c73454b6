/* Plans a pod: turns a Pod of the API into the spec for its supervisor (names, commands,
 * environment, mounts). A pod that cannot run here is refused with a reason of Kubernetes and a
 * sentence. */
#ifndef TRAINYARD_NODE_PLAN_PLAN_H
#define TRAINYARD_NODE_PLAN_PLAN_H

#include "node/volume/volumes.h"

struct plan_input {
    const struct json *pod;
    const char *state_dir;
    const char *pod_dir;
    /* The directory for files of containers with other users; see plan/kubeconfig.h. */
    const char *handout_dir;
    const char *network; /* the lock file of the pod network's holder */
    bool nested;
    bool plain;          /* the machine allows no namespaces */
    const char *address; /* the pod's address; equal to host_address with hostNetwork */
    const char *host_address;
    const struct json *capacity; /* the node's capacity by resource */
    int api_port;                /* the API's port on 127.0.0.1 */
    const char *trainer_path;
    const char *step_path;
    const char *prober; /* the path of this program, which is started for probes over TLS */
    /* The wall time at which the node accepted the pod. The pod's deadline counts from this time.
     */
    int64_t started_ms;
    const char *home;          /* the home directory of the user who runs the cluster, or NULL */
    const char *const *shares; /* from `up --share`, ends with NULL; or NULL */
    const char *machine_resolv_conf; /* the content of the machine's /etc/resolv.conf */
    const struct json *images;
    const struct node_objects *objects;
    const struct map *tokens; /* tokens of the service account by audience */
};

/* Why a pod cannot be planned. `reason` is the waiting reason of the containers, such as
 * "CreateContainerConfigError". `container` is the container with the problem; NULL means all. */
struct plan_refusal {
    const char *reason;
    const char *container;
    bool may_heal; /* an object is missing that may still be created */
};

bool plan_uses_host_network(const struct json *pod);
/* Returns the pod's host name, inside the pod and in DNS. */
const char *plan_pod_hostname(struct arena *arena, const struct json *pod);

int plan_pod(struct arena *arena, const struct plan_input *input, struct pod_spec *ret,
             struct plan_refusal *ret_refusal, struct err *err);

#endif
