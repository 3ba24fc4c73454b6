/* Takes claims step by step to bound, and removes the volume of a claim that is gone. Each step's
 * answer changes an informer, which brings the claim back for the next one. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/claim_binder.h"
#include "engine/hub.h"
#include "kube/object.h"
#include "kube/workqueue.h"

#include <stdlib.h>

enum { PARALLEL = 16, UNSYNCED_MS = 20 };

struct claims {
    struct hub *hub;
    struct workqueue *queue; /* "namespace/name" of a claim, or "/name" of a volume */
};

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

static void stepped(void *context, struct json *object, const struct err *err)
{
    struct step *step = context;
    bool settled = err && (err->code == ERR_NOT_FOUND || err->code == ERR_EXISTS);
    workqueue_done(step->claims->queue, step->key, err && !settled);
    hub_task_end(&step->task);
}

/* The class it names, if that is there. */
static const struct json *class_of(struct claims *claims, const struct json *claim)
{
    const struct kube_object *class_ =
        kube_informer_get(hub_informer(claims->hub, "storageclasses.storage.k8s.io"), "",
                          json_get_string(json_get(claim, "spec"), "storageClassName", ""));
    return class_ ? class_->json : NULL;
}

static void work_on_claim(struct claims *claims, const char *key, const struct kube_object *claim)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_client *client = hub_client(claims->hub);
    const char *name = claim_volume_name(arena, claim->json);
    const struct kube_object *volume =
        kube_informer_get(hub_informer(claims->hub, "persistentvolumes"), "", name);
    const struct json *class_ = class_of(claims, claim->json);
    struct json *patch;
    switch (claim_next_step(arena, claim->json, class_, volume ? volume->json : NULL, &patch)) {
    case CLAIM_DONE:
        workqueue_done(claims->queue, key, false);
        return;
    case CLAIM_WAIT:
        kube_event(client, claim->json, "persistentvolume-controller", "Warning", "FailedBinding",
                   "volume \"%s\" not found or bound to another claim", name);
        workqueue_done(claims->queue, key, false);
        return;
    case CLAIM_WAIT_PROVISIONER:
        kube_event(client, claim->json, "persistentvolume-controller", "Normal",
                   "ExternalProvisioning",
                   "waiting for a volume to be created, either by external provisioner \"%s\" or "
                   "manually created by system administrator",
                   json_get_string(class_, "provisioner", ""));
        workqueue_done(claims->queue, key, false);
        return;
    case CLAIM_MAKE_VOLUME:
        kube_create(client, &KUBE_PVS, NULL, claim_make_volume(arena, claim->json, class_), stepped,
                    step_new(claims, key));
        return;
    case CLAIM_PATCH_CLAIM:
        kube_patch(client, &KUBE_PVCS, claim->namespace_, claim->name, NULL, patch, stepped,
                   step_new(claims, key));
        return;
    case CLAIM_PATCH_STATUS:
        kube_patch(client, &KUBE_PVCS, claim->namespace_, claim->name, "status", patch, stepped,
                   step_new(claims, key));
        return;
    case CLAIM_PATCH_VOLUME:
        kube_patch(client, &KUBE_PVS, NULL, name, NULL, patch, stepped, step_new(claims, key));
        return;
    case CLAIM_PATCH_VOLUME_STATUS:
        kube_patch(client, &KUBE_PVS, NULL, name, "status", patch, stepped, step_new(claims, key));
        return;
    }
}

/* A volume made for a claim goes with it. */
static void work_on_volume(struct claims *claims, const char *key, const struct kube_object *volume)
{
    const struct json *reference = json_at(volume->json, "spec", "claimRef", NULL);
    struct kube_informer *informer = hub_informer(claims->hub, "persistentvolumeclaims");
    const struct kube_object *claim =
        kube_informer_get(informer, json_get_string(reference, "namespace", ""),
                          json_get_string(reference, "name", ""));
    bool ours =
        str_eq(json_get_string(json_get(volume->json, "spec"), "persistentVolumeReclaimPolicy", ""),
               "Delete");
    bool lost = reference && kube_informer_synced(informer) &&
                (!claim || !str_eq(claim->uid, json_get_string(reference, "uid", "")));
    if (!ours || !lost || kube_meta_is_deleting(volume->json)) {
        workqueue_done(claims->queue, key, false);
        return;
    }
    struct kube_delete_options options = {.grace_period_seconds = -1, .uid = volume->uid};
    kube_delete(hub_client(claims->hub), &KUBE_PVS, NULL, volume->name, &options, stepped,
                step_new(claims, key));
}

static void work(void *context, const char *key)
{
    struct claims *claims = context;
    if (!hub_synced(claims->hub)) { /* a class may be on its way */
        workqueue_put_off(claims->queue, key, UNSYNCED_MS);
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

static void enqueue(struct claims *claims, const char *namespace_, const char *name)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", namespace_, name);
    workqueue_add(claims->queue, key);
}

static void claim_changed(struct claims *claims, const struct kube_object *claim, bool gone)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    if (gone)
        enqueue(claims, "", claim_volume_name(arena, claim->json));
    else
        enqueue(claims, claim->namespace_, claim->name);
}

static void volume_changed(struct claims *claims, const struct kube_object *volume)
{
    const struct json *reference = json_at(volume->json, "spec", "claimRef", NULL);
    const char *namespace_ = json_get_string(reference, "namespace", "");
    enqueue(claims, "", volume->name);
    if (namespace_[0])
        enqueue(claims, namespace_, json_get_string(reference, "name", ""));
}

static void changed(void *self, const struct registry_resource *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    if (str_eq(resource->id.plural, "persistentvolumeclaims"))
        claim_changed(self, new_ ? new_ : old, new_ == NULL);
    else if (str_eq(resource->id.plural, "persistentvolumes"))
        volume_changed(self, new_ ? new_ : old);
}

static void *start(struct hub *hub)
{
    struct claims *claims = mem_zalloc(sizeof(*claims));
    claims->hub = hub;
    claims->queue = workqueue_new(hub_loop(hub), PARALLEL, work, claims);
    return claims;
}

static void stop(void *self)
{
    struct claims *claims = self;
    workqueue_free(claims->queue);
    free(claims);
}

const struct controller CLAIM_CONTROLLER = {start, changed, stop};
