/* Runs Deployments: watches deployments, their replica sets and, for the strategy Recreate, pods.
 * Calls deployment_reconcile() and carries out its plan: the replica sets first, then the status,
 * then the revision annotation. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "engine/controllers/deployment/deployment.h"
#include "engine/controllers/garbage.h"
#include "engine/controllers/workloads.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <stdlib.h>

enum {
    STAGE_ACTIONS,
    STAGE_STATUS = STAGE_ACTIONS + DEPLOYMENT_ACTION_TYPES,
    STAGE_REVISION,
    STAGES,
};

struct deployment_run {
    struct workload_run run; /* must be first */
    struct deployment_plan plan;
};

/* The context of a call. */
struct call {
    struct deployment_run *run;
    const struct deployment_action *action;
};

/* Returns the name of a write for workloads_run_wrote(). The write is complete when the informer
 * shows this version of the set. */
static char *deployment_set_version(const struct json *set)
{
    return mem_printf("%s@%s", kube_meta_uid(set), kube_meta_resource_version(set));
}

/* ---- Carrying out a plan --------------------------------------------------------------------- */

/* Lets the next pass wait for the written set, unless the informer shows it already. */
static void wait_for_set(struct deployment_run *run, const struct json *set)
{
    _cleanup_free_ char *write = deployment_set_version(set);
    const struct kube_object *seen =
        kube_informer_get(hub_informer(run->run.hub, "replicasets.apps"), kube_meta_namespace(set),
                          kube_meta_name(set));
    if (!seen || !str_eq(kube_meta_resource_version(seen->json), kube_meta_resource_version(set)))
        workloads_run_wrote(&run->run, write);
}

/* Handles a set that could not be created. If its name is taken, either the deployment has created
 * the set already and the informer has not shown it yet, or another set has the name, for example
 * because its template has the same hash. */
static void handle_not_created(struct deployment_run *run, const struct json *set,
                               const struct err *err)
{
    struct kube_pass *pass = &run->run.pass;
    const struct kube_object *taken =
        kube_informer_get(hub_informer(run->run.hub, "replicasets.apps"), kube_meta_namespace(set),
                          kube_meta_name(set));
    bool ours = taken && kube_meta_is_controlled_by(taken->json, pass->workload->uid) &&
                deployment_same_template(json_at(taken->json, "spec", "template", NULL),
                                         json_at(set, "spec", "template", NULL));
    pass->failed = true;
    if (err->code == ERR_EXISTS) {
        if (taken && !ours)
            deployment_note_collision(pass->arena, run->plan.status);
        return;
    }
    const char *message = arena_printf(pass->arena, "Failed to create new replica set \"%s\": %s",
                                       kube_meta_name(set), err->message);
    deployment_note_failure(pass->arena, run->plan.status, message, loop_wall_ms(pass->loop));
    kube_pass_event(pass, true, "ReplicaSetCreateError", "%s", message);
}

static void on_deployment_answer(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct deployment_run *run = call->run;
    const struct deployment_action *action = call->action;
    struct kube_pass *pass = &run->run.pass;
    if (err && action->type == DEPLOYMENT_CREATE_SET)
        handle_not_created(run, action->set, err);
    /* The pass fails after a conflict, too: the next pass reads all objects again. */
    else if (err && err->code != ERR_NOT_FOUND)
        pass->failed = true;
    else if (!err && action->event)
        kube_pass_event(pass, false, "ScalingReplicaSet", "%s", action->event);
    if (!err && action->type != DEPLOYMENT_DELETE_SET && action->type != DEPLOYMENT_RELEASE)
        wait_for_set(run, object);
    kube_pass_answered(pass);
}

static void deployment_start_action(struct deployment_run *run,
                                    const struct deployment_action *action)
{
    struct kube_pass *pass = &run->run.pass;
    const char *namespace_ = pass->workload->namespace_, *name = kube_meta_name(action->set);
    struct call *call = ARENA_NEW(pass->arena, struct call);
    struct kube_delete_options options = {
        .grace_period_seconds = -1, .propagation = "Background", .uid = kube_meta_uid(action->set)};
    const struct json *patch = action->patch;
    *call = (struct call){.run = run, .action = action};
    switch (action->type) {
    case DEPLOYMENT_CREATE_SET:
        kube_create(pass->client, &KUBE_REPLICASETS, namespace_, action->set, on_deployment_answer,
                    call);
        return;
    case DEPLOYMENT_DELETE_SET:
        kube_delete(pass->client, &KUBE_REPLICASETS, namespace_, name, &options,
                    on_deployment_answer, call);
        return;
    case DEPLOYMENT_ADOPT:
        patch = garbage_adopt_patch(pass->arena, pass->workload->json, action->set);
        break;
    case DEPLOYMENT_RELEASE:
        patch = garbage_orphan_patch(pass->arena, action->set, pass->workload->uid);
        break;
    case DEPLOYMENT_PATCH_SET:
    case DEPLOYMENT_ACTION_TYPES:
        break;
    }
    kube_patch(pass->client, &KUBE_REPLICASETS, namespace_, name, NULL, patch, on_deployment_answer,
               call);
}

static void on_deployment_written(void *context, struct json *object, const struct err *err)
{
    struct deployment_run *run = context;
    if (err)
        kube_pass_abort(&run->run.pass, err);
    else
        kube_pass_add_write(&run->run.pass, object);
    kube_pass_answered(&run->run.pass);
}

/* Returns false if there is nothing to write. */
static bool deployment_write_status(struct deployment_run *run)
{
    struct kube_pass *pass = &run->run.pass;
    struct json *object = json_clone(pass->arena, pass->workload->json);
    if (!run->plan.status || json_equal(run->plan.status, json_get(object, "status")))
        return false;
    json_set(pass->arena, object, "status", run->plan.status);
    kube_update_status(pass->client, &KUBE_DEPLOYMENTS, pass->workload->namespace_,
                       pass->workload->name, object, on_deployment_written, run);
    return true;
}

static bool write_revision(struct deployment_run *run)
{
    struct kube_pass *pass = &run->run.pass;
    struct json *patch = json_object(pass->arena);
    if (!run->plan.revision || pass->failed)
        return false;
    kube_meta_set_annotation(pass->arena, patch, DEPLOYMENT_REVISION, run->plan.revision);
    kube_patch(pass->client, &KUBE_DEPLOYMENTS, pass->workload->namespace_, pass->workload->name,
               NULL, patch, on_deployment_written, run);
    return true;
}

static bool deployment_start_next(struct kube_pass *pass)
{
    struct deployment_run *run = CONTAINER_OF(pass, struct deployment_run, run.pass);
    if (pass->stage == STAGE_STATUS)
        return pass->position++ == 0 && deployment_write_status(run);
    if (pass->stage == STAGE_REVISION)
        return pass->position++ == 0 && write_revision(run);
    while (pass->position < run->plan.action_count && !pass->failed) {
        const struct deployment_action *action = &run->plan.actions[pass->position++];
        if (STAGE_ACTIONS + (int)action->type == pass->stage) {
            deployment_start_action(run, action);
            return true;
        }
    }
    return false;
}

static const struct kube_pass_stages RUN_STAGES = {STAGES, deployment_start_next, NULL};

/* ---- Deciding -------------------------------------------------------------------------------- */

/* Returns the pods of the sets that the deployment controls. */
static const struct json *const *deployment_gather_pods(struct deployment_run *run,
                                                        struct kube_object *const *sets,
                                                        size_t set_count, size_t *ret_count)
{
    struct kube_pass *pass = &run->run.pass;
    struct kube_informer *informer = hub_informer(run->run.hub, "pods");
    VEC(struct kube_object *) pods = {0};
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(informer, pass->workload->namespace_, &at));)
        for (size_t i = 0; i < set_count; i++)
            if (kube_meta_is_controlled_by(pod->json, sets[i]->uid) &&
                kube_meta_is_controlled_by(sets[i]->json, pass->workload->uid))
                vec_push(&pods, pod);
    *ret_count = pods.count;
    const struct json *const *trees = kube_pass_hold_all(pass, pods.items, pods.count);
    vec_release(&pods);
    return trees;
}

static void deployment_make_plan(struct workload_run *workload_run)
{
    struct deployment_run *run = CONTAINER_OF(workload_run, struct deployment_run, run);
    struct kube_pass *pass = &run->run.pass;
    struct kube_informer *informer = hub_informer(run->run.hub, "replicasets.apps");
    VEC(struct kube_object *) sets = {0};
    struct kube_object *set;
    for (size_t at = 0; (set = kube_informer_next(informer, pass->workload->namespace_, &at));)
        if (!kube_meta_controller(set->json) ||
            kube_meta_is_controlled_by(set->json, pass->workload->uid))
            vec_push(&sets, set);
    struct deployment_observed observed = {
        .deployment = pass->workload->json,
        .sets = kube_pass_hold_all(pass, sets.items, sets.count),
        .set_count = sets.count,
        .now_ms = loop_wall_ms(pass->loop),
    };
    observed.pods = deployment_gather_pods(run, sets.items, sets.count, &observed.pod_count);
    vec_release(&sets);
    deployment_reconcile(pass->arena, &observed, &run->plan);
    run->run.requeue_ms = run->plan.requeue_ms;
}

static const struct workload_kind DEPLOYMENTS = {
    .storage = "deployments.apps",
    .component = "deployment-controller",
    .stages = &RUN_STAGES,
    .run_size = sizeof(struct deployment_run),
    .plan = deployment_make_plan,
};

/* ---- Changes of objects ---------------------------------------------------------------------- */

/* Queues every deployment whose selector matches the set, because it may adopt the set. */
static void orphan_changed(struct workloads *deployments, const struct kube_object *set)
{
    struct kube_informer *informer = hub_informer(deployments->hub, DEPLOYMENTS.storage);
    struct kube_object *deployment;
    for (size_t at = 0; (deployment = kube_informer_next(informer, set->namespace_, &at));) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct kube_selector selector;
        if (kube_selector_from_json(arena, json_at(deployment->json, "spec", "selector", NULL),
                                    &selector, NULL) == 0 &&
            kube_selector_matches(&selector, kube_meta_labels(set->json)))
            workloads_add(deployments, deployment->namespace_, deployment->name);
    }
}

static void set_changed(struct workloads *deployments, const struct kube_object *set)
{
    const struct json *owner = kube_meta_controller(set->json);
    const char *name = json_get_string(owner, "name", "");
    if (!owner) {
        orphan_changed(deployments, set);
    } else if (str_eq(json_get_string(owner, "kind", ""), KUBE_DEPLOYMENTS.kind)) {
        _cleanup_free_ char *write = deployment_set_version(set->json);
        workloads_saw(deployments, set->namespace_, name, write);
        workloads_add(deployments, set->namespace_, name);
    }
}

/* With the strategy Recreate the rollout waits until no old pod runs any more. */
static void pod_gone(struct workloads *deployments, const struct kube_object *pod)
{
    const struct json *owner = kube_meta_controller(pod->json);
    const struct kube_object *set =
        kube_informer_get(hub_informer(deployments->hub, "replicasets.apps"), pod->namespace_,
                          json_get_string(owner, "name", ""));
    const struct json *set_owner = set ? kube_meta_controller(set->json) : NULL;
    if (str_eq(json_get_string(owner, "kind", ""), KUBE_REPLICASETS.kind) &&
        str_eq(json_get_string(set_owner, "kind", ""), KUBE_DEPLOYMENTS.kind))
        workloads_add(deployments, pod->namespace_, json_get_string(set_owner, "name", ""));
}

static void on_deployment_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    const struct kube_object *deployment = new_ ? new_ : old;
    workloads_add(self, deployment->namespace_, deployment->name);
}

static void on_deployment_set_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    if (old &&
        (!new_ || !json_equal(kube_meta_controller(old->json), kube_meta_controller(new_->json))))
        set_changed(self, old);
    if (new_)
        set_changed(self, new_);
}

static void on_deployment_pod_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    if (!new_)
        pod_gone(self, old);
}

static void *deployment_controller_start(struct hub *hub)
{
    struct workloads *deployments = mem_zalloc(sizeof(*deployments));
    workloads_init(deployments, hub, &DEPLOYMENTS);
    return deployments;
}

static void deployment_controller_stop(void *self)
{
    workloads_release(self);
    free(self);
}

static const struct controller_watch DEPLOYMENT_WATCHES[] = {
    {"deployments.apps", on_deployment_changed},
    {"replicasets.apps", on_deployment_set_changed},
    {"pods", on_deployment_pod_changed},
    {NULL, NULL},
};

const struct controller DEPLOYMENT_CONTROLLER = {
    .start = deployment_controller_start,
    .stop = deployment_controller_stop,
    .watches = DEPLOYMENT_WATCHES,
};
