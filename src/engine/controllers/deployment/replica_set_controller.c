/* Runs ReplicaSets: hears of sets and pods, asks replica_set_reconcile() what shall be done and has
 * it done: whose pods are whose first, then pods deleted and made, then the status. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/deployment/replica_set.h"
#include "engine/controllers/garbage.h"
#include "engine/controllers/workloads.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <stdlib.h>

enum { STAGE_ACTIONS, STAGE_STATUS = STAGE_ACTIONS + REPLICA_ACTION_TYPES, STAGES };

struct set_run {
    struct workload_run run; /* first */
    struct replica_plan plan;
    const char *failure, *message; /* reason and cause of the first failure; NULL: none */
};

struct call {
    struct set_run *run;
    const struct replica_action *action;
};

/* What is waited for after a deletion: that the pod is shown on its way out. */
static char *deletion_of(const char *uid)
{
    return mem_printf("-%s", uid);
}

/* ---- Carrying out ---------------------------------------------------------------------------- */

static void note_failure(struct set_run *run, enum replica_action_type type, const struct err *err)
{
    run->run.pass.failed = true;
    if (run->failure || (type != REPLICA_CREATE && type != REPLICA_DELETE))
        return;
    run->failure = type == REPLICA_CREATE ? "FailedCreate" : "FailedDelete";
    run->message = arena_strdup(run->run.pass.arena, err->message);
}

static void created(struct set_run *run, const struct json *pod)
{
    const char *uid = kube_meta_uid(pod);
    const struct kube_object *seen = kube_informer_get(
        hub_informer(run->run.hub, "pods"), kube_meta_namespace(pod), kube_meta_name(pod));
    if (!seen || !str_eq(seen->uid, uid))
        workload_run_wrote(&run->run, uid);
    kube_pass_tell(&run->run.pass, false, "SuccessfulCreate", "Created pod: %s",
                   kube_meta_name(pod));
}

static void deleted(struct set_run *run, const struct json *pod)
{
    const struct kube_object *seen = kube_informer_get(
        hub_informer(run->run.hub, "pods"), kube_meta_namespace(pod), kube_meta_name(pod));
    _cleanup_free_ char *write = deletion_of(kube_meta_uid(pod));
    if (seen && str_eq(seen->uid, kube_meta_uid(pod)) && !kube_meta_is_deleting(seen->json))
        workload_run_wrote(&run->run, write);
    kube_pass_tell(&run->run.pass, false, "SuccessfulDelete", "Deleted pod: %s",
                   kube_meta_name(pod));
}

static void on_answer(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct set_run *run = call->run;
    enum replica_action_type type = call->action->type;
    /* Gone, or changed meanwhile: the informer says so, and the next pass looks again. */
    bool settled =
        err && type != REPLICA_CREATE && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    if (err && !settled) {
        note_failure(run, type, err);
        if (type == REPLICA_CREATE)
            kube_pass_tell(&run->run.pass, true, "FailedCreate", "Error creating: %s",
                           err->message);
        else if (type == REPLICA_DELETE)
            kube_pass_tell(&run->run.pass, true, "FailedDelete", "Error deleting: %s",
                           err->message);
    } else if (!err && type == REPLICA_CREATE) {
        created(run, object);
    } else if (!err && type == REPLICA_DELETE) {
        deleted(run, call->action->pod);
    }
    kube_pass_answered(&run->run.pass);
}

static void start_action(struct set_run *run, const struct replica_action *action)
{
    struct kube_pass *pass = &run->run.pass;
    const char *namespace_ = pass->workload->namespace_;
    struct call *call = ARENA_NEW(pass->arena, struct call);
    struct kube_delete_options options = {.grace_period_seconds = -1};
    *call = (struct call){.run = run, .action = action};
    switch (action->type) {
    case REPLICA_ADOPT:
        kube_patch(pass->client, &KUBE_PODS, namespace_, kube_meta_name(action->pod), NULL,
                   garbage_adopt_patch(pass->arena, pass->workload->json, action->pod), on_answer,
                   call);
        break;
    case REPLICA_RELEASE:
        kube_patch(pass->client, &KUBE_PODS, namespace_, kube_meta_name(action->pod), NULL,
                   garbage_orphan_patch(pass->arena, action->pod, pass->workload->uid), on_answer,
                   call);
        break;
    case REPLICA_DELETE:
        options.uid = kube_meta_uid(action->pod);
        kube_delete(pass->client, &KUBE_PODS, namespace_, kube_meta_name(action->pod), &options,
                    on_answer, call);
        break;
    case REPLICA_CREATE:
        kube_create(pass->client, &KUBE_PODS, namespace_,
                    replica_set_pod(pass->arena, pass->workload->json), on_answer, call);
        break;
    case REPLICA_ACTION_TYPES:
        break;
    }
}

static void on_status(void *context, struct json *object, const struct err *err)
{
    struct set_run *run = context;
    if (err)
        kube_pass_give_up(&run->run.pass, err);
    else
        kube_pass_wrote(&run->run.pass, object);
    kube_pass_answered(&run->run.pass);
}

/* False if it is so already. */
static bool write_status(struct set_run *run)
{
    struct kube_pass *pass = &run->run.pass;
    struct json *object = json_clone(pass->arena, pass->workload->json);
    replica_set_note_failure(pass->arena, run->plan.status, run->failure, run->message,
                             loop_wall_ms(pass->loop));
    if (json_equal(run->plan.status, json_get(object, "status")))
        return false;
    json_set(pass->arena, object, "status", run->plan.status);
    kube_update_status(pass->client, &KUBE_REPLICASETS, pass->workload->namespace_,
                       pass->workload->name, object, on_status, run);
    return true;
}

static bool start_next(struct kube_pass *pass)
{
    struct set_run *run = CONTAINER_OF(pass, struct set_run, run.pass);
    if (pass->stage == STAGE_STATUS)
        return pass->position++ == 0 && write_status(run);
    while (pass->position < run->plan.action_count) {
        const struct replica_action *action = &run->plan.actions[pass->position++];
        /* One that could not be made is enough: the others would meet the same refusal. */
        if (STAGE_ACTIONS + (int)action->type == pass->stage && !run->failure) {
            start_action(run, action);
            return true;
        }
    }
    return false;
}

static const struct kube_pass_stages RUN_STAGES = {STAGES, start_next, NULL};

/* ---- Deciding -------------------------------------------------------------------------------- */

static void plan(struct workload_run *workload_run)
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
    .plan = plan,
};

/* ---- Hearing --------------------------------------------------------------------------------- */

/* A pod that nobody controls may be anybody's whose selector matches. */
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

static void changed(void *self, const struct kube_kind *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    if (str_eq(resource->storage, "pods")) {
        /* Whose it was hears of it, too. */
        if (old && (!new_ ||
                    !json_equal(kube_meta_controller(old->json), kube_meta_controller(new_->json))))
            pod_changed(self, old, new_ == NULL);
        if (new_)
            pod_changed(self, new_, false);
    } else if (str_eq(resource->storage, REPLICA_SETS.storage) && new_) {
        workloads_add(self, new_->namespace_, new_->name);
    } else if (str_eq(resource->storage, REPLICA_SETS.storage)) {
        workloads_add(self, old->namespace_, old->name);
    }
}

static void *start(struct hub *hub)
{
    struct workloads *sets = mem_zalloc(sizeof(*sets));
    workloads_init(sets, hub, &REPLICA_SETS);
    return sets;
}

static void stop(void *self)
{
    workloads_release(self);
    free(self);
}

const struct controller REPLICA_SET_CONTROLLER = {start, changed, stop};
