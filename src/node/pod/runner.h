/* One pod of this machine from binding to deletion: plans it, starts or finds its supervisor,
 * reports its state on the API, ends it when it is deleted, confirms the deletion. What is decided
 * is in pod_plan, pod_status and restart; here is the order of things. */
#ifndef TRAINYARD_NODE_POD_RUNNER_H
#define TRAINYARD_NODE_POD_RUNNER_H

#include "kube/client/informer.h"
#include "node/names/host_names.h"
#include "node/network/addresses.h"
#include "node/node.h"
#include "node/objects.h"
#include "node/pod/state.h"

/* What all pods of the machine share. */
struct pod_host {
    struct loop *loop;
    struct kube_client *client;
    struct node_namespaces *space;
    const struct cgroup_base *groups; /* below which pods have their control groups */
    const char *state_dir;
    struct node_size size;   /* of each node */
    const char *handout_dir; /* of what other users read; see pod/kubeconfig.h */
    int api_port;            /* on the machine's loopback */
    const char *step_path;
    const char *prober; /* this program itself */
    const char *trainer_path;
    const char *network; /* lock of the pod network's holder */
    bool nested;
    const char *plain; /* why there are no namespaces; NULL: there are */
    const char *home;  /* of the machine's user, or NULL */
    const char *resolv_conf;
    const char *const *shares; /* directories that all pods share; NULL-terminated, or NULL */
    struct node_objects objects;
    struct node_object_source source; /* of the same objects */
    struct addresses addresses;
    struct host_names *host_names;
    struct pod_sweeper *sweeper; /* removes the files of deleted pods */
    size_t starting;             /* supervisors on their way */
    bool is_measuring;           /* the disk that some pod uses */
    /* The runner has nothing left to do and is to be freed. */
    void (*done)(void *context, const char *uid);
    void *context;
};

struct pod_runner;

/* In place of a node's number: only an earlier start had the node. The pod is not run, and keeps
 * what it has until it is deleted. */
enum { POD_NODE_AWAY = -1 };

/* The API shows the pod, bound to our node number `node` with the address given. */
struct pod_runner *pod_runner_new(struct pod_host *host, struct kube_object *pod, int node,
                                  const char *node_address);
/* Leaves the supervisor running. */
struct pod_runner *pod_runner_free(struct pod_runner *runner);

void pod_runner_update(struct pod_runner *runner, struct kube_object *pod);
/* What it was refused for may be there now. */
void pod_runner_retry(struct pod_runner *runner);
/* The pod is gone from the API: end what is left of it. */
void pod_runner_forget(struct pod_runner *runner);

/* A config map or secret of this resource has changed. */
void pod_runner_refresh(struct pod_runner *runner, const struct kube_resource *resource,
                        const struct kube_object *changed);

/* The container's newest state, or NULL before there is one. */
const struct container_state *pod_runner_container(const struct pod_runner *runner,
                                                   const char *name);
const char *pod_runner_directory(const struct pod_runner *runner);
/* Add its containers that run. */
struct usage_sample;
void pod_runner_collect_usage(const struct pod_runner *runner, struct usage_sample *sample);
/* The name of the directory it shares with the pods of its job (pod/peers.h), or NULL. */
const char *pod_runner_peers(const struct pod_runner *runner);

#endif
