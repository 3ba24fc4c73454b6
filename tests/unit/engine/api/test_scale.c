/* Tests the scale subresource: what it shows of a job, what a write changes, and what is
 * rejected. */
#include "api.h"

#include "base/str.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define TFJOBS "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
#define TORCH  "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
#define OLD    "/apis/kubeflow.org/v1beta1/namespaces/default/tfjobs"

static void make_job(struct api *api, const char *path, const char *specs)
{
    const char *member =
        str_has_suffix(path, "pytorchjobs") ? "pytorchReplicaSpecs" : "tfReplicaSpecs";
    const char *body = arena_printf(
        api->arena, "{'metadata': {'name': 'j'}, 'spec': {'%s': %s, 'x': 1.50}}", member, specs);
    assert_int_equal(api_post(api, path, quoted(api->arena, body)).status, 201);
}

static struct answer merge(struct api *api, const char *path, const char *body)
{
    return api_merge(api, path, quoted(api->arena, body));
}

static struct answer put(struct api *api, const char *path, const char *body)
{
    return api_put(api, path, quoted(api->arena, body));
}

static void test_read(void **state)
{
    static const struct {
        const char *path, *specs, *replicas;
    } rows[] = {
        {TFJOBS, "{'Worker': {'replicas': 4}, 'PS': {'replicas': 2}}", "4"},
        {TFJOBS, "{'worker': {'replicas': 4}}", "4"},
        {TFJOBS, "{'WORKER': {'replicas': 0}}", ""}, /* 0 is left out, as Go does */
        {TFJOBS, "{'Worker': {}}", "1"},
        {TORCH, "{'Master': {'replicas': 1}, 'Worker': {'replicas': 3}}", "3"},
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        make_job(api, rows[i].path, rows[i].specs);
        const char *job = arena_printf(api->arena, "%s/j", rows[i].path);
        const char *scale = arena_printf(api->arena, "%s/scale", job);
        merge(api, arena_printf(api->arena, "%s/status", job),
              "{'status': {'replicaStatuses': {'Worker': {'active': 2, 'selector': 'a=b,c=d'}}}}");
        struct answer answer = api_get(api, scale);
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer_at(api, &answer, "kind"), "Scale");
        assert_string_equal(answer_at(api, &answer, "apiVersion"), "autoscaling/v1");
        assert_string_equal(answer_at(api, &answer, "metadata.name"), "j");
        assert_string_equal(answer_at(api, &answer, "metadata.namespace"), "default");
        assert_string_equal(answer_at(api, &answer, "metadata.uid"),
                            api_at(api, job, "metadata.uid"));
        assert_string_equal(answer_at(api, &answer, "metadata.resourceVersion"),
                            api_at(api, job, "metadata.resourceVersion"));
        assert_string_equal(answer_at(api, &answer, "spec.replicas"), rows[i].replicas);
        assert_string_equal(answer_at(api, &answer, "status.replicas"), "2");
        assert_string_equal(answer_at(api, &answer, "status.selector"), "a=b,c=d");
        api_delete(api, job, NULL);
    }
    assert_int_equal(api_get(api, TFJOBS "/none/scale").status, 404);
}

/* Only the number changes; the rest of the object stays. */
static void test_write(void **state)
{
    static const char *const keys[] = {"Worker", "worker"};
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *at = arena_printf(api->arena, "spec.tfReplicaSpecs.%s.replicas", keys[i]);
        make_job(api, TFJOBS, arena_printf(api->arena, "{'%s': {'replicas': 1}}", keys[i]));
        struct answer answer = merge(api, TFJOBS "/j/scale", "{'spec': {'replicas': 3}}");
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer_at(api, &answer, "kind"), "Scale");
        assert_string_equal(answer_at(api, &answer, "spec.replicas"), "3");
        assert_string_equal(answer_at(api, &answer, "metadata.resourceVersion"),
                            api_at(api, TFJOBS "/j", "metadata.resourceVersion"));
        assert_string_equal(api_at(api, TFJOBS "/j", at), "3");
        assert_string_equal(api_at(api, TFJOBS "/j", "metadata.generation"), "2");
        assert_int_equal(
            json_count(json_at(api_get(api, TFJOBS "/j").json, "spec", "tfReplicaSpecs", NULL)), 1);
        /* Go clients leave out a number that is 0. */
        answer = put(api, TFJOBS "/j/scale",
                     "{'kind': 'Scale', 'apiVersion': 'autoscaling/v1', 'metadata': {'name': 'j',"
                     "'namespace': 'default'}, 'spec': {}}");
        assert_int_equal(answer.status, 200);
        assert_string_equal(api_at(api, TFJOBS "/j", at), "0");
        /* No change, no write. */
        const char *version = api_at(api, TFJOBS "/j", "metadata.resourceVersion");
        answer = merge(api, TFJOBS "/j/scale", "{'spec': {'replicas': 0}}");
        assert_string_equal(answer_at(api, &answer, "metadata.resourceVersion"), version);
        assert_string_equal(api_at(api, TFJOBS "/j", "metadata.resourceVersion"), version);
        /* A dry run writes nothing. */
        answer = merge(api, TFJOBS "/j/scale?dryRun=All", "{'spec': {'replicas': 9}}");
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer_at(api, &answer, "spec.replicas"), "9");
        assert_string_equal(api_at(api, TFJOBS "/j", at), "0");
        api_delete(api, TFJOBS "/j", NULL);
    }
}

static void test_other_patches(void **state)
{
    struct api *api = *state;
    make_job(api, TORCH, "{'Worker': {'replicas': 1}}");
    struct answer answer =
        api_call(api, "PATCH", TORCH "/j/scale", "application/json-patch+json", NULL,
                 quoted(api->arena, "[{'op': 'test', 'path': '/spec/replicas', 'value': 1},"
                                    "{'op': 'replace', 'path': '/spec/replicas', 'value': 2}]"));
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_at(api, TORCH "/j", "spec.pytorchReplicaSpecs.Worker.replicas"), "2");
    answer = api_call(api, "PATCH", TORCH "/j/scale", "application/strategic-merge-patch+json",
                      NULL, quoted(api->arena, "{'spec': {'replicas': 5}}"));
    assert_int_equal(answer.status, 200);
    assert_string_equal(api_at(api, TORCH "/j", "spec.pytorchReplicaSpecs.Worker.replicas"), "5");
    /* In the older version of a kind the Scale is the same. */
    make_job(api, TFJOBS, "{'Worker': {'replicas': 1}}");
    answer = merge(api, OLD "/j/scale", "{'spec': {'replicas': 2}}");
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "autoscaling/v1");
    assert_string_equal(api_at(api, TFJOBS "/j", "spec.tfReplicaSpecs.Worker.replicas"), "2");
}

static void test_rejected_scales(void **state)
{
    static const struct {
        const char *body;
        int status;
        const char *message;
    } rows[] = {
        {"{'metadata': {'name': 'j'}, 'spec': {'replicas': -1}}", 422,
         "Scale.autoscaling \"j\" is invalid: spec.replicas: Invalid value: -1: must be greater "
         "than or equal to 0"},
        {"{'spec': {'replicas': '2'}}", 400,
         "Scale in version \"v1\" cannot be handled as a Scale: spec.replicas must be an integer, "
         "not the string \"2\""},
        {"{'metadata': {'name': 'j'}, 'spec': {'replicas': 20000}}", 422,
         "TFJob.kubeflow.org \"j\" is invalid: spec.tfReplicaSpecs.Worker.replicas: Invalid value: "
         "20000: spec.tfReplicaSpecs.Worker.replicas in body should be less than or equal to "
         "10000"},
        {"{'kind': 'TFJob', 'spec': {'replicas': 1}}", 400,
         "TFJob in version \"autoscaling/v1\" cannot be handled as a Scale of version "
         "\"autoscaling/v1\""},
        {"{'spec': {'replicas': 1}}", 400,
         "the name of the object (j based on URL) was undeterminable: name must be provided"},
        {"{'metadata': {'name': 'k'}}", 400,
         "the name of the object (k) does not match the name on the URL (j)"},
        {"{'metadata': {'name': 'j', 'resourceVersion': '1'}}", 409,
         "Operation cannot be fulfilled on tfjobs.kubeflow.org \"j\": the object has been "
         "modified; "
         "please apply your changes to the latest version and try again"},
    };
    struct api *api = *state;
    make_job(api, TFJOBS, "{'Worker': {'replicas': 2}}");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer = put(api, TFJOBS "/j/scale", rows[i].body);
        assert_int_equal(answer.status, rows[i].status);
        assert_string_equal(answer_message(&answer), rows[i].message);
    }
    assert_int_equal(api_put(api, TFJOBS "/j/scale", NULL).status, 400);
    assert_string_equal(api_at(api, TFJOBS "/j", "spec.tfReplicaSpecs.Worker.replicas"), "2");
    api_delete(api, TFJOBS "/j", NULL);

    make_job(api, TFJOBS, "{'Chief': {}, 'PS': {}}");
    const char *message = "tfjob \"j\" cannot be scaled: it has no "
                          "spec.tfReplicaSpecs.Worker.replicas, only Chief, PS; change the "
                          "replicas in the object itself";
    struct answer answer = api_get(api, TFJOBS "/j/scale");
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer), message);
    answer = merge(api, TFJOBS "/j/scale", "{'spec': {'replicas': 2}}");
    assert_string_equal(answer_message(&answer), message);
}

/* kubectl looks up the kind of the subresource in discovery. `get --subresource scale` requests a
 * Table. */
static void test_kubectl(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/apis/kubeflow.org/v1");
    size_t found = 0;
    JSON_EACH (entry, json_get(answer.json, "resources")) {
        const char *name = json_get_string(entry, "name", "");
        if (!str_eq(name, "tfjobs/scale") && !str_eq(name, "pytorchjobs/scale"))
            continue;
        assert_string_equal(json_get_string(entry, "group", ""), "autoscaling");
        assert_string_equal(json_get_string(entry, "version", ""), "v1");
        assert_string_equal(json_get_string(entry, "kind", ""), "Scale");
        found++;
    }
    assert_int_equal(found, 2);
    make_job(api, TFJOBS, "{'Worker': {'replicas': 2}}");
    answer = api_call(api, "GET", TFJOBS "/j/scale", NULL,
                      "application/json;as=Table;v=v1;g=meta.k8s.io", NULL);
    assert_string_equal(answer_at(api, &answer, "columnDefinitions.1.name"), "Desired");
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.1"), "2");
}

/* 'tfjobs/scale' is a separate permission. */
static void test_permissions(void **state)
{
    struct api *api = *state;
    make_job(api, TFJOBS, "{'Worker': {'replicas': 2}}");
    const char *rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/";
    api_post(api, arena_printf(api->arena, "%sroles", rbac),
             quoted(api->arena,
                    "{'metadata': {'name': 'scaler'}, 'rules': [{'apiGroups': ['kubeflow.org'],"
                    "'resources': ['tfjobs/scale'], 'verbs': ['get', 'patch']}]}"));
    api_post(api, arena_printf(api->arena, "%srolebindings", rbac),
             quoted(api->arena,
                    "{'metadata': {'name': 'scaler'}, 'roleRef': {'kind': 'Role', 'name':"
                    "'scaler'}, 'subjects': [{'kind': 'ServiceAccount', 'name': 'default',"
                    "'namespace': 'default'}]}"));
    struct answer answer =
        api_post(api, "/api/v1/namespaces/default/serviceaccounts/default/token", "{\"spec\":{}}");
    const char *token = answer_at(api, &answer, "status.token");
    assert_int_equal(api_call_as(api, token, "GET", TFJOBS "/j/scale", NULL).status, 200);
    assert_int_equal(api_call_as(api, token, "PUT", TFJOBS "/j/scale", "{}").status, 403);
    assert_int_equal(api_call_as(api, token, "GET", TFJOBS "/j", NULL).status, 403);
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_read),          API_TEST(test_write),
        API_TEST(test_other_patches), API_TEST(test_rejected_scales),
        API_TEST(test_kubectl),       API_TEST(test_permissions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
