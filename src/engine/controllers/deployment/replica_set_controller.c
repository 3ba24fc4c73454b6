/* Runs ReplicaSets: watches sets and pods, calls replica_set_reconcile() and carries out its plan:
 * adoption and release first, then deletion and creation of pods, then the status. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "engine/controllers/deployment/replica_set.h"
#include "engine/controllers/garbage.h"
#include "engine/controllers/workloads.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <stdlib.h>

enum { STAGE_ACTIONS, STAGE_STATUS = STAGE_ACTIONS + REPLICA_ACTION_TYPES, STAGES };

struct set_run {
    struct workload_run run; /* must be first */
    struct replica_plan plan;
    const char *failure, *message; /* reason and message of the first failure; NULL: none */
};

/* The context of a call. */
struct call {
    struct set_run *run;
    const struct replica_action *action;
};

/* Returns the name of a deletion for workloads_run_wrote(). The deletion is complete when the
 * informer shows that the pod is being deleted or is gone. */
static char *deletion_of(const char *uid)
{
    return mem_printf("-%s", uid);
}

/* ---- Carrying out a plan --------------------------------------------------------------------- */

static void note_failure(struct set_run *run, enum replica_action_type type, const struct err *err)
{
    run->run.pass.failed = true;
    if (run->failure || (type != REPLICA_CREATE && type != REPLICA_DELETE))
        return;
    run->failure = type == REPLICA_CREATE ? "FailedCreate" : "FailedDelete";
    run->message = arena_strdup(run->run.pass.arena, err->message);
}

static void on_replica_set_pod_created(struct set_run *run, const struct json *pod)
{
    const char *uid = kube_meta_uid(pod);
    const struct kube_object *seen = kube_informer_get(
        hub_informer(run->run.hub, "pods"), kube_meta_namespace(pod), kube_meta_name(pod));
    if (!seen || !str_eq(seen->uid, uid))
        workloads_run_wrote(&run->run, uid);
    kube_pass_event(&run->run.pass, false, "SuccessfulCreate", "Created pod: %s",
                    kube_meta_name(pod));
}

static void on_replica_set_pod_deleted(struct set_run *run, const struct json *pod)
{
    const struct kube_object *seen = kube_informer_get(
        hub_informer(run->run.hub, "pods"), kube_meta_namespace(pod), kube_meta_name(pod));
    _cleanup_free_ char *write = deletion_of(kube_meta_uid(pod));
    if (seen && str_eq(seen->uid, kube_meta_uid(pod)) && !kube_meta_is_deleting(seen->json))
        workloads_run_wrote(&run->run, write);
    kube_pass_event(&run->run.pass, false, "SuccessfulDelete", "Deleted pod: %s",
                    kube_meta_name(pod));
}

static void on_replica_set_answer(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct set_run *run = call->run;
    enum replica_action_type type = call->action->type;
    /* The object is gone or has changed: the informer will show that, and the next pass decides
     * again. */
    bool is_ignored =
        err && type != REPLICA_CREATE && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    if (err && !is_ignored) {
        note_failure(run, type, err);
        if (type == REPLICA_CREATE)
            kube_pass_event(&run->run.pass, true, "FailedCreate", "Error creating: %s",
                            err->message);
        else if (type == REPLICA_DELETE)
            kube_pass_event(&run->run.pass, true, "FailedDelete", "Error deleting: %s",
                            err->message);
    } else if (!err && type == REPLICA_CREATE) {
        on_replica_set_pod_created(run, object);
    } else if (!err && type == REPLICA_DELETE) {
        on_replica_set_pod_deleted(run, call->action->pod);
    }
    kube_pass_answered(&run->run.pass);
}

static void replica_set_start_action(struct set_run *run, const struct replica_action *action)
{
    struct kube_pass *pass = &run->run.pass;
    const char *namespace_ = pass->workload->namespace_;
    struct call *call = ARENA_NEW(pass->arena, struct call);
    struct kube_delete_options options = {.grace_period_seconds = -1};
    *call = (struct call){.run = run, .action = action};
    switch (action->type) {
    case REPLICA_ADOPT:
        kube_patch(pass->client, &KUBE_PODS, namespace_, kube_meta_name(action->pod), NULL,
                   garbage_adopt_patch(pass->arena, pass->workload->json, action->pod),
                   on_replica_set_answer, call);
        break;
    case REPLICA_RELEASE:
        kube_patch(pass->client, &KUBE_PODS, namespace_, kube_meta_name(action->pod), NULL,
                   garbage_orphan_patch(pass->arena, action->pod, pass->workload->uid),
                   on_replica_set_answer, call);
        break;
    case REPLICA_DELETE:
        options.uid = kube_meta_uid(action->pod);
        kube_delete(pass->client, &KUBE_PODS, namespace_, kube_meta_name(action->pod), &options,
                    on_replica_set_answer, call);
        break;
    case REPLICA_CREATE:
        kube_create(pass->client, &KUBE_PODS, namespace_,
                    replica_set_pod(pass->arena, pass->workload->json), on_replica_set_answer,
                    call);
        break;
    case REPLICA_ACTION_TYPES:
        break;
    }
}

static void on_replica_set_status(void *context, struct json *object, const struct err *err)
{
    struct set_run *run = context;
    if (err)
        kube_pass_abort(&run->run.pass, err);
    else
        kube_pass_add_write(&run->run.pass, object);
    kube_pass_answered(&run->run.pass);
}

/* Returns false if the status does not change. */
static bool replica_set_write_status(struct set_run *run)
{
    struct kube_pass *pass = &run->run.pass;
    struct json *object = json_clone(pass->arena, pass->workload->json);
    replica_set_note_failure(pass->arena, run->plan.status, run->failure, run->message,
                             loop_wall_ms(pass->loop));
    if (json_equal(run->plan.status, json_get(object, "status")))
        return false;
    json_set(pass->arena, object, "status", run->plan.status);
    kube_update_status(pass->client, &KUBE_REPLICASETS, pass->workload->namespace_,
                       pass->workload->name, object, on_replica_set_status, run);
    return true;
}

static bool replica_set_start_next(struct kube_pass *pass)
{
    struct set_run *run = CONTAINER_OF(pass, struct set_run, run.pass);
    if (pass->stage == STAGE_STATUS)
        return pass->position++ == 0 && replica_set_write_status(run);
    while (pass->position < run->plan.action_count) {
        const struct replica_action *action = &run->plan.actions[pass->position++];
        /* After a failed creation or deletion, the others would fail for the same reason. */
        if (STAGE_ACTIONS + (int)action->type == pass->stage && !run->failure) {
            replica_set_start_action(run, action);
            return true;
        }
    }
    return false;
}

static const struct kube_pass_stages RUN_STAGES = {STAGES, replica_set_start_next, NULL};

/* ---- Deciding -------------------------------------------------------------------------------- */

static void replica_set_plan(struct workload_run *workload_run)
{
    struct set_run *run = CONTAINER_OF(workload_run, struct set_run, run);
    struct kube_pass *pass = &run->run.pass;
    struct kube_informer *informer = hub_informer(run->run.hub, "pods");
    VEC(struct kube_object *) pods = {0};
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(informer, pass->workload->namespace_, &at));)
        if (!kube_meta_controller(pod->json) ||
            kube_meta_is_controlled_by(pod->json, pass->workload->uid))
            vec_push(&pods, pod);
    struct replica_observed observed = {
        .set = pass->workload->json,
        .pods = kube_pass_hold_all(pass, pods.items, pods.count),
        .pod_count = pods.count,
        .now_ms = loop_wall_ms(pass->loop),
    };
    vec_release(&pods);
    replica_set_reconcile(pass->arena, &observed, &run->plan);
    run->run.requeue_ms = run->plan.requeue_ms;
}

static const struct workload_kind REPLICA_SETS = {
    .storage = "replicasets.apps",
    .component = "replicaset-controller",
    .stages = &RUN_STAGES,
    .run_size = sizeof(struct set_run),
    .plan = replica_set_plan,
};

/* ---- Changes of objects ---------------------------------------------------------------------- */

/* Queues every set whose selector matches the pod, because it may adopt the pod. */
static void orphan_changed(struct workloads *sets, const struct kube_object *pod)
{
    struct kube_informer *informer = hub_informer(sets->hub, REPLICA_SETS.storage);
    struct kube_object *set;
    for (size_t at = 0; (set = kube_informer_next(informer, pod->namespace_, &at));) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct kube_selector selector;
        if (kube_selector_from_json(arena, json_at(set->json, "spec", "selector", NULL), &selector,
                                    NULL) == 0 &&
            kube_selector_matches(&selector, kube_meta_labels(pod->json)))
            workloads_add(sets, set->namespace_, set->name);
    }
}

static void pod_changed(struct workloads *sets, const struct kube_object *pod, bool gone)
{
    const struct json *owner = kube_meta_controller(pod->json);
    const char *name = json_get_string(owner, "name", "");
    if (!owner) {
        if (!gone)
            orphan_changed(sets, pod);
        return;
    }
    if (!str_eq(json_get_string(owner, "kind", ""), KUBE_REPLICASETS.kind))
        return;
    workloads_saw(sets, pod->namespace_, name, pod->uid);
    if (gone || kube_meta_is_deleting(pod->json)) {
        _cleanup_free_ char *write = deletion_of(pod->uid);
        workloads_saw(sets, pod->namespace_, name, write);
    }
    workloads_add(sets, pod->namespace_, name);
}

static void on_replica_set_pod_changed(void *self, struct kube_object *old,
                                       struct kube_object *new_)
{
    /* The set that no longer controls the pod is queued, too. */
    if (old &&
        (!new_ || !json_equal(kube_meta_controller(old->json), kube_meta_controller(new_->json))))
        pod_changed(self, old, new_ == NULL);
    if (new_)
        pod_changed(self, new_, false);
}

static void on_replica_set_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    const struct kube_object *set = new_ ? new_ : old;
    workloads_add(self, set->namespace_, set->name);
}

static void *replica_set_controller_start(struct hub *hub)
{
    struct workloads *sets = mem_zalloc(sizeof(*sets));
    workloads_init(sets, hub, &REPLICA_SETS);
    return sets;
}

static void replica_set_controller_stop(void *self)
{
    workloads_release(self);
    free(self);
}

static const struct controller_watch REPLICA_SET_WATCHES[] = {
    {"replicasets.apps", on_replica_set_changed},
    {"pods", on_replica_set_pod_changed},
    {NULL, NULL},
};

const struct controller REPLICA_SET_CONTROLLER = {
    .start = replica_set_controller_start,
    .stop = replica_set_controller_stop,
    .watches = REPLICA_SET_WATCHES,
};
