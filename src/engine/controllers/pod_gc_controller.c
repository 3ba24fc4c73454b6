/* Deletes pods whose node does not exist. No node can confirm the end of such a pod, so it is
 * deleted with a grace period of 0 after MISSING_MS. The pod's controller then creates a new
 * pod. */
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "kube/object.h"

#include <stdlib.h>

enum {
    PERIOD_MS = 10 * 1000,
    MISSING_MS = 40 * 1000, /* a node that registers late keeps its pods */
};

struct pod_gc {
    struct hub *hub;
    struct loop_timer timer;
    struct map since; /* name of a missing node → struct absence */
};

/* A node that pods name, but that does not exist. */
struct absence {
    int64_t since_ms; /* loop time at which this controller noticed it */
};

static bool is_missing(struct pod_gc *pod_gc, const char *node)
{
    return node[0] != '\0' && !kube_informer_get(hub_informer(pod_gc->hub, "nodes"), "", node);
}

/* Returns for how many ms the node has been missing. The time starts when this controller first
 * notices that the node does not exist. */
static int64_t missing_for_ms(struct pod_gc *pod_gc, const char *node, int64_t now_ms)
{
    struct absence *absence = map_get(&pod_gc->since, node);
    if (!absence) {
        absence = mem_zalloc(sizeof(*absence));
        absence->since_ms = now_ms;
        map_put(&pod_gc->since, node, absence);
    }
    return now_ms - absence->since_ms;
}

/* If the deletion fails, the next run of the timer repeats it. */
static void on_pod_gc_removed(void *context, struct json *object, const struct err *err)
{
}

static void pod_gc_collect(struct pod_gc *pod_gc)
{
    struct hub *hub = pod_gc->hub;
    struct kube_informer *pods = hub_informer(hub, "pods");
    int64_t now = loop_now_ms(hub_loop(hub));
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(pods, NULL, &at));) {
        const char *node = json_get_string(json_get(pod->json, "spec"), "nodeName", "");
        struct kube_delete_options options = {.grace_period_seconds = 0, .uid = pod->uid};
        if (!is_missing(pod_gc, node) || missing_for_ms(pod_gc, node, now) < MISSING_MS)
            continue;
        kube_event(hub_client(hub), pod->json, "pod-garbage-collector", "Warning", "NodeGone",
                   "node \"%s\" does not exist: the pod is deleted", node);
        kube_delete(hub_client(hub), &KUBE_PODS, pod->namespace_, pod->name, &options,
                    on_pod_gc_removed, NULL);
    }
}

static void on_pod_gc_timer(struct loop_timer *timer)
{
    struct pod_gc *pod_gc = CONTAINER_OF(timer, struct pod_gc, timer);
    if (hub_synced(pod_gc->hub))
        pod_gc_collect(pod_gc);
    loop_timer_start(timer, PERIOD_MS);
}

/* Resets the time of a node that exists again. */
static void on_pod_gc_node_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct pod_gc *pod_gc = self;
    if (new_)
        free(map_remove(&pod_gc->since, new_->name));
}

static void *pod_gc_controller_start(struct hub *hub)
{
    struct pod_gc *pod_gc = mem_zalloc(sizeof(*pod_gc));
    pod_gc->hub = hub;
    map_init(&pod_gc->since);
    loop_timer_init(hub_loop(hub), &pod_gc->timer, on_pod_gc_timer);
    loop_timer_start(&pod_gc->timer, PERIOD_MS);
    return pod_gc;
}

static void pod_gc_controller_stop(void *self)
{
    struct pod_gc *pod_gc = self;
    const char *key;
    void *value;
    loop_timer_stop(&pod_gc->timer);
    for (size_t at = 0; map_next(&pod_gc->since, &at, &key, &value);)
        free(value);
    map_release(&pod_gc->since);
    free(pod_gc);
}

static const struct controller_watch POD_GC_WATCHES[] = {
    {"nodes", on_pod_gc_node_changed},
    {NULL, NULL},
};

const struct controller POD_GC_CONTROLLER = {
    .start = pod_gc_controller_start,
    .stop = pod_gc_controller_stop,
    .watches = POD_GC_WATCHES,
};
