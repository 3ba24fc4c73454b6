/* Runs one pod of this machine, from its binding to a node until its deletion. The runner plans the
 * pod, starts or finds its supervisor, reports the pod's state to the API, tells the supervisor to
 * end the pod when it is deleted, and confirms the deletion. node/runtime_pods.c has one runner per
 * pod. The supervisor restarts containers, not the runner. All functions must be called on the loop
 * thread of the control process. */
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
    struct node_namespaces *space;    /* the namespaces of the cluster */
    const struct cgroup_base *groups; /* the parent of the pods' control groups */
    const char *state_dir;
    struct node_size size;     /* the size of each node */
    const char *handout_dir;   /* the directory for files that containers which run as other users
                                  must read; see plan/kubeconfig.h */
    int api_port;              /* the API's port on 127.0.0.1 */
    const char *step_path;     /* the program trainyard-step */
    const char *prober;        /* the program that runs probes over TLS, or NULL */
    const char *trainer_path;  /* the program `trainer`, or NULL */
    const char *network;       /* the lock file of the process that holds the pod network */
    bool nested;               /* trainyard runs without the privileges of root */
    const char *plain;         /* the reason why pods have no namespaces; NULL if they have them */
    const char *home;          /* the home directory of the user who runs the cluster, or NULL */
    const char *resolv_conf;   /* the text of the machine's resolv.conf */
    const char *const *shares; /* directories that every pod shares, ends with NULL; or NULL */
    struct node_objects objects;
    struct node_object_source source; /* the same objects, with reference counts */
    struct addresses addresses;
    struct host_names *host_names; /* updates the hosts files of pods with hostNetwork */
    struct pod_sweeper *sweeper;   /* removes the files of deleted pods */
    /* The number of pods that are being planned, or whose supervisor is being started. */
    size_t starting;
    bool is_measuring; /* a thread measures the disk space of one of the pods */
    /* Called when the pod with this uid is gone from the API and has no process any more. The
     * callee frees the runner. */
    void (*done)(void *context, const char *uid);
    void *context;
};

struct pod_runner;

/* Used in place of a node's number if only an earlier start of the cluster had this node. The pod
 * is not run, and its files stay until it is deleted. */
enum { POD_NODE_AWAY = -1 };

/* Creates the runner of a pod that is bound to node number `node` of this machine, or to
 * POD_NODE_AWAY. `node_address` is the address of that node, or "" if it is not known. The pod is
 * started later, not during this call. */
struct pod_runner *pod_runner_new(struct pod_host *host, struct kube_object *pod, int node,
                                  const char *node_address);
/* Frees the runner; the supervisor keeps running. */
struct pod_runner *pod_runner_free(struct pod_runner *runner);

/* Gives the runner a new version of the pod from the API. */
void pod_runner_update(struct pod_runner *runner, struct kube_object *pod);
/* If the pod waits for the next attempt to start it, the runner makes the attempt soon after this
 * call instead of later. Called when an object that the pod needs may exist now. */
void pod_runner_retry(struct pod_runner *runner);
/* Must be called when the pod is gone from the API. The runner then ends the pod's processes, gives
 * its files to the sweeper, and calls pod_host.done, perhaps before this function returns. */
void pod_runner_forget(struct pod_runner *runner);

/* Updates the pod's volumes after a config map or secret has changed. */
void pod_runner_refresh(struct pod_runner *runner, const struct kube_resource *resource,
                        const struct kube_object *changed);

/* Returns the newest state of the container, or NULL if the runner has not read a state of it. The
 * pointer is valid until the runner reads the next state. */
const struct container_state *pod_runner_container(const struct pod_runner *runner,
                                                   const char *name);
/* Returns <state_dir>/pods/<uid>. */
const char *pod_runner_directory(const struct pod_runner *runner);
/* Adds the pod's running containers to the sample. */
struct usage_sample;
void pod_runner_collect_usage(const struct pod_runner *runner, struct usage_sample *sample);
/* Returns the name of the directory that the pod shares with the pods of its job (pod/peers.h), or
 * NULL. */
const char *pod_runner_peers(const struct pod_runner *runner);

#endif
