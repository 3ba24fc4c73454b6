/* Makes the claims of ephemeral volumes: one a volume, from the template in the pod, owned by the
 * pod and so deleted with it. A claim that has the name already and belongs to somebody else is
 * left alone, and the pod is told; it gets its own when that one is gone. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/hub.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"
#include "kube/pod_claim.h"

#include <stdlib.h>

enum { PARALLEL = 16, UNSYNCED_MS = 20 };

struct ephemerals {
    struct hub *hub;
    struct workqueue *queue; /* keys of pods */
};

/* The claims of one pod that are being made. */
struct making {
    struct hub_task task;
    struct ephemerals *ephemerals;
    char *key;
    size_t open; /* answers to come */
    bool failed;
};

static void making_release(struct hub_task *task)
{
    struct making *making = CONTAINER_OF(task, struct making, task);
    free(making->key);
    free(making);
}

static void tell(struct ephemerals *ephemerals, const struct json *pod, const char *message)
{
    kube_event(hub_client(ephemerals->hub), pod, "ephemeral_volume", "Warning", "FailedBinding",
               "%s", message);
}

static void answered(struct making *making)
{
    if (--making->open > 0)
        return;
    workqueue_done(making->ephemerals->queue, making->key, making->failed);
    hub_task_end(&making->task);
}

/* One that exists is seen when its informer shows it: it is ours, or the pod is told then. */
static void on_made(void *context, struct json *object, const struct err *err)
{
    struct making *making = context;
    if (err && err->code != ERR_EXISTS) {
        struct kube_object *pod =
            kube_informer_find(hub_informer(making->ephemerals->hub, "pods"), making->key);
        _cleanup_free_ char *message =
            mem_printf("cannot make the claim of an ephemeral volume: %s", err->message);
        if (pod)
            tell(making->ephemerals, pod->json, message);
        making->failed = true;
    }
    answered(making);
}

static void copy(struct arena *arena, struct json *target, const struct json *source,
                 const char *name)
{
    const struct json *value = json_get(source, name);
    if (value && value->type != JSON_NULL)
        json_set(arena, target, name, json_clone(arena, value));
}

static struct json *make_claim(struct arena *arena, const struct json *pod,
                               const struct json *volume)
{
    const struct json *template_ = json_at(volume, "ephemeral", "volumeClaimTemplate", NULL);
    struct json *claim = kube_object_make(arena, &KUBE_PVCS, kube_meta_namespace(pod),
                                          kube_pod_claim_name(arena, pod, volume));
    copy(arena, json_get(claim, "metadata"), json_get(template_, "metadata"), "labels");
    copy(arena, json_get(claim, "metadata"), json_get(template_, "metadata"), "annotations");
    kube_meta_add_owner(arena, claim, kube_owner_reference_new(arena, pod, true));
    copy(arena, claim, template_, "spec");
    return claim;
}

/* Make what is missing, and tell of what is somebody else's. */
static void make_missing(struct making *making, struct arena *arena, const struct kube_object *pod)
{
    struct hub *hub = making->ephemerals->hub;
    struct kube_informer *claims = hub_informer(hub, "persistentvolumeclaims");
    JSON_EACH (volume, json_at(pod->json, "spec", "volumes", NULL)) {
        if (!json_get(volume, "ephemeral"))
            continue;
        const struct kube_object *claim = kube_informer_get(
            claims, pod->namespace_, kube_pod_claim_name(arena, pod->json, volume));
        const char *refusal = claim ? kube_pod_claim_refusal(arena, pod->json, claim->json) : NULL;
        if (refusal)
            tell(making->ephemerals, pod->json,
                 arena_printf(arena, "ephemeral volume %s: %s", json_get_string(volume, "name", ""),
                              refusal));
        if (claim)
            continue;
        making->open++;
        kube_create(hub_client(hub), &KUBE_PVCS, pod->namespace_,
                    make_claim(arena, pod->json, volume), on_made, making);
    }
}

static void work(void *context, const char *key)
{
    struct ephemerals *ephemerals = context;
    if (!hub_synced(ephemerals->hub)) {
        workqueue_put_off(ephemerals->queue, key, UNSYNCED_MS);
        return;
    }
    struct kube_object *pod = kube_informer_find(hub_informer(ephemerals->hub, "pods"), key);
    if (!pod || kube_meta_is_deleting(pod->json)) {
        workqueue_done(ephemerals->queue, key, false);
        return;
    }
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct making *making = mem_zalloc(sizeof(*making));
    hub_task_begin(ephemerals->hub, &making->task, making_release);
    making->ephemerals = ephemerals;
    making->key = mem_strdup(key);
    making->open = 1; /* ourselves */
    make_missing(making, arena, pod);
    answered(making);
}

/* The pod, if it has an ephemeral volume: with the claim of this name, or any (NULL). */
static void enqueue(struct ephemerals *ephemerals, const struct kube_object *pod,
                    const char *claim_name)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    JSON_EACH (volume, json_at(pod->json, "spec", "volumes", NULL)) {
        if (!json_get(volume, "ephemeral") ||
            (claim_name && !str_eq(kube_pod_claim_name(arena, pod->json, volume), claim_name)))
            continue;
        workqueue_add(ephemerals->queue, arena_printf(arena, "%s/%s", pod->namespace_, pod->name));
        return;
    }
}

static void claim_changed(struct ephemerals *ephemerals, const struct kube_object *claim)
{
    struct kube_informer *pods = hub_informer(ephemerals->hub, "pods");
    const struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(pods, claim->namespace_, &at));)
        enqueue(ephemerals, pod, claim->name);
}

static void changed(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    if (new_ && old && str_eq(old->uid, new_->uid))
        return;
    if (str_eq(resource->storage, "pods") && new_)
        enqueue(self, new_, NULL);
    else if (str_eq(resource->storage, "persistentvolumeclaims"))
        claim_changed(self, new_ ? new_ : old);
}

static void *start(struct hub *hub)
{
    struct ephemerals *ephemerals = mem_zalloc(sizeof(*ephemerals));
    ephemerals->hub = hub;
    ephemerals->queue = workqueue_new(hub_loop(hub), PARALLEL, work, ephemerals);
    return ephemerals;
}

static void stop(void *self)
{
    struct ephemerals *ephemerals = self;
    workqueue_free(ephemerals->queue);
    free(ephemerals);
}

const struct controller EPHEMERAL_CONTROLLER = {start, changed, stop};
