/* The parts of the node runtime. runtime.c connects them, runtime_pods.c keeps one runner per pod,
 * and runtime_backend.c serves requests of the API server for pods. */
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
    struct helper_keeper *holder; /* keeps the process that holds the pod network alive */
    struct helper_keeper *egress; /* keeps the egress program alive; NULL if there is none */
    struct service_proxy *proxy;
    struct arena *arena; /* memory that lives as long as the runtime */
    const char *const *node_names;
    struct pod_host host;
    struct map runners; /* struct pod_runner by uid */
    struct node_log_streams logs;
    struct usage_meter *usage;
    struct trash *trash;    /* removes the data of deleted claims and jobs */
    struct loop_timer sync; /* runs until every informer has its first list */
};

/* ---- runtime.c */
/* Updates the tables of services and of host names if they contain the pod. Called for the old and
 * for the new version of a changed pod. */
void runtime_pod_moved(struct node_runtime *runtime, const struct json *pod);

/* ---- runtime_pods.c */
/* The kube_informer_change callback for pods. */
void runtime_on_pod_change(void *context, struct kube_object *old, struct kube_object *new_);
/* The pod_host.done callback: frees a runner that has no work left. */
void runtime_on_runner_done(void *context, const char *uid);
/* Reserves the addresses of pods that may still run. Must be called before any address is
 * assigned. */
void runtime_reserve_addresses(struct node_runtime *runtime);
/* Starts a runner per pod, and ends pods on this machine that the API does not have. Must be called
 * when every informer has its first list. */
void runtime_find_pods(struct node_runtime *runtime);
/* The usage_collect callback: adds the containers that run now. */
void runtime_collect_usage(void *context, struct usage_sample *sample);

#endif
