/* Removes JOB_FINALIZER from pods that no longer have a Job, because the Job was deleted or is no
 * longer their controller. Otherwise their deletion would wait forever, because the Job controller
 * does not count these pods. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "engine/controllers/garbage.h"
#include "engine/controllers/job/job.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum { PARALLEL = 16, UNSYNCED_MS = 20 };

struct orphans {
    struct hub *hub;
    struct workqueue *queue; /* keys of pods */
};

/* The call that removes the finalizer of a pod. */
struct release {
    struct hub_task task;
    struct orphans *orphans;
    char *key;
};

static void release_free(struct hub_task *task)
{
    struct release *release = CONTAINER_OF(task, struct release, task);
    free(release->key);
    free(release);
}

static void on_released(void *context, struct json *object, const struct err *err)
{
    struct release *release = context;
    bool is_ignored = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    workqueue_done(release->orphans->queue, release->key, err && !is_ignored);
    hub_task_end(&release->task);
}

/* Returns whether the Job that controls the pod exists. A new Job with the same name has another
 * uid and does not count. */
static bool has_job(struct orphans *orphans, const struct kube_object *pod)
{
    const struct json *owner = kube_meta_controller(pod->json);
    if (!owner || !str_eq(json_get_string(owner, "kind", ""), "Job"))
        return false;
    struct kube_object *job =
        kube_informer_get(hub_informer(orphans->hub, "jobs.batch"), pod->namespace_,
                          json_get_string(owner, "name", ""));
    return job && str_eq(job->uid, json_get_string(owner, "uid", ""));
}

static void job_orphan_controller_work(void *context, const char *key)
{
    struct orphans *orphans = context;
    struct hub *hub = orphans->hub;
    if (!hub_synced(hub)) {
        workqueue_defer(orphans->queue, key, UNSYNCED_MS);
        return;
    }
    struct kube_object *pod = kube_informer_find(hub_informer(hub, "pods"), key);
    if (!pod || !kube_meta_has_finalizer(pod->json, JOB_FINALIZER) || has_job(orphans, pod)) {
        workqueue_done(orphans->queue, key, false);
        return;
    }
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct release *release = mem_zalloc(sizeof(*release));
    hub_task_begin(hub, &release->task, release_free);
    release->orphans = orphans;
    release->key = mem_strdup(key);
    kube_patch(hub_client(hub), &KUBE_PODS, pod->namespace_, pod->name, NULL,
               garbage_finalizer_patch(arena, pod->json, JOB_FINALIZER), on_released, release);
}

static void job_orphan_enqueue(struct orphans *orphans, const struct kube_object *pod)
{
    _cleanup_free_ char *key = mem_printf("%s/%s", pod->namespace_, pod->name);
    if (kube_meta_has_finalizer(pod->json, JOB_FINALIZER) && !has_job(orphans, pod))
        workqueue_add(orphans->queue, key);
}

static void on_orphan_pod_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    if (new_)
        job_orphan_enqueue(self, new_);
}

static void on_orphan_job_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct orphans *orphans = self;
    if (new_)
        return;
    struct kube_informer *pods = hub_informer(orphans->hub, "pods");
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(pods, old->namespace_, &at));)
        if (kube_meta_is_controlled_by(pod->json, old->uid))
            job_orphan_enqueue(orphans, pod);
}

static void *job_orphan_controller_start(struct hub *hub)
{
    struct orphans *orphans = mem_zalloc(sizeof(*orphans));
    orphans->hub = hub;
    orphans->queue = workqueue_new(hub_loop(hub), PARALLEL, job_orphan_controller_work, orphans);
    return orphans;
}

static void job_orphan_controller_stop(void *self)
{
    struct orphans *orphans = self;
    workqueue_free(orphans->queue);
    free(orphans);
}

static const struct controller_watch JOB_ORPHAN_WATCHES[] = {
    {"pods", on_orphan_pod_changed},
    {"jobs.batch", on_orphan_job_changed},
    {NULL, NULL},
};

const struct controller JOB_ORPHAN_CONTROLLER = {
    .start = job_orphan_controller_start,
    .stop = job_orphan_controller_stop,
    .watches = JOB_ORPHAN_WATCHES,
};
