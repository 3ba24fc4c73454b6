/* Tests UPDATE, PATCH and the subresources: what may change, which client may change it, and when
 * the generation grows. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PODS "/api/v1/namespaces/default/pods"
#define MAPS "/api/v1/namespaces/default/configmaps"
#define JOBS "/apis/kubeflow.org/v1/namespaces/default/tfjobs"

#define JOB                                                                                        \
    "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"tfReplicaSpecs\":{\"Worker\":{\"replicas\":1}}}}"

static void test_optimistic_lock(void **state)
{
    struct api *api = *state;
    struct answer made = api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"},\"data\":{}}");
    const char *version = answer_at(api, &made, "metadata.resourceVersion");
    const char *body = arena_printf(api->arena,
                                    "{\"metadata\":{\"name\":\"c\",\"resourceVersion\":\"%s\"},"
                                    "\"data\":{\"a\":\"1\"}}",
                                    version);
    struct answer answer = api_put(api, MAPS "/c", body);
    assert_int_equal(answer.status, 200);
    assert_string_not_equal(answer_at(api, &answer, "metadata.resourceVersion"), version);
    assert_string_equal(answer_at(api, &answer, "metadata.uid"),
                        answer_at(api, &made, "metadata.uid"));
    answer = api_put(api, MAPS "/c", body);
    assert_int_equal(answer.status, 409);
    assert_string_equal(answer_reason(&answer), "Conflict");
    assert_string_equal(answer_message(&answer),
                        "Operation cannot be fulfilled on configmaps \"c\": the object has been "
                        "modified; please apply your changes to the latest version and try again");
    /* Without a version the last write wins. */
    answer = api_put(api, MAPS "/c", "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"2\"}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "data.a"), "2");
    answer = api_put(api, MAPS "/c", "{\"metadata\":{\"name\":\"c\",\"uid\":\"other\"}}");
    assert_int_equal(answer.status, 409);
    assert_int_equal(api_put(api, MAPS "/c", "{\"metadata\":{\"name\":\"d\"}}").status, 400);
    assert_int_equal(api_put(api, MAPS "/none", "{\"metadata\":{\"name\":\"none\"}}").status, 404);
}

/* An object must have a name, and no patch can remove it. */
static void test_without_a_name(void **state)
{
    static const char message[] =
        "the name of the object (c based on URL) was undeterminable: name must be provided";
    struct api *api = *state;
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\"}}");
    struct answer answers[] = {
        api_put(api, MAPS "/c", "{\"data\":{}}"),
        api_merge(api, MAPS "/c", "{\"metadata\":null}"),
        api_merge(api, MAPS "/c", "{\"metadata\":{\"name\":null}}"),
    };
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        assert_int_equal(answers[i].status, 400);
        assert_string_equal(answer_message(&answers[i]), message);
    }
    assert_string_equal(api_at(api, MAPS "/c", "data.a"), "1");
}

static void test_update_without_a_change(void **state)
{
    struct api *api = *state;
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\"}}");
    int64_t before = store_next_revision(api->store);
    struct answer answer = api_merge(api, MAPS "/c", "{\"data\":{\"a\":\"1\"}}");
    assert_int_equal(answer.status, 200);
    assert_int_equal(store_next_revision(api->store), before);
}

static void test_generation_and_status(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, JOBS, JOB);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "1");
    /* The main resource does not write the status. */
    answer =
        api_merge(api, JOBS "/j",
                  "{\"status\":{\"startTime\":\"1\"},\"metadata\":{\"labels\":{\"l\":\"1\"}}}");
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "1");
    assert_string_equal(answer_at(api, &answer, "metadata.labels.l"), "1");
    assert_string_equal(answer_at(api, &answer, "status"), "");
    /* The subresource writes nothing else. */
    answer = api_merge(api, JOBS "/j/status",
                       "{\"status\":{\"startTime\":\"1\"},\"metadata\":{\"labels\":{\"l\":\"2\"}},"
                       "\"spec\":{\"b\":1}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "status.startTime"), "1");
    assert_string_equal(answer_at(api, &answer, "metadata.labels.l"), "1");
    assert_string_equal(answer_at(api, &answer, "spec.b"), "");
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "1");
    /* Only changes of the main resource increase the generation. */
    answer = api_merge(api, JOBS "/j", "{\"spec\":{\"successPolicy\":\"AllWorkers\"}}");
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "2");
    assert_string_equal(answer_at(api, &answer, "status.startTime"), "1");
    answer = api_get(api, JOBS "/j/status");
    assert_string_equal(answer_at(api, &answer, "status.startTime"), "1");
}

static void test_patch_types(void **state)
{
    struct api *api = *state;
    api_post(api, PODS, POD_X);
    struct answer answer =
        api_call(api, "PATCH", PODS "/x", "application/strategic-merge-patch+json", NULL,
                 "{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"busybox:2\"}]}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "spec.containers.0.image"), "busybox:2");
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "2");
    answer = api_call(api, "PATCH", PODS "/x", "application/json-patch+json", NULL,
                      "[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"a\":\"b\"}}]");
    assert_string_equal(answer_at(api, &answer, "metadata.labels.a"), "b");
    api_post(api, JOBS, JOB);
    answer =
        api_call(api, "PATCH", JOBS "/j", "application/strategic-merge-patch+json", NULL, "{}");
    assert_int_equal(answer.status, 415);
    answer = api_merge(api, JOBS "/j", "{\"metadata\":{\"resourceVersion\":\"1\"}}");
    assert_int_equal(answer.status, 409);
    answer = api_merge(api, JOBS "/j", "{\"spec\":null}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "TFJob.kubeflow.org \"j\" is invalid: spec: Required value");
}

#define MERGE     "application/merge-patch+json"
#define STRATEGIC "application/strategic-merge-patch+json"
#define JSON      "application/json-patch+json"

/* A patch that cannot be parsed, or whose result cannot be. The error names no object. */
static const struct {
    const char *type, *patch;
    int status;
    const char *message;
} WRONG_PATCHES[] = {
    {MERGE, "[]", 400,
     "error decoding patch: json: cannot unmarshal array into Go value of type "
     "map[string]interface {}"},
    {MERGE, "{", 400, "error decoding patch: unexpected end of JSON input"},
    {STRATEGIC, "\"x\"", 400,
     "json: cannot unmarshal string into Go value of type map[string]interface {}"},
    {JSON, "{}", 400,
     "error decoding patch: json: cannot unmarshal object into Go value of type "
     "[]map[string]interface {}"},
    {JSON, "[1]", 400,
     "error decoding patch: json: cannot unmarshal number into Go value of type "
     "map[string]interface {}"},
    {JSON, "[{\"op\":\"remove\",\"path\":\"/nope\"}]", 422,
     "the server rejected our request due to an error in our request"},
    {JSON, "[{\"op\":\"nonsense\",\"path\":\"/data\"}]", 422,
     "the server rejected our request due to an error in our request"},
    {"text/plain", "{}", 415, "415: Unsupported Media Type"},
    {STRATEGIC, "{\"data\":{\"x\":[1,true,null]},\"kind\":\"ConfigMap\"}", 422,
     " \"\" is invalid: patch: Invalid value: \"map[data:map[x:[1 true <nil>]] kind:ConfigMap]\": "
     "data.x must be a string, not an array"},
    {STRATEGIC "?fieldValidation=Strict", "{\"dat\":{}}", 422,
     " \"\" is invalid: patch: Invalid value: \"map[dat:map[]]\": strict decoding error: unknown "
     "field \"dat\""},
};

static void test_wrong_patches(void **state)
{
    struct api *api = *state;
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    for (size_t i = 0; i < ARRAY_SIZE(WRONG_PATCHES); i++) {
        const char *query = strchr(WRONG_PATCHES[i].type, '?');
        const char *type = WRONG_PATCHES[i].type;
        if (query)
            type = arena_strndup(api->arena, type, (size_t)(query - type));
        struct answer answer =
            api_call(api, "PATCH", arena_printf(api->arena, MAPS "/c%s", query ? query : ""), type,
                     NULL, WRONG_PATCHES[i].patch);
        assert_string_equal(answer_message(&answer), WRONG_PATCHES[i].message);
        assert_int_equal(answer.status, WRONG_PATCHES[i].status);
        assert_string_equal(answer_at(api, &answer, "details.kind"), "");
    }
    /* The result of a merge patch is shown in Go's order. */
    struct answer answer = api_merge(api, MAPS "/c", "{\"kind\":\"Secret\"}");
    assert_int_equal(answer.status, 422);
    assert_true(str_has_prefix(answer_message(&answer),
                               " \"\" is invalid: patch: Invalid value: "
                               "\"{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\":\\\"Secret\\\","
                               "\\\"metadata\\\":{\\\"name\\\":\\\"c\\\",\\\"namespace\\\":"));
    assert_true(str_has_suffix(answer_message(&answer),
                               "converting (v1.Secret) to (core.ConfigMap): unknown conversion"));
}

/* Errors of the request are reported before a missing object. */
static void test_update_of_a_missing_object(void **state)
{
    struct api *api = *state;
    struct answer answer = api_put(api, MAPS "/a", "{\"metadata\":{\"name\":\"b\"}}");
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer), "the name of the object (b) does not match the "
                                                 "name on the URL (a)");
    answer = api_put(api, MAPS "/a", "{\"metadata\":{\"name\":\"a\",\"uid\":\"x\"}}");
    assert_int_equal(answer.status, 409);
    assert_string_equal(answer_message(&answer),
                        "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid "
                        "object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, "
                        "AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in "
                        "object meta: ");
    assert_int_equal(api_put(api, MAPS "/a", "{\"metadata\":{\"name\":\"a\"}}").status, 404);
}

static void test_immutable_pod_fields(void **state)
{
    struct api *api = *state;
    api_post(api, PODS, POD_X);
    struct answer answer = api_merge(api, PODS "/x", "{\"spec\":{\"nodeName\":\"n\"}}");
    assert_int_equal(answer.status, 422);
    assert_true(str_has_prefix(answer_message(&answer), "Pod \"x\" is invalid: spec: Forbidden: "
                                                        "pod updates may not change fields"));
    answer = api_merge(api, PODS "/x", "{\"spec\":{\"activeDeadlineSeconds\":5}}");
    assert_int_equal(answer.status, 200);
}

static void test_binding(void **state)
{
    struct api *api = *state;
    api_post(api, PODS, POD_X);
    const char *body = "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"x\"},"
                       "\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}";
    struct answer answer = api_post(api, PODS "/x/binding", body);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "status"), "Success");
    answer = api_get(api, PODS "/x");
    assert_string_equal(answer_at(api, &answer, "spec.nodeName"), "n1");
    assert_string_equal(answer_at(api, &answer, "status.conditions.0.type"), "PodScheduled");
    assert_string_equal(answer_at(api, &answer, "status.conditions.0.status"), "True");
    answer = api_post(api, PODS "/x/binding", body);
    assert_int_equal(answer.status, 409);
    assert_int_equal(api_post(api, PODS "/none/binding", body).status, 404);
}

static void test_immutable_metadata(void **state)
{
    struct api *api = *state;
    struct answer made = api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    struct answer answer =
        api_merge(api, MAPS "/c",
                  "{\"metadata\":{\"creationTimestamp\":null,\"deletionTimestamp\":"
                  "\"2020-01-01T00:00:00Z\",\"managedFields\":[],\"annotations\":{\"a\":\"b\"}}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "metadata.creationTimestamp"),
                        answer_at(api, &made, "metadata.creationTimestamp"));
    assert_string_equal(answer_at(api, &answer, "metadata.deletionTimestamp"), "");
    assert_string_equal(answer_at(api, &answer, "metadata.managedFields"), "");
    assert_string_equal(answer_at(api, &answer, "metadata.annotations.a"), "b");
    answer = api_merge(api, MAPS "/c", "{\"metadata\":{\"labels\":{\"a b\":\"c\"}}}");
    assert_int_equal(answer.status, 422);
    answer = api_merge(api, MAPS "/c?dryRun=All", "{\"data\":{\"k\":\"v\"}}");
    assert_string_equal(answer_at(api, &answer, "data.k"), "v");
    answer = api_get(api, MAPS "/c");
    assert_string_equal(answer_at(api, &answer, "data.k"), "");
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_optimistic_lock),
        API_TEST(test_without_a_name),
        API_TEST(test_update_without_a_change),
        API_TEST(test_generation_and_status),
        API_TEST(test_patch_types),
        API_TEST(test_wrong_patches),
        API_TEST(test_update_of_a_missing_object),
        API_TEST(test_immutable_pod_fields),
        API_TEST(test_binding),
        API_TEST(test_immutable_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
