/* Creates the claims of ephemeral volumes: one per volume, from the template in the pod. The pod
 * owns the claim, so the garbage collector deletes the claim with the pod. If a claim that was not
 * created for the pod already has the name, an event on the pod reports it. The pod's claim is
 * created when that claim is gone. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"
#include "kube/pod_claim.h"

#include <stdlib.h>

enum { PARALLEL = 16, UNSYNCED_MS = 20 };

struct ephemerals {
    struct hub *hub;
    struct workqueue *queue; /* keys of pods */
};

/* The claims of one pod that are being created. */
struct making {
    struct hub_task task;
    struct ephemerals *ephemerals;
    char *key;
    size_t open; /* calls in flight, plus 1 while new calls are started */
    bool failed;
};

static void making_release(struct hub_task *task)
{
    struct making *making = CONTAINER_OF(task, struct making, task);
    free(making->key);
    free(making);
}

static void ephemeral_report(struct ephemerals *ephemerals, const struct json *pod,
                             const char *message)
{
    kube_event(hub_client(ephemerals->hub), pod, "ephemeral_volume", "Warning", "FailedBinding",
               "%s", message);
}

static void ephemeral_making_unref(struct making *making)
{
    if (--making->open > 0)
        return;
    workqueue_done(making->ephemerals->queue, making->key, making->failed);
    hub_task_end(&making->task);
}

/* If the claim exists already, the informer will show it. The pod is queued then, and the owner of
 * the claim is checked. */
static void on_ephemeral_claim_made(void *context, struct json *object, const struct err *err)
{
    struct making *making = context;
    if (err && err->code != ERR_EXISTS) {
        struct kube_object *pod =
            kube_informer_find(hub_informer(making->ephemerals->hub, "pods"), making->key);
        _cleanup_free_ char *message =
            mem_printf("cannot create the claim of an ephemeral volume: %s", err->message);
        if (pod)
            ephemeral_report(making->ephemerals, pod->json, message);
        making->failed = true;
    }
    ephemeral_making_unref(making);
}

static void ephemeral_copy_member(struct arena *arena, struct json *target,
                                  const struct json *source, const char *name)
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
    ephemeral_copy_member(arena, json_get(claim, "metadata"), json_get(template_, "metadata"),
                          "labels");
    ephemeral_copy_member(arena, json_get(claim, "metadata"), json_get(template_, "metadata"),
                          "annotations");
    kube_meta_add_owner(arena, claim, kube_owner_reference_new(arena, pod, true));
    ephemeral_copy_member(arena, claim, template_, "spec");
    return claim;
}

/* Creates the missing claims, and reports claims of the same name that were not created for the
 * pod. */
static void make_missing(struct making *making, struct arena *arena, const struct kube_object *pod)
{
    struct hub *hub = making->ephemerals->hub;
    struct kube_informer *claims = hub_informer(hub, "persistentvolumeclaims");
    JSON_EACH (volume, json_at(pod->json, "spec", "volumes", NULL)) {
        if (!json_get(volume, "ephemeral"))
            continue;
        const struct kube_object *claim = kube_informer_get(
            claims, pod->namespace_, kube_pod_claim_name(arena, pod->json, volume));
        const char *rejection =
            claim ? kube_pod_claim_rejection(arena, pod->json, claim->json) : NULL;
        if (rejection)
            ephemeral_report(making->ephemerals, pod->json,
                             arena_printf(arena, "ephemeral volume %s: %s",
                                          json_get_string(volume, "name", ""), rejection));
        if (claim)
            continue;
        making->open++;
        kube_create(hub_client(hub), &KUBE_PVCS, pod->namespace_,
                    make_claim(arena, pod->json, volume), on_ephemeral_claim_made, making);
    }
}

static void ephemeral_controller_work(void *context, const char *key)
{
    struct ephemerals *ephemerals = context;
    if (!hub_synced(ephemerals->hub)) {
        workqueue_defer(ephemerals->queue, key, UNSYNCED_MS);
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
    making->open = 1; /* released at the end of this function */
    make_missing(making, arena, pod);
    ephemeral_making_unref(making);
}

/* Queues the pod if it has an ephemeral volume whose claim is `claim_name` (NULL: any claim). */
static void ephemeral_enqueue(struct ephemerals *ephemerals, const struct kube_object *pod,
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

static bool is_same_object(const struct kube_object *old, const struct kube_object *new_)
{
    return old && new_ && str_eq(old->uid, new_->uid);
}

static void on_ephemeral_pod_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    if (new_ && !is_same_object(old, new_))
        ephemeral_enqueue(self, new_, NULL);
}

static void on_ephemeral_claim_changed(void *self, struct kube_object *old,
                                       struct kube_object *new_)
{
    struct ephemerals *ephemerals = self;
    const struct kube_object *claim = new_ ? new_ : old;
    if (is_same_object(old, new_))
        return;
    struct kube_informer *pods = hub_informer(ephemerals->hub, "pods");
    const struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(pods, claim->namespace_, &at));)
        ephemeral_enqueue(ephemerals, pod, claim->name);
}

static void *ephemeral_controller_start(struct hub *hub)
{
    struct ephemerals *ephemerals = mem_zalloc(sizeof(*ephemerals));
    ephemerals->hub = hub;
    ephemerals->queue =
        workqueue_new(hub_loop(hub), PARALLEL, ephemeral_controller_work, ephemerals);
    return ephemerals;
}

static void ephemeral_controller_stop(void *self)
{
    struct ephemerals *ephemerals = self;
    workqueue_free(ephemerals->queue);
    free(ephemerals);
}

static const struct controller_watch EPHEMERAL_WATCHES[] = {
    {"pods", on_ephemeral_pod_changed},
    {"persistentvolumeclaims", on_ephemeral_claim_changed},
    {NULL, NULL},
};

const struct controller EPHEMERAL_CONTROLLER = {
    .start = ephemeral_controller_start,
    .stop = ephemeral_controller_stop,
    .watches = EPHEMERAL_WATCHES,
};
