/* Writes the status of PodGroups, which shows the state of the pods with the group's label. The
 * scheduler does not read this status: it decides from the groups' specs and the pods. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "engine/controllers/pod_group_status.h"
#include "engine/scheduler/gang.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

enum {
    PARALLEL = 16,
    GATHER_MS = 20, /* changes within this time are written together */
};

static const char STORAGE[] = "podgroups.scheduling.x-k8s.io";

struct pod_groups {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/name" of a group */
};

/* The call that writes the status of a group. */
struct writing {
    struct hub_task task;
    struct pod_groups *groups;
    char *key;
};

static void writing_release(struct hub_task *task)
{
    struct writing *writing = CONTAINER_OF(task, struct writing, task);
    free(writing->key);
    free(writing);
}

static void on_pod_group_written(void *context, struct json *object, const struct err *err)
{
    struct writing *writing = context;
    workqueue_done(writing->groups->queue, writing->key, err && err->code != ERR_NOT_FOUND);
    hub_task_end(&writing->task);
}

static int pod_group_compare_names(const void *a, const void *b)
{
    const struct json *const *x = a, *const *y = b;
    return strcmp(kube_meta_name(*x), kube_meta_name(*y));
}

/* Sets *ret to the pods of the group, sorted by name, in the arena. Returns their number. */
static size_t pod_group_gather_pods(struct pod_groups *groups, struct arena *arena,
                                    const struct kube_object *group, const struct json ***ret)
{
    struct kube_informer *pods = hub_informer(groups->hub, "pods");
    struct kube_object *pod;
    size_t count = 0, filled = 0;
    for (size_t at = 0; (pod = kube_informer_next(pods, group->namespace_, &at));)
        count += str_eq(kube_meta_label(pod->json, SCHEDULER_GANG_LABEL), group->name);
    const struct json **list = ARENA_ARRAY(arena, const struct json *, count + 1);
    for (size_t at = 0; (pod = kube_informer_next(pods, group->namespace_, &at));)
        if (str_eq(kube_meta_label(pod->json, SCHEDULER_GANG_LABEL), group->name))
            list[filled++] = pod->json;
    qsort(list, filled, sizeof(*list), pod_group_compare_names);
    *ret = list;
    return filled;
}

static void pod_group_controller_work(void *context, const char *key)
{
    struct pod_groups *groups = context;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_object *group = kube_informer_find(hub_informer(groups->hub, STORAGE), key);
    if (!group || !kube_informer_synced(hub_informer(groups->hub, "pods"))) {
        workqueue_done(groups->queue, key, false);
        if (group)
            workqueue_add_after(groups->queue, key, GATHER_MS);
        return;
    }
    const struct json **pods;
    size_t count = pod_group_gather_pods(groups, arena, group, &pods);
    struct json *status =
        pod_group_status(arena, group->json, pods, count, loop_wall_ms(hub_loop(groups->hub)));
    const struct json *old = json_get(group->json, "status");
    if (old && json_equal(status, old)) {
        workqueue_done(groups->queue, key, false);
        return;
    }
    struct writing *writing = mem_zalloc(sizeof(*writing));
    hub_task_begin(groups->hub, &writing->task, writing_release);
    writing->groups = groups;
    writing->key = mem_strdup(key);
    struct json *patch = json_object(arena);
    json_set(arena, patch, "status", status);
    kube_patch(hub_client(groups->hub), &KUBE_PODGROUPS, group->namespace_, group->name, "status",
               patch, on_pod_group_written, writing);
}

static void pod_group_enqueue(struct pod_groups *groups, const char *namespace_, const char *name)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", namespace_, name);
    workqueue_add_after(groups->queue, key, GATHER_MS);
}

static void on_pod_group_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    const struct kube_object *group = new_ ? new_ : old;
    pod_group_enqueue(self, group->namespace_, group->name);
}

static void on_pod_group_pod_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    const struct kube_object *pod = new_ ? new_ : old;
    const char *before = old ? kube_meta_label(old->json, SCHEDULER_GANG_LABEL) : NULL;
    const char *after = new_ ? kube_meta_label(new_->json, SCHEDULER_GANG_LABEL) : NULL;
    if (!str_is_empty(after))
        pod_group_enqueue(self, pod->namespace_, after);
    if (!str_is_empty(before) && !str_eq(before, after))
        pod_group_enqueue(self, pod->namespace_, before);
}

static void *pod_group_controller_start(struct hub *hub)
{
    struct pod_groups *groups = mem_zalloc(sizeof(*groups));
    groups->hub = hub;
    groups->queue = workqueue_new(hub_loop(hub), PARALLEL, pod_group_controller_work, groups);
    return groups;
}

static void pod_group_controller_stop(void *self)
{
    struct pod_groups *groups = self;
    workqueue_free(groups->queue);
    free(groups);
}

static const struct controller_watch POD_GROUP_WATCHES[] = {
    {STORAGE, on_pod_group_changed},
    {"pods", on_pod_group_pod_changed},
    {NULL, NULL},
};

const struct controller POD_GROUP_CONTROLLER = {
    .start = pod_group_controller_start,
    .stop = pod_group_controller_stop,
    .watches = POD_GROUP_WATCHES,
};
