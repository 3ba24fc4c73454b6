/* Pods of nodes that are no more. Nobody would ever confirm their end, so after a while without
 * their node they are removed by force; their owners make others elsewhere. */
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/hub.h"
#include "kube/object.h"

#include <stdlib.h>

enum {
    PERIOD_MS = 10 * 1000,
    PATIENCE_MS = 40 * 1000, /* a node that is only late to register gets its pods back */
};

struct stranded {
    struct hub *hub;
    struct loop_timer timer;
    struct map since; /* name of a missing node → struct absence */
};

struct absence {
    int64_t since_ms;
};

static bool is_missing(struct stranded *stranded, const char *node)
{
    return node[0] != '\0' && !kube_informer_get(hub_informer(stranded->hub, "nodes"), "", node);
}

/* How long the node has been missing, counted from the first look. */
static int64_t missing_for(struct stranded *stranded, const char *node, int64_t now_ms)
{
    struct absence *absence = map_get(&stranded->since, node);
    if (!absence) {
        absence = mem_zalloc(sizeof(*absence));
        absence->since_ms = now_ms;
        map_put(&stranded->since, node, absence);
    }
    return now_ms - absence->since_ms;
}

/* Whatever became of it, the next round looks again. */
static void removed(void *context, struct json *object, const struct err *err)
{
}

static void look(struct stranded *stranded)
{
    struct hub *hub = stranded->hub;
    struct kube_informer *pods = hub_informer(hub, "pods");
    int64_t now = loop_now_ms(hub_loop(hub));
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(pods, NULL, &at));) {
        const char *node = json_get_string(json_get(pod->json, "spec"), "nodeName", "");
        struct kube_delete_options options = {.grace_period_seconds = 0, .uid = pod->uid};
        if (!is_missing(stranded, node) || missing_for(stranded, node, now) < PATIENCE_MS)
            continue;
        kube_event(hub_client(hub), pod->json, "pod-garbage-collector", "Warning", "NodeGone",
                   "node \"%s\" is no more: the pod is removed", node);
        kube_delete(hub_client(hub), &KUBE_PODS, pod->namespace_, pod->name, &options, removed,
                    NULL);
    }
}

static void on_timer(struct loop_timer *timer)
{
    struct stranded *stranded = CONTAINER_OF(timer, struct stranded, timer);
    if (hub_synced(stranded->hub))
        look(stranded);
    loop_timer_start(timer, PERIOD_MS);
}

/* A node that is back is missed no longer. */
static void changed(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    struct stranded *stranded = self;
    if (new_ && str_eq(resource->id.plural, "nodes"))
        free(map_remove(&stranded->since, new_->name));
}

static void *start(struct hub *hub)
{
    struct stranded *stranded = mem_zalloc(sizeof(*stranded));
    stranded->hub = hub;
    map_init(&stranded->since);
    loop_timer_init(hub_loop(hub), &stranded->timer, on_timer);
    loop_timer_start(&stranded->timer, PERIOD_MS);
    return stranded;
}

static void stop(void *self)
{
    struct stranded *stranded = self;
    const char *key;
    void *value;
    loop_timer_stop(&stranded->timer);
    for (size_t at = 0; map_next(&stranded->since, &at, &key, &value);)
        free(value);
    map_release(&stranded->since);
    free(stranded);
}

const struct controller STRANDED_CONTROLLER = {start, changed, stop};
