/* Binds PersistentVolumeClaims to PersistentVolumes and completes their deletion: takes the steps
 * that claim_binder.h decides, one at a time. After each step, an informer reports the change, and
 * the claim or volume is queued for the next step. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/claim_binder.h"
#include "engine/controllers/controllers.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"
#include "kube/pod_claim.h"

#include <stdlib.h>

enum { PARALLEL = 16, UNSYNCED_MS = 20 };

struct claims {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/name" of a claim, or "/name" of a volume */
};

/* A step whose call is in flight. */
struct step {
    struct hub_task task;
    struct claims *claims;
    char *key;
};

static void step_release(struct hub_task *task)
{
    struct step *step = CONTAINER_OF(task, struct step, task);
    free(step->key);
    free(step);
}

static struct step *step_new(struct claims *claims, const char *key)
{
    struct step *step = mem_zalloc(sizeof(*step));
    hub_task_begin(claims->hub, &step->task, step_release);
    step->claims = claims;
    step->key = mem_strdup(key);
    return step;
}

static void on_claim_stepped(void *context, struct json *object, const struct err *err)
{
    struct step *step = context;
    bool is_ignored = err && (err->code == ERR_NOT_FOUND || err->code == ERR_EXISTS);
    workqueue_done(step->claims->queue, step->key, err && !is_ignored);
    hub_task_end(&step->task);
}

/* Returns the class that the claim names, or NULL if it does not exist. */
static const struct json *class_of(struct claims *claims, const struct json *claim)
{
    const struct kube_object *class_ = kube_informer_get(
        hub_informer(claims->hub, "storageclasses.storage.k8s.io"), "", claim_class_name(claim));
    return class_ ? class_->json : NULL;
}

/* Returns the volume that the claim names or that was created for it, else the best free volume.
 * Returns NULL if there is none. */
static const struct json *volume_of(struct claims *claims, struct arena *arena,
                                    const struct json *claim)
{
    struct kube_informer *volumes = hub_informer(claims->hub, "persistentvolumes");
    const struct kube_object *volume =
        kube_informer_get(volumes, "", claim_volume_name(arena, claim));
    if (volume)
        return volume->json;
    if (!str_is_empty(json_get_string(json_get(claim, "spec"), "volumeName", "")))
        return NULL;
    const struct json *best = NULL;
    for (size_t at = 0; (volume = kube_informer_next(volumes, NULL, &at));)
        if (claim_prefers(arena, claim, volume->json, best))
            best = volume->json;
    return best;
}

static bool is_used(struct claims *claims, const struct kube_object *claim)
{
    struct kube_informer *pods = hub_informer(claims->hub, "pods");
    const struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(pods, claim->namespace_, &at));)
        if (claim_is_used_by(claim->json, pod->json))
            return true;
    return false;
}

static void work_on_claim(struct claims *claims, const char *key, const struct kube_object *claim)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_client *client = hub_client(claims->hub);
    bool deleting = kube_meta_is_deleting(claim->json);
    bool bound = str_eq(json_get_string(json_get(claim->json, "status"), "phase", ""), "Bound");
    int64_t age_ms = loop_wall_ms(hub_loop(claims->hub)) - kube_meta_created_ms(claim->json);
    const struct claim_view view = {
        .claim = claim->json,
        .class_ = class_of(claims, claim->json),
        .volume = deleting ? NULL : volume_of(claims, arena, claim->json),
        .used = (deleting || !bound) && is_used(claims, claim),
        .overdue = age_ms >= CLAIM_PROVISION_WAIT_MS,
    };
    const char *volume_name = view.volume ? kube_meta_name(view.volume) : NULL;
    struct claim_event event;
    struct json *patch;
    enum claim_step next = claim_next_step(arena, &view, &patch, &event);
    if (event.message)
        kube_event(client, claim->json, "persistentvolume-controller", event.type, event.reason,
                   "%s", event.message);
    switch (next) {
    case CLAIM_DONE:
        workqueue_done(claims->queue, key, false);
        return;
    case CLAIM_WAIT:
        workqueue_done(claims->queue, key, false);
        if (!view.overdue)
            workqueue_add_after(claims->queue, key, CLAIM_PROVISION_WAIT_MS - age_ms);
        return;
    case CLAIM_MAKE_VOLUME:
        kube_create(client, &KUBE_PVS, NULL, claim_make_volume(arena, claim->json, view.class_),
                    on_claim_stepped, step_new(claims, key));
        return;
    case CLAIM_PATCH_CLAIM:
    case CLAIM_UNPROTECT:
        kube_patch(client, &KUBE_PVCS, claim->namespace_, claim->name, NULL, patch,
                   on_claim_stepped, step_new(claims, key));
        return;
    case CLAIM_PATCH_STATUS:
    case CLAIM_LOSE:
        kube_patch(client, &KUBE_PVCS, claim->namespace_, claim->name, "status", patch,
                   on_claim_stepped, step_new(claims, key));
        return;
    case CLAIM_PATCH_VOLUME:
        kube_patch(client, &KUBE_PVS, NULL, volume_name, NULL, patch, on_claim_stepped,
                   step_new(claims, key));
        return;
    case CLAIM_PATCH_VOLUME_STATUS:
        kube_patch(client, &KUBE_PVS, NULL, volume_name, "status", patch, on_claim_stepped,
                   step_new(claims, key));
        return;
    }
}

static void work_on_volume(struct claims *claims, const char *key, const struct kube_object *volume)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_client *client = hub_client(claims->hub);
    struct kube_delete_options options = {.grace_period_seconds = -1, .uid = volume->uid};
    const struct json *reference = json_at(volume->json, "spec", "claimRef", NULL);
    const struct kube_object *claim = kube_informer_get(
        hub_informer(claims->hub, "persistentvolumeclaims"),
        json_get_string(reference, "namespace", ""), json_get_string(reference, "name", ""));
    struct json *patch;
    switch (claim_volume_next_step(arena, volume->json, claim ? claim->json : NULL, &patch)) {
    case VOLUME_DONE:
        workqueue_done(claims->queue, key, false);
        return;
    case VOLUME_PATCH_STATUS:
        kube_patch(client, &KUBE_PVS, NULL, volume->name, "status", patch, on_claim_stepped,
                   step_new(claims, key));
        return;
    case VOLUME_DELETE:
        kube_delete(client, &KUBE_PVS, NULL, volume->name, &options, on_claim_stepped,
                    step_new(claims, key));
        return;
    case VOLUME_UNPROTECT:
        kube_patch(client, &KUBE_PVS, NULL, volume->name, NULL, patch, on_claim_stepped,
                   step_new(claims, key));
        return;
    }
}

static void claim_controller_work(void *context, const char *key)
{
    struct claims *claims = context;
    if (!hub_synced(claims->hub)) { /* the list of classes may not have arrived */
        workqueue_defer(claims->queue, key, UNSYNCED_MS);
        return;
    }
    bool is_claim = key[0] != '/';
    struct kube_object *object = kube_informer_find(
        hub_informer(claims->hub, is_claim ? "persistentvolumeclaims" : "persistentvolumes"), key);
    if (!object)
        workqueue_done(claims->queue, key, false);
    else if (is_claim)
        work_on_claim(claims, key, object);
    else
        work_on_volume(claims, key, object);
}

static void claim_enqueue(struct claims *claims, const char *namespace_, const char *name)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", namespace_, name);
    workqueue_add(claims->queue, key);
}

static void on_claim_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct claims *claims = self;
    const struct kube_object *claim = new_ ? new_ : old;
    if (!new_)
        claim_enqueue(claims, "", claim_volume_name(arena, claim->json));
    else
        claim_enqueue(claims, claim->namespace_, claim->name);
}

/* Queues all claims that are not bound. */
static void enqueue_waiting_claims(struct claims *claims)
{
    struct kube_informer *informer = hub_informer(claims->hub, "persistentvolumeclaims");
    const struct kube_object *claim;
    for (size_t at = 0; (claim = kube_informer_next(informer, NULL, &at));)
        if (!str_eq(json_get_string(json_get(claim->json, "status"), "phase", ""), "Bound"))
            claim_enqueue(claims, claim->namespace_, claim->name);
}

static void on_claim_volume_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct claims *claims = self;
    const struct kube_object *volume = new_ ? new_ : old;
    const struct json *reference = json_at(volume->json, "spec", "claimRef", NULL);
    claim_enqueue(claims, "", volume->name);
    if (reference)
        claim_enqueue(claims, json_get_string(reference, "namespace", ""),
                      json_get_string(reference, "name", ""));
    else
        enqueue_waiting_claims(claims);
}

static void on_claim_class_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    enqueue_waiting_claims(self);
}

static void enqueue_claims_of_pod(struct claims *claims, const struct kube_object *pod)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    JSON_EACH (volume, json_at(pod->json, "spec", "volumes", NULL)) {
        const char *name = kube_pod_claim_name(arena, pod->json, volume);
        if (name)
            claim_enqueue(claims, pod->namespace_, name);
    }
}

static const char *node_of(const struct kube_object *pod)
{
    return pod ? json_get_string(json_get(pod->json, "spec"), "nodeName", "") : NULL;
}

/* Returns whether the change affects which pods use the claims: the pod was created, deleted or
 * bound to a node, or has ended. */
static bool claim_use_changed(const struct kube_object *old, const struct kube_object *new_)
{
    return !str_eq(node_of(old), node_of(new_)) ||
           (old && new_ && claim_pod_has_ended(old->json) != claim_pod_has_ended(new_->json));
}

/* Queues the pod's claims. If the pod has ended or is gone, the deletion of its claims may complete
 * now. If the pod was bound to a node, its claims must be bound now. */
static void on_claim_pod_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    if (claim_use_changed(old, new_))
        enqueue_claims_of_pod(self, new_ ? new_ : old);
}

static void *claim_controller_start(struct hub *hub)
{
    struct claims *claims = mem_zalloc(sizeof(*claims));
    claims->hub = hub;
    claims->queue = workqueue_new(hub_loop(hub), PARALLEL, claim_controller_work, claims);
    return claims;
}

static void claim_controller_stop(void *self)
{
    struct claims *claims = self;
    workqueue_free(claims->queue);
    free(claims);
}

static const struct controller_watch CLAIM_WATCHES[] = {
    {"persistentvolumeclaims", on_claim_changed},
    {"persistentvolumes", on_claim_volume_changed},
    {"storageclasses.storage.k8s.io", on_claim_class_changed},
    {"pods", on_claim_pod_changed},
    {NULL, NULL},
};

const struct controller CLAIM_CONTROLLER = {
    .start = claim_controller_start,
    .stop = claim_controller_stop,
    .watches = CLAIM_WATCHES,
};
