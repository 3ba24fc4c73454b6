/* Writes the taints that say how a node is, as taints.h decides them: a node that is ready can
 * be scheduled on, one that is not or is cordoned cannot. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/hub.h"
#include "engine/scheduler/taints.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum { PARALLEL = 4 };

struct taints {
    struct hub *hub;
    struct workqueue *queue; /* names of nodes */
};

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

/* What is in conflict comes again with the change it is in conflict with. */
static void on_written(void *context, struct json *object, const struct err *err)
{
    struct writing *writing = context;
    bool settled = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    workqueue_done(writing->taints->queue, writing->node, err && !settled);
    hub_task_end(&writing->task);
}

static void work(void *context, const char *name)
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
    kube_patch(hub_client(taints->hub), &KUBE_NODES, NULL, name, NULL, patch, on_written, writing);
}

static void changed(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    struct taints *taints = self;
    if (new_ && str_eq(resource->storage, "nodes"))
        workqueue_add(taints->queue, new_->name);
}

static void *start(struct hub *hub)
{
    struct taints *taints = mem_zalloc(sizeof(*taints));
    taints->hub = hub;
    taints->queue = workqueue_new(hub_loop(hub), PARALLEL, work, taints);
    return taints;
}

static void stop(void *self)
{
    struct taints *taints = self;
    workqueue_free(taints->queue);
    free(taints);
}

const struct controller TAINT_CONTROLLER = {start, changed, stop};
