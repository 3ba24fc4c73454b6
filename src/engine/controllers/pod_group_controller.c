/* Keeps the status of PodGroups: what the pods with a group's label do together. It decides
 * nothing; the scheduler starts groups, and others read here how that went. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/hub.h"
#include "engine/controllers/pod_group_status.h"
#include "engine/scheduler/gang.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

enum { PARALLEL = 16, GATHER_MS = 20 };

static const char STORAGE[] = "podgroups.scheduling.x-k8s.io";

struct pod_groups {
    struct hub *hub;
    struct workqueue *queue;
};

/* A status on its way. */
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

static void written(void *context, struct json *object, const struct err *err)
{
    struct writing *writing = context;
    workqueue_done(writing->groups->queue, writing->key, err && err->code != ERR_NOT_FOUND);
    hub_task_end(&writing->task);
}

static int compare_names(const void *a, const void *b)
{
    const struct json *const *x = a, *const *y = b;
    return strcmp(kube_meta_name(*x), kube_meta_name(*y));
}

static size_t gather_pods(struct pod_groups *groups, struct arena *arena,
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
    qsort(list, filled, sizeof(*list), compare_names);
    *ret = list;
    return filled;
}

static void work(void *context, const char *key)
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
    size_t count = gather_pods(groups, arena, group, &pods);
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
               patch, written, writing);
}

static void enqueue(struct pod_groups *groups, const char *namespace_, const char *name)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", namespace_, name);
    workqueue_add_after(groups->queue, key, GATHER_MS);
}

static void changed(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    const struct kube_object *either = new_ ? new_ : old;
    if (str_eq(resource->storage, STORAGE)) {
        enqueue(self, either->namespace_, either->name);
    } else if (str_eq(resource->storage, "pods")) {
        const char *before = old ? kube_meta_label(old->json, SCHEDULER_GANG_LABEL) : NULL;
        const char *after = new_ ? kube_meta_label(new_->json, SCHEDULER_GANG_LABEL) : NULL;
        if (!str_is_empty(after))
            enqueue(self, either->namespace_, after);
        if (!str_is_empty(before) && !str_eq(before, after))
            enqueue(self, either->namespace_, before);
    }
}

static void *start(struct hub *hub)
{
    struct pod_groups *groups = mem_zalloc(sizeof(*groups));
    groups->hub = hub;
    groups->queue = workqueue_new(hub_loop(hub), PARALLEL, work, groups);
    return groups;
}

static void stop(void *self)
{
    struct pod_groups *groups = self;
    workqueue_free(groups->queue);
    free(groups);
}

const struct controller POD_GROUP_CONTROLLER = {start, changed, stop};
