/* Makes the decisions for one workflow in order; see reconcile.h. The larger decisions are in the
 * other files of this folder. The controller calls workflow_reconcile() when a workflow has changed
 * or its requeue time has come. Pure: no I/O and no clock. */
#include "pipeline/reconcile/reconcile.h"

#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

static void workflow_pass_init(struct workflow_pass *pass, const struct workflow_observed *observed,
                               struct arena *arena, struct workflow_plan *plan)
{
    *pass = (struct workflow_pass){
        .arena = arena,
        .observed = observed,
        .workflow = observed->workflow,
        .spec = json_get(observed->workflow, "spec"),
        .name = kube_meta_name(observed->workflow),
        .namespace_ = kube_meta_namespace(observed->workflow),
        .uid = kube_meta_uid(observed->workflow),
        .now_ms = observed->now_ms,
        .plan = plan,
        .status = json_clone_object(arena, json_get(observed->workflow, "status")),
    };
    pass->parallelism = json_get_int(pass->spec, "parallelism", 0);
    workflow_nodes_init(&pass->nodes, arena, pass->name,
                        json_ensure_object(arena, pass->status, "nodes"), observed->now_ms);
    map_init(&pass->pods);
    map_init(&pass->gone);
    for (size_t i = 0; i < observed->pod_count; i++)
        map_put(&pass->pods, kube_meta_name(observed->pods[i]), (void *)observed->pods[i]);
    for (size_t i = 0; i < observed->gone_count; i++)
        map_put(&pass->gone, kube_meta_name(observed->gone[i]), (void *)observed->gone[i]);
    JSON_EACH (node, pass->nodes.tree) {
        pass->active += workflow_node_is_type(node, "Pod") && !workflow_node_is_final(node);
    }
}

static void pass_release(struct workflow_pass *pass)
{
    workflow_nodes_release(&pass->nodes);
    map_release(&pass->pods);
    map_release(&pass->gone);
}

static void workflow_set_time(struct workflow_pass *pass, struct json *object, const char *field)
{
    char text[MOMENT_TEXT_MAX];

    moment_format(pass->now_ms, text);
    json_set_string(pass->arena, object, field, text);
}

/* Sets a condition without times, as Argo does. A condition that was never true is not written. */
static void workflow_set_condition(struct workflow_pass *pass, const char *type, bool holds)
{
    const struct kube_condition wanted = {
        .type = type, .status = holds ? "True" : "False", .now_ms = -1};
    struct json *conditions = json_ensure_array(pass->arena, pass->status, "conditions");

    if (holds || kube_condition_find(conditions, type))
        kube_condition_set(pass->arena, conditions, &wanted, 0);
}

static void set_phase(struct workflow_pass *pass, enum workflow_phase phase, const char *message)
{
    struct json *labels = json_object(pass->arena);
    bool final = workflow_phase_is_final(phase);

    json_set_string(pass->arena, pass->status, "phase", workflow_phase_name(phase));
    if (message)
        json_set_string(pass->arena, pass->status, "message", message);
    else
        json_remove(pass->status, "message");
    json_set_string(pass->arena, labels, WORKFLOW_PHASE_LABEL, workflow_phase_name(phase));
    if (final) {
        json_set_string(pass->arena, labels, WORKFLOW_COMPLETED_LABEL, "true");
        workflow_set_time(pass, pass->status, "finishedAt");
        workflow_set_condition(pass, "Completed", true);
    }
    pass->plan->labels = labels;
}

static void end_workflow(struct workflow_pass *pass, enum workflow_phase phase, const char *message)
{
    set_phase(pass, phase, message);
    if (phase == WORKFLOW_SUCCEEDED)
        workflow_plan_event(pass->plan, false, "WorkflowSucceeded", "Workflow completed");
    else
        workflow_plan_event(pass->plan, true,
                            phase == WORKFLOW_FAILED ? "WorkflowFailed" : "WorkflowError", "%s",
                            message ? message : "Workflow failed");
}

static void report_artifacts(struct workflow_pass *pass)
{
    size_t count = 0;

    JSON_EACH (template_, json_get(pass->spec, "templates")) {
        count += json_count(json_at(template_, "outputs", "artifacts", NULL));
    }
    if (count)
        workflow_plan_event(pass->plan, false, "ArtifactsNotKept",
                            "%zu output artifacts are not kept: there is no artifact store; keep "
                            "files on a volume",
                            count);
}

/* Begins the workflow. Returns false if it cannot begin, or cannot begin yet. */
static bool workflow_begin(struct workflow_pass *pass)
{
    struct err why = ERR_INIT;
    bool valid = workflow_validate(pass->workflow, &why) == 0;
    struct workflow_prerequisites wanted = {0};

    if (valid)
        wanted = workflow_pass_prepare(pass);
    if (wanted.missing)
        return false;
    workflow_set_time(pass, pass->status, "startedAt");
    if (!valid || wanted.error) {
        end_workflow(pass, WORKFLOW_FAILED,
                     valid ? wanted.error
                           : arena_printf(pass->arena, "invalid spec: %s", why.message));
        return false;
    }
    set_phase(pass, WORKFLOW_RUNNING, NULL);
    workflow_plan_event(pass->plan, false, "WorkflowRunning", "Workflow Running");
    report_artifacts(pass);
    workflow_pass_list_claims(pass);
    return true;
}

/* Ends all nodes that have not ended. The cleanup deletes their pods. */
static void stop_nodes(struct workflow_pass *pass, const char *message)
{
    JSON_EACH (node, pass->nodes.tree) {
        if (!workflow_node_is_final(node))
            workflow_pass_set(pass, node, WORKFLOW_FAILED, message);
    }
}

/* Returns why the workflow must stop now, or NULL. Plans a pass at the deadline of the workflow. */
static const char *reason_to_stop(struct workflow_pass *pass)
{
    const char *shutdown = json_get_string(pass->spec, "shutdown", "");
    int64_t seconds = json_get_int(pass->spec, "activeDeadlineSeconds", -1);
    int64_t begun = workflow_node_time(pass->status, "startedAt"), left;

    if (shutdown[0])
        return arena_printf(pass->arena, "Stopped with strategy '%s'", shutdown);
    if (seconds < 0 || begun < 0)
        return NULL;
    left = moment_after(begun, seconds) - pass->now_ms;
    if (left <= 0)
        return "Max duration limit exceeded";
    workflow_plan_requeue(pass->plan, left);
    return NULL;
}

/* Begins or continues the entrypoint or the exit handler. */
static struct json *run_template(struct workflow_pass *pass, const char *node_name,
                                 const char *template_name)
{
    struct workflow_scope scope = {.pass = pass, .retries = -1};
    struct workflow_call call = {
        .name = node_name,
        .display = node_name,
        .template_ = workflow_template(pass->workflow, template_name),
        .arguments = json_get(pass->spec, "arguments"),
        .scope = &scope,
        .attempt = -1,
    };

    return workflow_call_run(pass, &call);
}

static void workflow_run_templates(struct workflow_pass *pass)
{
    const char *on_exit_ = json_get_string(pass->spec, "onExit", NULL);
    const char *stop = reason_to_stop(pass);
    struct json *root, *exit_node = NULL;

    pass->held = stop || json_get_bool(pass->spec, "suspend", false);
    root = run_template(pass, pass->name, json_get_string(pass->spec, "entrypoint", ""));
    if (stop && !workflow_node_is_final(root)) {
        stop_nodes(pass, stop);
        end_workflow(pass, WORKFLOW_FAILED, stop);
        return;
    }
    if (!workflow_node_is_final(root))
        return;
    if (!str_is_empty(on_exit_)) {
        exit_node =
            run_template(pass, arena_printf(pass->arena, "%s.onExit", pass->name), on_exit_);
        if (!workflow_node_is_final(exit_node) && !stop)
            return;
        if (workflow_node_phase(exit_node) == WORKFLOW_FAILED ||
            workflow_node_phase(exit_node) == WORKFLOW_ERROR)
            root = exit_node;
    }
    end_workflow(pass, workflow_node_phase(root), json_get_string(root, "message", NULL));
}

/* Sets the progress to "<ended pods>/<all pods>", and the condition PodRunning. */
static void set_progress(struct workflow_pass *pass)
{
    size_t pods = 0, ended = 0;
    bool running = false;

    JSON_EACH (node, pass->nodes.tree) {
        if (!workflow_node_is_type(node, "Pod"))
            continue;
        pods++;
        ended += workflow_node_is_final(node);
        running = running || workflow_node_phase(node) == WORKFLOW_RUNNING;
    }
    json_set(pass->arena, pass->status, "progress",
             json_stringf(pass->arena, "%zu/%zu", ended, pods));
    workflow_set_condition(pass, "PodRunning", running);
}

static void workflow_decide(struct workflow_pass *pass)
{
    bool over = workflow_phase_is_final(workflow_node_phase(pass->status));
    bool begun = json_get(pass->status, "startedAt") != NULL;

    if (!over && (begun || workflow_begin(pass))) {
        workflow_run_templates(pass);
        set_progress(pass);
    }
    workflow_pass_clean_up(pass);
}

int workflow_reconcile(const struct workflow_observed *observed, struct arena *arena,
                       struct workflow_plan *ret_plan, struct err *err)
{
    struct workflow_plan plan;
    struct workflow_pass pass;

    if (str_is_empty(kube_meta_name(observed->workflow)) ||
        str_is_empty(kube_meta_uid(observed->workflow)))
        return err_set(err, ERR_INTERNAL, "the workflow to reconcile has no name or no uid");
    workflow_plan_init(&plan, arena);
    /* The garbage collector deletes the pods of a workflow that is being deleted. */
    if (!kube_meta_is_deleting(observed->workflow)) {
        workflow_pass_init(&pass, observed, arena, &plan);
        workflow_decide(&pass);
        if (json_get(pass.status, "phase") &&
            !json_equal(pass.status, json_get(observed->workflow, "status")))
            plan.status = pass.status;
        pass_release(&pass);
    }
    *ret_plan = plan;
    return 0;
}
