/* One pod of this machine, from its binding to its deletion. The runner plans the pod, starts or
 * finds its supervisor, reports its state to the API, ends it when it is deleted and confirms the
 * deletion. The runner calls pure functions for decisions: plan/plan.h, pod/status.h and
 * pod/restart.h. */
#ifndef TRAINYARD_NODE_POD_RUNNER_H
#define TRAINYARD_NODE_POD_RUNNER_H

#include "kube/client/informer.h"
#include "node/names/host_names.h"
#include "node/network/addresses.h"
#include "node/node.h"
#include "node/objects.h"
#include "node/pod/record/state.h"

/* Shared by all pods of the machine. */
struct pod_host {
    struct loop *loop;
    struct kube_client *client;
    struct node_namespaces *space;
    const struct cgroup_base *groups; /* the parent of the pods' control groups */
    const char *state_dir;
    struct node_size size;   /* the size of each node */
    const char *handout_dir; /* the directory for files that containers which run as other users
                                must read; see plan/kubeconfig.h */
    int api_port;            /* the API's port on 127.0.0.1 */
    const char *step_path;
    const char *prober; /* the path of this program, which is started for probes over TLS */
    const char *trainer_path;
    const char *network;       /* the lock file of the pod network's holder */
    bool nested;               /* trainyard runs as an ordinary user */
    const char *plain;         /* the reason why pods have no namespaces; NULL if they have them */
    const char *home;          /* the home directory of the user who runs the cluster, or NULL */
    const char *resolv_conf;   /* the text of the machine's resolv.conf */
    const char *const *shares; /* directories that every pod shares, ends with NULL; or NULL */
    struct node_objects objects;
    struct node_object_source source; /* the same objects; the caller can take references */
    struct addresses addresses;
    struct host_names *host_names;
    struct pod_sweeper *sweeper; /* removes the files of deleted pods */
    size_t starting;             /* the number of runners in RUNNER_STARTING */
    bool is_measuring;           /* some pod's use of the disk is being measured */
    /* Called when the runner with this uid has no work left. The callee frees the runner. */
    void (*done)(void *context, const char *uid);
    void *context;
};

struct pod_runner;

/* Used in place of a node's number if only an earlier start of the cluster had this node. The pod
 * is not run, and its files stay until it is deleted. */
enum { POD_NODE_AWAY = -1 };

/* Creates the runner of a pod that is bound to node number `node` of this machine. `node_address`
 * is the address of that node. */
struct pod_runner *pod_runner_new(struct pod_host *host, struct kube_object *pod, int node,
                                  const char *node_address);
/* Frees the runner; the supervisor keeps running. */
struct pod_runner *pod_runner_free(struct pod_runner *runner);

void pod_runner_update(struct pod_runner *runner, struct kube_object *pod);
/* Tries to start a refused pod again on the loop's next turn. Called when an object that the pod
 * needs may exist now. */
void pod_runner_retry(struct pod_runner *runner);
/* Must be called when the pod is gone from the API. The runner then ends the pod's processes,
 * removes its files and calls pod_host.done, perhaps before this function returns. */
void pod_runner_forget(struct pod_runner *runner);

/* Updates the pod's volumes after a config map or secret has changed. */
void pod_runner_refresh(struct pod_runner *runner, const struct kube_resource *resource,
                        const struct kube_object *changed);

/* Returns the container's newest state, or NULL if none was read yet. */
const struct container_state *pod_runner_container(const struct pod_runner *runner,
                                                   const char *name);
const char *pod_runner_directory(const struct pod_runner *runner);
/* Adds the pod's running containers to the sample. */
struct usage_sample;
void pod_runner_collect_usage(const struct pod_runner *runner, struct usage_sample *sample);
/* Returns the name of the directory that the pod shares with the pods of its job (pod/peers.h), or
 * NULL. */
const char *pod_runner_peers(const struct pod_runner *runner);

#endif
