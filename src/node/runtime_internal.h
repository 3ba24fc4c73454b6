/* What the files of the node runtime share: runtime.c holds the parts together, runtime_pods.c
 * keeps one runner a pod, runtime_backend.c answers the API about pods. */
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
    struct helper_keeper *holder; /* of the process that keeps the pod network */
    struct helper_keeper *egress; /* of the program that leads out, where there is one */
    struct service_proxy *proxy;
    struct arena *arena; /* what lives as long as we do */
    const char *const *node_names;
    struct pod_host host;
    struct map runners; /* by uid */
    struct node_log_streams logs;
    struct usage_meter *usage;
    struct trash *trash;    /* data of claims and jobs that are gone */
    struct loop_timer sync; /* until every informer has its first list */
};

/* ---- runtime.c */
/* A version of a pod has come or is superseded: the tables that show something of it follow. */
void runtime_pod_moved(struct node_runtime *runtime, const struct json *pod);

/* ---- runtime_pods.c */
/* A kube_informer_change of pods. */
void runtime_on_pod_change(void *context, struct kube_object *old, struct kube_object *new_);
/* A runner has nothing left to do: pod_host.done. */
void runtime_on_runner_done(void *context, const char *uid);
/* Before any address is given out: those of pods that may still run are taken. */
void runtime_reserve_addresses(struct node_runtime *runtime);
/* Every informer has its first list: find the pods, end those that nobody knows any more. */
void runtime_find_pods(struct node_runtime *runtime);
/* What runs now, for what it uses: a usage_collect. */
void runtime_collect_usage(void *context, struct usage_sample *sample);

#endif
