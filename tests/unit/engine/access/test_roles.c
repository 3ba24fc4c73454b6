/* Tests accounts, tokens and roles through the API: what is denied, and with which message. */
#include "api.h"

#include "base/str.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define DEFAULT  "/api/v1/namespaces/default/"
#define RBAC     "/apis/rbac.authorization.k8s.io/v1/"
#define RBAC_IN  RBAC "namespaces/default/"
#define SELF_CAN "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

static const char *token_of(struct api *api, const char *account, const char *spec)
{
    const char *path = arena_printf(api->arena, DEFAULT "serviceaccounts/%s/token", account);
    struct answer answer = api_post(api, path, arena_printf(api->arena, "{\"spec\":{%s}}", spec));
    if (answer.status != 201)
        fail_msg("no token: %s", answer.body);
    return answer_at(api, &answer, "status.token");
}

static void grant_pod_reading(struct api *api)
{
    assert_int_equal(api_post(api, RBAC_IN "roles",
                              "{\"metadata\":{\"name\":\"pod-reader\"},\"rules\":[{\"verbs\":["
                              "\"get\",\"list\",\"watch\"],\"apiGroups\":[\"\"],\"resources\":["
                              "\"pods\"]}]}")
                         .status,
                     201);
    assert_int_equal(
        api_post(api, RBAC_IN "rolebindings",
                 "{\"metadata\":{\"name\":\"read-pods\"},\"roleRef\":{\"kind\":\"Role\",\"name\":"
                 "\"pod-reader\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"default\","
                 "\"namespace\":\"default\"}]}")
            .status,
        201);
}

/* Each namespace has an account and a certificate from the beginning. */
static void test_namespace_content(void **state)
{
    struct api own, *api = &own;
    api_open_with_ca(api, 1, "CA\n");
    struct answer answer = api_get(api, DEFAULT "configmaps/kube-root-ca.crt");
    assert_string_equal(json_get_string(json_get(answer.json, "data"), "ca.crt", ""), "CA\n");
    assert_int_equal(api_get(api, "/api/v1/namespaces/n/serviceaccounts/default").status, 404);
    assert_int_equal(
        api_post(api, "/api/v1/namespaces?dryRun=All", "{\"metadata\":{\"name\":\"n\"}}").status,
        201);
    assert_int_equal(api_get(api, "/api/v1/namespaces/n/serviceaccounts/default").status, 404);
    assert_int_equal(api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}").status,
                     201);
    assert_int_equal(api_get(api, "/api/v1/namespaces/n/serviceaccounts/default").status, 200);
    assert_int_equal(api_get(api, "/api/v1/namespaces/n/configmaps/kube-root-ca.crt").status, 200);
    /* The service account of pipelines of Kubeflow's SDK. */
    assert_int_equal(api_get(api, "/api/v1/namespaces/kubeflow-user-example-com/serviceaccounts/"
                                  "pipeline-runner")
                         .status,
                     200);
    api_close(api);
}

/* A server that starts restores its default roles, unless autoupdate is false. */
static void test_restart(void **state)
{
    struct api own, *api = &own;
    api_open_with_ca(api, 1, "CA\n");
    assert_int_equal(api_merge(api, RBAC "clusterroles/view", "{\"rules\":[]}").status, 200);
    assert_int_equal(api_merge(api, RBAC "clusterroles/edit",
                               "{\"metadata\":{\"annotations\":{\"rbac.authorization.kubernetes.io/"
                               "autoupdate\":\"false\"}},\"rules\":[]}")
                         .status,
                     200);
    assert_int_equal(api_delete(api, RBAC "clusterrolebindings/system:discovery", NULL).status,
                     200);
    api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}");

    api_restart(api, "another CA\n");
    struct answer answer = api_get(api, RBAC "clusterroles/view");
    assert_true(json_count(json_get(answer.json, "rules")) > 0);
    answer = api_get(api, RBAC "clusterroles/edit");
    assert_int_equal(json_count(json_get(answer.json, "rules")), 0);
    assert_int_equal(api_get(api, RBAC "clusterrolebindings/system:discovery").status, 200);
    answer = api_get(api, "/api/v1/namespaces/n/configmaps/kube-root-ca.crt");
    assert_string_equal(json_get_string(json_get(answer.json, "data"), "ca.crt", ""),
                        "another CA\n");
    api_close(api);
}

/* Kubeflow's account for pipelines may delete a claim of its namespace, as kfp's VolumeOp.delete()
 * does, and nothing in another namespace. */
static void test_the_pipeline_runner(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *method, *path;
        int status;
    } rows[] = {
        {"DELETE", "/api/v1/namespaces/kubeflow/persistentvolumeclaims/none", 404},
        {"GET", "/api/v1/namespaces/kubeflow/pods/none/log", 404},
        {"GET", "/apis/kubeflow.org/v1/namespaces/kubeflow/tfjobs", 200},
        {"GET", "/apis/argoproj.io/v1alpha1/namespaces/kubeflow/workflows", 200},
        {"DELETE", "/apis/batch/v1/namespaces/kubeflow/jobs/none", 404},
        {"DELETE", "/api/v1/namespaces/kubeflow/configmaps/none", 403},
        {"GET", "/api/v1/namespaces/kubeflow/secrets", 403},
        {"DELETE", "/api/v1/namespaces/default/persistentvolumeclaims/none", 403},
        {"GET", "/api/v1/pods", 403},
    };
    struct answer answer = api_post(
        api, "/api/v1/namespaces/kubeflow/serviceaccounts/pipeline-runner/token", "{\"spec\":{}}");
    const char *token = answer_at(api, &answer, "status.token");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        answer = api_call_as(api, token, rows[i].method, rows[i].path, NULL);
        if (answer.status != rows[i].status)
            fail_msg("%s %s: %s", rows[i].method, rows[i].path, answer.body);
    }
}

static void test_allowed_and_refused(void **state)
{
    struct api *api = *state;
    const char *token = token_of(api, "default", "");
    struct answer answer = api_call_as(api, token, "GET", DEFAULT "pods", NULL);
    assert_int_equal(answer.status, 403);
    assert_string_equal(answer_reason(&answer), "Forbidden");
    assert_string_equal(answer_message(&answer),
                        "pods is forbidden: User \"system:serviceaccount:default:default\" cannot "
                        "list resource \"pods\" in API group \"\" in the namespace \"default\"");
    assert_string_equal(answer_at(api, &answer, "details.kind"), "pods");
    /* Every authenticated user may use discovery and ask about itself. */
    assert_int_equal(api_call_as(api, token, "GET", "/apis", NULL).status, 200);
    assert_int_equal(api_call_as(api, token, "GET", "/api/v1", NULL).status, 200);
    assert_int_equal(api_call_as(api, token, "GET", "/openapi/v2", NULL).status, 200);
    answer = api_call_as(api, token, "GET", "/metrics", NULL);
    assert_string_equal(answer_message(&answer),
                        "forbidden: User \"system:serviceaccount:default:default\" cannot get path "
                        "\"/metrics\"");

    grant_pod_reading(api);
    assert_int_equal(api_call_as(api, token, "GET", DEFAULT "pods", NULL).status, 200);
    assert_int_equal(api_call_as(api, token, "GET", "/api/v1/pods", NULL).status, 403);
    assert_int_equal(api_call_as(api, token, "GET", DEFAULT "pods/x", NULL).status, 404);
    assert_int_equal(api_call_as(api, token, "GET", DEFAULT "secrets", NULL).status, 403);
    assert_int_equal(api_call_as(api, token, "POST", DEFAULT "pods", POD_X).status, 403);
    assert_int_equal(api_call_as(api, token, "DELETE", DEFAULT "pods", "").status, 403);
    answer = api_call_as(api, token, "GET", DEFAULT "pods/x/log", NULL);
    assert_string_equal(answer_message(&answer),
                        "pods \"x\" is forbidden: User \"system:serviceaccount:default:default\" "
                        "cannot get resource \"pods/log\" in API group \"\" in the namespace "
                        "\"default\"");
    answer = api_call_as(api, token, "PATCH", "/api/v1/nodes/n", "{}");
    assert_string_equal(answer_message(&answer),
                        "nodes \"n\" is forbidden: User \"system:serviceaccount:default:default\" "
                        "cannot patch resource \"nodes\" in API group \"\" at the cluster scope");
    /* A deleted binding has no effect on the next request. */
    assert_int_equal(api_delete(api, RBAC_IN "rolebindings/read-pods", NULL).status, 200);
    assert_int_equal(api_call_as(api, token, "GET", DEFAULT "pods", NULL).status, 403);
}

/* A list whose field selector allows one name is authorized like a request for that name. */
static void test_requests_with_resource_names(void **state)
{
    struct api *api = *state;
    const char *token = token_of(api, "default", "");
    api_post(api, RBAC_IN "roles",
             "{\"metadata\":{\"name\":\"one\"},\"rules\":[{\"verbs\":[\"get\",\"list\",\"watch\"],"
             "\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],\"resourceNames\":[\"c\"]},"
             "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"namespaces\"]}]}");
    api_post(api, RBAC_IN "rolebindings",
             "{\"metadata\":{\"name\":\"one\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"one\"},"
             "\"subjects\":[{\"kind\":\"Group\",\"name\":\"system:serviceaccounts:default\"}]}");
    assert_int_equal(
        api_call_as(api, token, "GET", DEFAULT "configmaps?fieldSelector=metadata.name%3Dc", NULL)
            .status,
        200);
    assert_int_equal(api_call_as(api, token, "GET", DEFAULT "configmaps", NULL).status, 403);
    assert_int_equal(api_call_as(api, token, "GET", DEFAULT "configmaps/d", NULL).status, 403);
    assert_int_equal(api_call_as(api, token, "GET", "/api/v1/namespaces/default", NULL).status,
                     200);
    assert_int_equal(api_call_as(api, token, "GET", "/api/v1/namespaces/kube-system", NULL).status,
                     403);
}

/* A token becomes invalid when its account is deleted, or the pod that it is bound to. */
static void test_invalidated_tokens(void **state)
{
    struct api *api = *state;
    assert_int_equal(
        api_post(api, DEFAULT "serviceaccounts", "{\"metadata\":{\"name\":\"b\"}}").status, 201);
    const char *token = token_of(api, "b", "");
    assert_int_equal(api_call_as(api, token, "GET", "/api", NULL).status, 200);
    assert_int_equal(api_delete(api, DEFAULT "serviceaccounts/b", NULL).status, 200);
    struct answer answer = api_call_as(api, token, "GET", "/api", NULL);
    assert_int_equal(answer.status, 401);
    assert_string_equal(answer_message(&answer), "Unauthorized");
    /* An account that is created again under the same name is another account. */
    api_post(api, DEFAULT "serviceaccounts", "{\"metadata\":{\"name\":\"b\"}}");
    assert_int_equal(api_call_as(api, token, "GET", "/api", NULL).status, 401);

    assert_int_equal(api_post(api, DEFAULT "pods", POD_X).status, 201);
    token = token_of(api, "default", "\"boundObjectRef\":{\"kind\":\"Pod\",\"name\":\"x\"}");
    answer =
        api_call_as(api, token, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}");
    assert_string_equal(answer_at(api, &answer, "status.userInfo.username"),
                        "system:serviceaccount:default:default");
    assert_string_equal(answer_at(api, &answer, "status.userInfo.groups.1"),
                        "system:serviceaccounts:default");
    const struct json *extra = json_at(answer.json, "status", "userInfo", "extra", NULL);
    assert_string_equal(
        json_text(json_element(json_get(extra, "authentication.kubernetes.io/pod-name"), 0)), "x");
    assert_int_equal(api_delete(api, DEFAULT "pods/x?gracePeriodSeconds=0", NULL).status, 200);
    assert_int_equal(api_call_as(api, token, "GET", "/api", NULL).status, 401);
}

static void test_token_request(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *spec, *message;
        int status;
    } rows[] = {
        {"\"expirationSeconds\":60",
         "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid "
         "value: "
         "60: may not specify a duration less than 10 minutes",
         422},
        {"\"audiences\":\"x\"", "spec.audiences: must be a list of at most 16 strings", 422},
        {"\"boundObjectRef\":{\"kind\":\"Secret\",\"name\":\"x\"}",
         "spec.boundObjectRef: cannot bind token to object of kind \"Secret\", only to a Pod", 422},
        {"\"boundObjectRef\":{\"kind\":\"Pod\",\"name\":\"x\"}", "pods \"x\" not found", 404},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer = api_post(api, DEFAULT "serviceaccounts/default/token",
                                        arena_printf(api->arena, "{\"spec\":{%s}}", rows[i].spec));
        assert_int_equal(answer.status, rows[i].status);
        assert_string_equal(answer_message(&answer), rows[i].message);
    }
    assert_int_equal(api_post(api, DEFAULT "serviceaccounts/none/token", "{}").status, 404);
    /* A token with another audience is rejected. */
    const char *token = token_of(api, "default", "\"audiences\":[\"vault\"]");
    assert_int_equal(api_call_as(api, token, "GET", "/api", NULL).status, 401);
    token = token_of(api, "default", "\"expirationSeconds\":600");
    api_run(api, 590 * 1000);
    assert_int_equal(api_call_as(api, token, "GET", "/api", NULL).status, 200);
    api_run(api, 10 * 1000);
    assert_int_equal(api_call_as(api, token, "GET", "/api", NULL).status, 401);
}

static void test_access_reviews(void **state)
{
    struct api *api = *state;
    const char *token = token_of(api, "default", "");
    static const char list_pods[] = "{\"spec\":{\"resourceAttributes\":{\"verb\":\"list\","
                                    "\"resource\":\"pods\",\"namespace\":\"default\"}}}";
    struct answer answer = api_post(api, SELF_CAN, list_pods);
    assert_string_equal(answer_at(api, &answer, "status.allowed"), "true");
    answer = api_call_as(api, token, "POST", SELF_CAN, list_pods);
    assert_string_equal(answer_at(api, &answer, "status.allowed"), "false");
    grant_pod_reading(api);
    answer = api_call_as(api, token, "POST", SELF_CAN, list_pods);
    assert_string_equal(answer_at(api, &answer, "status.allowed"), "true");
    assert_string_equal(answer_at(api, &answer, "status.reason"),
                        "RBAC: allowed by RoleBinding \"read-pods/default\" of Role \"pod-reader\" "
                        "to ServiceAccount \"default/default\"");
    answer = api_call_as(api, token, "POST", SELF_CAN, "{\"spec\":{}}");
    assert_int_equal(answer.status, 422);
    answer =
        api_call_as(api, token, "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                    "{\"spec\":{\"namespace\":\"default\"}}");
    const struct json *rules = json_at(answer.json, "status", "resourceRules", NULL);
    assert_string_equal(
        json_to_string(api->arena, json_element(rules, json_count(rules) - 1)),
        "{\"verbs\":[\"get\",\"list\",\"watch\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}");
}

/* A user that may write roles can grant only permissions that it has. */
static void test_escalation(void **state)
{
    struct api *api = *state;
    const char *token = token_of(api, "default", "");
    grant_pod_reading(api);
    api_post(api, RBAC_IN "rolebindings",
             "{\"metadata\":{\"name\":\"give\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"giver\"},"
             "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"default\",\"namespace\":"
             "\"default\"}]}");
    api_post(api, RBAC_IN "roles",
             "{\"metadata\":{\"name\":\"giver\"},\"rules\":[{\"verbs\":[\"create\",\"patch\"],"
             "\"apiGroups\":[\"rbac.authorization.k8s.io\"],\"resources\":[\"roles\","
             "\"rolebindings\"]}]}");
    struct answer answer = api_call_as(
        api, token, "POST", RBAC_IN "roles",
        "{\"metadata\":{\"name\":\"mine\"},\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],"
        "\"resources\":[\"secrets\"]}]}");
    assert_int_equal(answer.status, 403);
    assert_string_equal(
        answer_message(&answer),
        "roles.rbac.authorization.k8s.io \"mine\" is forbidden: user "
        "\"system:serviceaccount:default:default\" (groups=[\"system:serviceaccounts\" "
        "\"system:serviceaccounts:default\" \"system:authenticated\"]) is attempting to grant RBAC "
        "permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], "
        "Verbs:[\"get\"]}");
    assert_int_equal(api_call_as(api, token, "PATCH", RBAC_IN "roles/giver",
                                 "{\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],"
                                 "\"resources\":[\"*\"]}]}")
                         .status,
                     403);
    assert_int_equal(api_call_as(api, token, "POST", RBAC_IN "roles",
                                 "{\"metadata\":{\"name\":\"mine\"},\"rules\":[{\"verbs\":[\"get\"]"
                                 ",\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}")
                         .status,
                     201);
    static const char bind[] =
        "{\"metadata\":{\"name\":\"%s\"},\"roleRef\":{\"kind\":\"%s\",\"name\":\"%s\"},"
        "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"default\",\"namespace\":"
        "\"default\"}]}";
    struct arena *arena = api->arena;
    answer = api_call_as(api, token, "POST", RBAC_IN "rolebindings",
                         arena_printf(arena, bind, "all", "ClusterRole", "cluster-admin"));
    assert_int_equal(answer.status, 403);
    answer = api_call_as(api, token, "POST", RBAC_IN "rolebindings",
                         arena_printf(arena, bind, "none", "Role", "none"));
    assert_int_equal(answer.status, 404);
    answer = api_call_as(api, token, "POST", RBAC_IN "rolebindings",
                         arena_printf(arena, bind, "fine", "Role", "mine"));
    assert_int_equal(answer.status, 201);
}

static void test_refused_objects(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *path, *body, *message;
    } rows[] = {
        {RBAC_IN "roles", "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"verbs\":[\"get\"]}]}",
         "Role.rbac.authorization.k8s.io \"r\" is invalid: [rules[0].apiGroups: Required value: "
         "resource rules must supply at least one api group, rules[0].resources: Required value: "
         "resource rules must supply at least one resource]"},
        {RBAC_IN "roles",
         "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":["
         "\"/x\"]}]}",
         "Role.rbac.authorization.k8s.io \"r\" is invalid: rules[0].nonResourceURLs: Invalid "
         "value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs"},
        {RBAC "clusterrolebindings",
         "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":\"Role\",\"name\":\"r\"}}",
         "ClusterRoleBinding.rbac.authorization.k8s.io \"b\" is invalid: roleRef.kind: Unsupported "
         "value: \"Role\": supported values: \"ClusterRole\""},
        {RBAC "clusterrolebindings",
         "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"r\"},"
         "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"x\"}]}",
         "ClusterRoleBinding.rbac.authorization.k8s.io \"b\" is invalid: subjects[0].namespace: "
         "Required value"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer = api_post(api, rows[i].path, rows[i].body);
        assert_int_equal(answer.status, 422);
        assert_string_equal(answer_message(&answer), rows[i].message);
    }
    grant_pod_reading(api);
    struct answer answer =
        api_merge(api, RBAC_IN "rolebindings/read-pods", "{\"roleRef\":{\"name\":\"other\"}}");
    assert_string_equal(answer_message(&answer),
                        "RoleBinding.rbac.authorization.k8s.io \"read-pods\" is invalid: roleRef: "
                        "Invalid value: {\"kind\":\"Role\",\"name\":\"other\",\"apiGroup\":"
                        "\"rbac.authorization.k8s.io\"}: cannot change roleRef");
    assert_int_equal(api_get(api, RBAC "clusterroles/system:discovery").status, 200);
}

/* ---- Access of pods -------------------------------------------------------------------------- */

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"

static const struct json *mounts_of(const struct answer *pod, const char *list)
{
    return json_get(json_first(json_at(pod->json, "spec", list, NULL)), "volumeMounts");
}

static struct answer make_pod(struct api *api, const char *name, const char *spec)
{
    const char *text =
        arena_printf(api->arena,
                     "{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s\"containers\":[{\"name\":"
                     "\"m\",\"image\":\"x\"}]}}",
                     name, spec);
    return api_post(api, DEFAULT "pods", text);
}

static void test_pod_access(void **state)
{
    struct api own, *api = &own;
    api_open_with_ca(api, 1, "CA\n");
    struct answer pod =
        make_pod(api, "a", "\"initContainers\":[{\"name\":\"i\",\"image\":\"x\"}],");
    const struct json *volume = json_first(json_at(pod.json, "spec", "volumes", NULL));
    const char *name = json_get_string(volume, "name", "");
    assert_true(str_has_prefix(name, "kube-api-access-"));
    assert_string_equal(
        json_to_string(api->arena, json_at(volume, "projected", "sources", NULL)),
        "[{\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}},"
        "{\"configMap\":{\"name\":\"kube-root-ca.crt\",\"items\":[{\"key\":\"ca.crt\",\"path\":"
        "\"ca.crt\"}]}},{\"downwardAPI\":{\"items\":[{\"path\":\"namespace\",\"fieldRef\":{"
        "\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.namespace\"}}]}}]");
    const char *mount = arena_printf(
        api->arena, "[{\"name\":\"%s\",\"readOnly\":true,\"mountPath\":\"" TOKEN_PATH "\"}]", name);
    assert_string_equal(json_to_string(api->arena, mounts_of(&pod, "containers")), mount);
    assert_string_equal(json_to_string(api->arena, mounts_of(&pod, "initContainers")), mount);

    /* Token mounting is disabled by the pod; disabled by its account; and enabled by the pod
     * although its account disables it. */
    pod = make_pod(api, "b", "\"automountServiceAccountToken\":false,");
    assert_null(json_at(pod.json, "spec", "volumes", NULL));
    api_post(api, DEFAULT "serviceaccounts",
             "{\"metadata\":{\"name\":\"shy\"},\"automountServiceAccountToken\":false}");
    pod = make_pod(api, "c", "\"serviceAccountName\":\"shy\",");
    assert_null(json_at(pod.json, "spec", "volumes", NULL));
    pod =
        make_pod(api, "d", "\"serviceAccountName\":\"shy\",\"automountServiceAccountToken\":true,");
    assert_int_equal(json_count(json_at(pod.json, "spec", "volumes", NULL)), 1);
    /* The old name of the field. */
    pod = make_pod(api, "e", "\"serviceAccount\":\"shy\",");
    assert_string_equal(answer_at(api, &pod, "spec.serviceAccountName"), "shy");
    /* A mount that the container has at that path is kept. */
    pod = api_post(api, DEFAULT "pods",
                   "{\"metadata\":{\"name\":\"f\"},\"spec\":{\"volumes\":[{\"name\":\"own\","
                   "\"emptyDir\":{}}],\"containers\":[{\"name\":\"m\",\"image\":\"x\","
                   "\"volumeMounts\":[{\"name\":\"own\",\"mountPath\":\"" TOKEN_PATH "\"}]}]}}");
    assert_int_equal(pod.status, 201);
    assert_int_equal(json_count(json_at(pod.json, "spec", "volumes", NULL)), 1);
    assert_int_equal(json_count(mounts_of(&pod, "containers")), 1);

    pod = make_pod(api, "g", "\"serviceAccountName\":\"none\",");
    assert_int_equal(pod.status, 403);
    assert_string_equal(answer_message(&pod),
                        "pods \"g\" is forbidden: error looking up service account default/none: "
                        "serviceaccount \"none\" not found");
    api_close(api);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_namespace_content),
        cmocka_unit_test(test_restart),
        TEST(test_the_pipeline_runner),
        TEST(test_allowed_and_refused),
        TEST(test_requests_with_resource_names),
        TEST(test_invalidated_tokens),
        TEST(test_token_request),
        TEST(test_access_reviews),
        TEST(test_escalation),
        TEST(test_refused_objects),
        cmocka_unit_test(test_pod_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
