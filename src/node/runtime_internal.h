/* The node runtime, which runs the nodes and pods of this machine on the loop thread. runtime.c
 * creates its parts, runtime_pods.c keeps one runner per pod, and runtime_backend.c serves requests
 * of the API server for pods. Only these files include this header. */
#ifndef TRAINYARD_NODE_RUNTIME_INTERNAL_H
#define TRAINYARD_NODE_RUNTIME_INTERNAL_H

#include "node/limits/usage.h"
#include "node/log/stream.h"
#include "node/names/service.h"
#include "node/pod/runner.h"
#include "node/process/helper_keeper.h"
#include "node/service/service_proxy.h"

#include "base/map.h"

struct node_runtime {
    struct loop *loop;
    struct kube_client *client;
    struct kube_informer *pods, *services, *endpoints, *configmaps, *secrets, *claims, *volumes;
    struct node_registrar *registrar;
    struct names_service *names;
    struct helper_keeper *holder; /* restarts the holder; NULL if pods have no namespaces */
    struct helper_keeper *egress; /* restarts the egress program; NULL if there is none */
    struct service_proxy *proxy;
    struct arena *arena;           /* memory that lives as long as the runtime */
    const char *const *node_names; /* the list ends with NULL */
    struct pod_host host;          /* the facts and functions that all runners share */
    struct map runners;            /* struct pod_runner by the pod's uid */
    struct node_log_streams logs;
    struct usage_meter *usage;
    struct trash *trash;    /* removes the data of deleted claims and jobs */
    struct loop_timer sync; /* polls until every informer has its first list, then stops */
};

/* ---- runtime.c */
/* Schedules an update of the tables of services and of host names if they may contain the pod.
 * Called with the old and with the new version of a changed pod. */
void runtime_refresh_tables(struct node_runtime *runtime, const struct json *pod);

/* ---- runtime_pods.c */
/* The kube_informer_change callback for pods. */
void runtime_on_pod_change(void *context, struct kube_object *old, struct kube_object *new_);
/* The pod_host.done callback: frees the runner of a pod that is gone. */
void runtime_on_runner_done(void *context, const char *uid);
/* Reserves the addresses of pods that may still run. Must be called before any address is
 * assigned. */
void runtime_reserve_addresses(struct node_runtime *runtime);
/* Starts a runner per pod of this machine. Then removes what is left of pods that the API does not
 * have: their processes, control groups and files. Called once, when every informer has its first
 * list. */
void runtime_find_pods(struct node_runtime *runtime);
/* The usage_collect callback: adds the running containers to the sample. */
void runtime_collect_usage(void *context, struct usage_sample *sample);

#endif
