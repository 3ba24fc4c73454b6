/* Writes the taints that follow from a node's state, as taints.h decides. These taints keep new
 * pods off nodes that are cordoned, are not ready or report another problem such as DiskPressure.
 */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "engine/scheduler/taints.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum { PARALLEL = 4 };

struct taints {
    struct hub *hub;
    struct workqueue *queue; /* names of nodes */
};

/* The call that writes the taints of a node. */
struct writing {
    struct hub_task task;
    struct taints *taints;
    char *node;
};

static void writing_free(struct hub_task *task)
{
    struct writing *writing = CONTAINER_OF(task, struct writing, task);
    free(writing->node);
    free(writing);
}

/* After a conflict, the change that caused it queues the node again. */
static void on_taint_written(void *context, struct json *object, const struct err *err)
{
    struct writing *writing = context;
    bool is_ignored = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    workqueue_done(writing->taints->queue, writing->node, err && !is_ignored);
    hub_task_end(&writing->task);
}

static void taint_controller_work(void *context, const char *name)
{
    struct taints *taints = context;
    struct kube_object *node = kube_informer_get(hub_informer(taints->hub, "nodes"), "", name);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *wanted = node ? taints_wanted(arena, node->json) : NULL;
    if (!wanted) {
        workqueue_done(taints->queue, name, false);
        return;
    }
    struct writing *writing = mem_zalloc(sizeof(*writing));
    hub_task_begin(taints->hub, &writing->task, writing_free);
    writing->taints = taints;
    writing->node = mem_strdup(name);
    struct json *patch = json_object(arena);
    json_set_string(arena, json_ensure_object(arena, patch, "metadata"), "resourceVersion",
                    kube_meta_resource_version(node->json));
    json_set(arena, json_ensure_object(arena, patch, "spec"), "taints", wanted);
    kube_patch(hub_client(taints->hub), &KUBE_NODES, NULL, name, NULL, patch, on_taint_written,
               writing);
}

static void on_taint_node_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct taints *taints = self;
    if (new_)
        workqueue_add(taints->queue, new_->name);
}

static void *taint_controller_start(struct hub *hub)
{
    struct taints *taints = mem_zalloc(sizeof(*taints));
    taints->hub = hub;
    taints->queue = workqueue_new(hub_loop(hub), PARALLEL, taint_controller_work, taints);
    return taints;
}

static void taint_controller_stop(void *self)
{
    struct taints *taints = self;
    workqueue_free(taints->queue);
    free(taints);
}

static const struct controller_watch TAINT_WATCHES[] = {
    {"nodes", on_taint_node_changed},
    {NULL, NULL},
};

const struct controller TAINT_CONTROLLER = {
    .start = taint_controller_start,
    .stop = taint_controller_stop,
    .watches = TAINT_WATCHES,
};
