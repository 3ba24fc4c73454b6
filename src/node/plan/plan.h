/* From a Pod of the API to the orders of its supervisor: names, commands, environment, mounts. What
 * cannot be done here is refused with a reason that Kubernetes users know and a sentence. */
#ifndef TRAINYARD_NODE_POD_PLAN_H
#define TRAINYARD_NODE_POD_PLAN_H

#include "node/volume/volumes.h"

struct plan_input {
    const struct json *pod;
    const char *state_dir;
    const char *pod_dir;
    const char *handout_dir; /* where other users get to their files; see pod/kubeconfig.h */
    const char *network;     /* lock of the pod network's holder */
    bool nested;
    bool plain;          /* there are no namespaces */
    const char *address; /* the pod's own; equal to host_address with hostNetwork */
    const char *host_address;
    const struct json *capacity; /* of the node, by resource */
    int api_port;                /* of the API on the machine's loopback */
    const char *trainer_path;
    const char *step_path;
    const char *prober; /* this program, which speaks TLS for probes */
    int64_t started_ms; /* wall time when the node took the pod: its deadline counts from there */
    const char *home;   /* of the machine's user, or NULL */
    const char *const *shares;       /* of `up --share`, NULL-terminated; or NULL */
    const char *machine_resolv_conf; /* content of the machine's /etc/resolv.conf */
    const struct json *images;
    const struct node_objects *objects;
    const struct map *tokens; /* of the service account, by audience */
};

/* Why not: the waiting reason of the containers, "CreateContainerConfigError", and the one
 * container it is about, or NULL for all. */
struct plan_refusal {
    const char *reason;
    const char *container;
    bool may_heal; /* something missing may still come */
};

bool plan_uses_host_network(const struct json *pod);
/* The pod's name inside and in DNS. */
const char *plan_pod_hostname(struct arena *arena, const struct json *pod);

int plan_pod(struct arena *arena, const struct plan_input *input, struct pod_spec *ret,
             struct plan_refusal *ret_refusal, struct err *err);

#endif
