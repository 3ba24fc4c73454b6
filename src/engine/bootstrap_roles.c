/* Makes the default roles of Kubernetes and Kubeflow for the kinds that this server serves, the
 * service accounts of Kubeflow, and the default bindings; see bootstrap.h. In the tables below, a
 * string of several words separated by spaces is a list. */
#include "engine/bootstrap.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/kinds/registry.h"
#include "kube/object.h"

#define READ  "get list watch"
#define WRITE "create delete deletecollection patch update"
#define GROUP "rbac.authorization.k8s.io"

/* The name of the service account that pipelines of Kubeflow's SDK use, and of the account's role.
 * pipeline/reconcile/prepare.c makes the account and its binding in other namespaces. */
#define PIPELINE_RUNNER "pipeline-runner"

/* One rule of a role: it allows `verbs` on resources, or on paths that are not resources. */
struct rule {
    const char *groups; /* API groups; "": the core group */
    const char *resources, *verbs;
    const char *paths; /* if not NULL, the rule is about these paths, and has no groups */
};

static const struct rule EVERYTHING[] = {
    {"*", "*", "*", NULL},
    {NULL, NULL, "*", "*"},
    {0},
};

static const struct rule VIEW[] = {
    {"",
     "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods "
     "serviceaccounts services services/status",
     READ, NULL},
    {"",
     "bindings events limitranges namespaces/status pods/log pods/status resourcequotas "
     "resourcequotas/status",
     READ, NULL},
    {"", "namespaces", READ, NULL},
    {"apps",
     "controllerrevisions daemonsets daemonsets/status deployments deployments/scale "
     "deployments/status replicasets replicasets/scale replicasets/status statefulsets "
     "statefulsets/scale statefulsets/status",
     READ, NULL},
    {"batch", "cronjobs cronjobs/status jobs jobs/status", READ, NULL},
    {"discovery.k8s.io", "endpointslices", READ, NULL},
    {"networking.k8s.io", "ingresses ingresses/status networkpolicies", READ, NULL},
    {"metrics.k8s.io", "nodes pods", READ, NULL},
    {"argoproj.io kubeflow.org", "*", READ, NULL},
    {"scheduling.volcano.sh scheduling.x-k8s.io", "podgroups podgroups/status", READ, NULL},
    {0},
};

static const struct rule EDIT[] = {
    {"", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy", READ, NULL},
    {"", "serviceaccounts", "impersonate", NULL},
    {"", "pods pods/attach pods/exec pods/portforward pods/proxy", WRITE, NULL},
    {"", "pods/eviction", "create", NULL},
    {"", "configmaps events persistentvolumeclaims secrets serviceaccounts services services/proxy",
     WRITE, NULL},
    {"", "serviceaccounts/token", "create", NULL},
    {"apps",
     "daemonsets deployments deployments/rollback deployments/scale replicasets "
     "replicasets/scale statefulsets statefulsets/scale",
     WRITE, NULL},
    {"batch", "cronjobs jobs", WRITE, NULL},
    {"networking.k8s.io", "ingresses networkpolicies", WRITE, NULL},
    {"coordination.k8s.io", "leases", WRITE " " READ, NULL},
    {"argoproj.io kubeflow.org", "*", WRITE, NULL},
    {"scheduling.volcano.sh scheduling.x-k8s.io", "podgroups", WRITE, NULL},
    {0},
};

static const struct rule GRANT_ROLES[] = {
    {GROUP, "rolebindings roles", WRITE " " READ, NULL},
    {0},
};

static const struct rule REVIEW_SELF[] = {
    {"authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", "create", NULL},
    {"authentication.k8s.io", "selfsubjectreviews", "create", NULL},
    {0},
};

static const struct rule DISCOVER[] = {
    {NULL, NULL, "get",
     "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"},
    {0},
};

static const struct rule PUBLIC[] = {
    {NULL, NULL, "get", "/healthz /livez /readyz /version /version/"},
    {0},
};

/* The permissions that Kubeflow Pipelines grants to the service account of its steps. */
static const struct rule RUN_PIPELINES[] = {
    {"", "secrets", "get", NULL},
    {"", "configmaps", READ, NULL},
    {"", "persistentvolumeclaims persistentvolumes", "*", NULL},
    {"snapshot.storage.k8s.io", "volumesnapshots", "create delete get", NULL},
    {"argoproj.io", "workflows workflowtaskresults workflowtasksets workflowtasksets/status",
     READ " create patch update", NULL},
    {"", "pods pods/exec pods/log services", "*", NULL},
    {"apps extensions", "deployments replicasets", "*", NULL},
    {"batch", "jobs", "*", NULL},
    {"kubeflow.org", "*", "*", NULL},
    {"machinelearning.seldon.io", "seldondeployments", "*", NULL},
    {0},
};

enum { RULE_LISTS_MAX = 3 };

static const struct {
    const char *name;
    const struct rule *rule_lists[RULE_LISTS_MAX]; /* the role has all these rules */
    const char *groups; /* user groups that a default binding gives the role; NULL: no binding */
} ROLES[] = {
    {"cluster-admin", {EVERYTHING}, "system:masters"},
    {"admin", {GRANT_ROLES, EDIT, VIEW}, NULL},
    {"edit", {EDIT, VIEW}, NULL},
    {"view", {VIEW}, NULL},
    {"system:basic-user", {REVIEW_SELF}, "system:authenticated"},
    {"system:discovery", {DISCOVER}, "system:authenticated"},
    {"system:public-info-viewer", {PUBLIC}, "system:authenticated system:unauthenticated"},
    {PIPELINE_RUNNER, {RUN_PIPELINES}, NULL},
};

/* The service accounts of a Kubeflow installation. A RoleBinding gives each account its role in the
 * account's own namespace. */
static const struct {
    const char *namespace_, *name, *role;
} ACCOUNTS[] = {
    {"kubeflow", PIPELINE_RUNNER, PIPELINE_RUNNER},
    {"kubeflow-user-example-com", PIPELINE_RUNNER, PIPELINE_RUNNER},
    {"kubeflow-user-example-com", "default-editor", "edit"},
};

static void set_words(struct arena *arena, struct json *object, const char *member,
                      const char *words)
{
    size_t count;
    char **pieces = str_split(arena, words, ' ', &count);
    struct json *list = json_ensure_array(arena, object, member);
    for (size_t i = 0; i < count; i++)
        json_append(list, json_string(arena, pieces[i]));
}

/* Makes a role or binding with the label and annotation of Kubernetes' default roles. */
static struct json *make_rbac_object(struct arena *arena, const struct kube_resource *id,
                                     const char *namespace_, const char *name)
{
    struct json *object = kube_object_make(arena, id, namespace_, name);
    kube_meta_set_label(arena, object, "kubernetes.io/bootstrapping", "rbac-defaults");
    kube_meta_set_annotation(arena, object, "rbac.authorization.kubernetes.io/autoupdate", "true");
    return object;
}

static struct json *make_role(struct arena *arena, size_t position)
{
    struct json *role = make_rbac_object(arena, &KUBE_CLUSTERROLES, NULL, ROLES[position].name);
    struct json *rules = json_ensure_array(arena, role, "rules");
    for (size_t i = 0; i < RULE_LISTS_MAX && ROLES[position].rule_lists[i]; i++) {
        for (const struct rule *row = ROLES[position].rule_lists[i]; row->verbs; row++) {
            struct json *rule = json_object(arena);
            if (row->paths) {
                set_words(arena, rule, "nonResourceURLs", row->paths);
            } else {
                set_words(arena, rule, "apiGroups", row->groups);
                set_words(arena, rule, "resources", row->resources);
            }
            set_words(arena, rule, "verbs", row->verbs);
            json_append(rules, rule);
        }
    }
    return role;
}

static void refer_to_role(struct arena *arena, struct json *binding, const char *role)
{
    struct json *ref = json_ensure_object(arena, binding, "roleRef");
    json_set_string(arena, ref, "apiGroup", GROUP);
    json_set_string(arena, ref, "kind", "ClusterRole");
    json_set_string(arena, ref, "name", role);
}

static struct json *make_binding(struct arena *arena, size_t position)
{
    struct json *binding =
        make_rbac_object(arena, &KUBE_CLUSTERROLEBINDINGS, NULL, ROLES[position].name);
    struct json *subjects = json_ensure_array(arena, binding, "subjects");
    refer_to_role(arena, binding, ROLES[position].name);
    size_t count;
    char **groups = str_split(arena, ROLES[position].groups, ' ', &count);
    for (size_t i = 0; i < count; i++) {
        struct json *subject = json_object(arena);
        json_set_string(arena, subject, "apiGroup", GROUP);
        json_set_string(arena, subject, "kind", "Group");
        json_set_string(arena, subject, "name", groups[i]);
        json_append(subjects, subject);
    }
    return binding;
}

/* Makes the RoleBinding that gives the account at `position` its role. */
static struct json *make_account_binding(struct arena *arena, size_t position)
{
    const char *namespace_ = ACCOUNTS[position].namespace_, *name = ACCOUNTS[position].name;
    struct json *binding = make_rbac_object(arena, &KUBE_ROLEBINDINGS, namespace_, name);
    struct json *subject = json_object(arena);
    refer_to_role(arena, binding, ACCOUNTS[position].role);
    json_set_string(arena, subject, "kind", "ServiceAccount");
    json_set_string(arena, subject, "name", name);
    json_set_string(arena, subject, "namespace", namespace_);
    json_append(json_ensure_array(arena, binding, "subjects"), subject);
    return binding;
}

struct json *bootstrap_role_at(struct arena *arena, size_t position,
                               const struct kube_kind **ret_resource)
{
    for (size_t i = 0; i < ARRAY_SIZE(ROLES); i++) {
        if (position-- == 0) {
            *ret_resource = &KUBE_CLUSTERROLE_KIND;
            return make_role(arena, i);
        }
        if (ROLES[i].groups && position-- == 0) {
            *ret_resource = &KUBE_CLUSTERROLEBINDING_KIND;
            return make_binding(arena, i);
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(ACCOUNTS); i++) {
        if (position-- == 0) {
            *ret_resource = &KUBE_SERVICEACCOUNT_KIND;
            return kube_object_make(arena, &(*ret_resource)->id, ACCOUNTS[i].namespace_,
                                    ACCOUNTS[i].name);
        }
        if (position-- == 0) {
            *ret_resource = &KUBE_ROLEBINDING_KIND;
            return make_account_binding(arena, i);
        }
    }
    return NULL;
}
