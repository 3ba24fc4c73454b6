/* Plans the creation of the objects that must exist before a workflow begins: the claims of its
 * volumeClaimTemplates and, with `make_accounts`, the service accounts of its pods. The account
 * "pipeline-runner" also gets the rights that it has in an installation of Kubeflow. The status is
 * not written until the result of each creation is known. If a result is missing, all objects are
 * created again, which does no harm. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

const char *workflow_claim_name(struct workflow_pass *pass, const struct json *claim)
{
    return arena_printf(pass->arena, "%s-%s", pass->name, kube_meta_name(claim));
}

/* Plans the action that creates the object, and evaluates the result of this action in the previous
 * pass. */
static void prepare_object(struct workflow_pass *pass, enum workflow_action_type type,
                           const char *name, struct json *object,
                           struct workflow_prerequisites *wanted)
{
    const char *id = arena_printf(pass->arena, "%s/%s", json_get_string(object, "kind", ""), name);
    const struct workflow_result *result = workflow_pass_result(pass, id);
    struct workflow_action *action = workflow_plan_add(pass->plan, type, pass->namespace_, name);

    action->node_id = id;
    action->object = object;
    if (!result)
        wanted->missing = true;
    else if (result->error)
        wanted->error = arena_strdup(pass->arena, result->error);
}

static void want_claims(struct workflow_pass *pass, struct workflow_prerequisites *wanted)
{
    struct arena *arena = pass->arena;

    JSON_EACH (template_, json_get(pass->spec, "volumeClaimTemplates")) {
        const char *name = workflow_claim_name(pass, template_);
        struct json *claim = json_clone(arena, template_);

        json_remove(claim, "status");
        kube_object_set_kind(arena, claim, &KUBE_PVCS);
        kube_meta_set_name(arena, claim, name);
        kube_meta_add_owner(arena, claim, kube_owner_reference_new(arena, pass->workflow, true));
        prepare_object(pass, WORKFLOW_CREATE_CLAIM, name, claim, wanted);
    }
}

/* Pipelines of Kubeflow's SDK run as this service account. The embedded cluster has a ClusterRole
 * of the same name with the same rights as in an installation of Kubeflow Pipelines. */
static const char RUNNER[] = "pipeline-runner";

static struct json *make_runner_binding(struct workflow_pass *pass)
{
    struct arena *arena = pass->arena;
    struct json *binding = kube_object_make(arena, &KUBE_ROLEBINDINGS, pass->namespace_, RUNNER);
    struct json *role = json_ensure_object(arena, binding, "roleRef");
    struct json *subject = json_object(arena);

    json_set_string(arena, role, "apiGroup", KUBE_ROLEBINDINGS.group);
    json_set_string(arena, role, "kind", KUBE_CLUSTERROLES.kind);
    json_set_string(arena, role, "name", RUNNER);
    json_set_string(arena, subject, "kind", KUBE_SERVICEACCOUNTS.kind);
    json_set_string(arena, subject, "name", RUNNER);
    json_set_string(arena, subject, "namespace", pass->namespace_);
    json_append(json_ensure_array(arena, binding, "subjects"), subject);
    return binding;
}

static void want_account(struct workflow_pass *pass, const struct json *where,
                         struct workflow_prerequisites *wanted)
{
    const char *name = json_get_string(where, "serviceAccountName", "");

    if (!str_is_dns_subdomain(name) || str_eq(name, "default"))
        return;
    for (size_t i = 0; i < pass->plan->action_count; i++)
        if (pass->plan->actions[i].type == WORKFLOW_CREATE_ACCOUNT &&
            str_eq(pass->plan->actions[i].name, name))
            return;
    prepare_object(pass, WORKFLOW_CREATE_ACCOUNT, name,
                   kube_object_make(pass->arena, &KUBE_SERVICEACCOUNTS, pass->namespace_, name),
                   wanted);
    if (str_eq(name, RUNNER))
        prepare_object(pass, WORKFLOW_CREATE_BINDING, name, make_runner_binding(pass), wanted);
}

struct workflow_prerequisites workflow_pass_prepare(struct workflow_pass *pass)
{
    struct workflow_prerequisites wanted = {0};

    want_claims(pass, &wanted);
    if (pass->observed->make_accounts) {
        want_account(pass, pass->spec, &wanted);
        JSON_EACH (template_, json_get(pass->spec, "templates")) {
            want_account(pass, template_, &wanted);
        }
    }
    if (!wanted.missing)
        pass->plan->action_count = 0; /* everything exists */
    return wanted;
}

/* Lists the claims in the status, as Argo does. */
void workflow_pass_list_claims(struct workflow_pass *pass)
{
    struct arena *arena = pass->arena;

    JSON_EACH (template_, json_get(pass->spec, "volumeClaimTemplates")) {
        struct json *listed = json_object(arena);

        json_set_string(arena, listed, "name", kube_meta_name(template_));
        json_set_string(arena, json_ensure_object(arena, listed, "persistentVolumeClaim"),
                        "claimName", workflow_claim_name(pass, template_));
        json_append(json_ensure_array(arena, pass->status, "persistentVolumeClaims"), listed);
    }
}
