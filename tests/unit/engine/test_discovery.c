/* What kubectl asks before anything else, and who may ask. */
#include "api.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct json *entry(const struct answer *answer, const char *list, const char *name)
{
    JSON_EACH (item, json_get(answer->json, list)) {
        if (str_eq(json_get_string(item, "name", ""), name))
            return item;
    }
    return NULL;
}

static void test_groups(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/api");
    assert_string_equal(answer_at(api, &answer, "kind"), "APIVersions");
    assert_string_equal(answer_at(api, &answer, "versions.0"), "v1");
    answer = api_get(api, "/apis?timeout=32s");
    assert_string_equal(answer_at(api, &answer, "kind"), "APIGroupList");
    const struct json *group = entry(&answer, "groups", "kubeflow.org");
    assert_string_equal(json_get_string(json_get(group, "preferredVersion"), "groupVersion", ""),
                        "kubeflow.org/v1");
    answer = api_get(api, "/apis/kubeflow.org");
    assert_string_equal(answer_at(api, &answer, "kind"), "APIGroup");
    assert_int_equal(api_get(api, "/apis/none.org").status, 404);
    assert_int_equal(api_get(api, "/apis/kubeflow.org/v2").status, 404);
}

static void test_resources(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/api/v1");
    assert_string_equal(answer_at(api, &answer, "kind"), "APIResourceList");
    const struct json *pods = entry(&answer, "resources", "pods");
    assert_string_equal(json_to_string(api->arena, pods),
                        "{\"name\":\"pods\",\"singularName\":\"pod\",\"namespaced\":true,"
                        "\"kind\":\"Pod\",\"verbs\":[\"create\",\"delete\",\"deletecollection\","
                        "\"get\",\"list\",\"patch\",\"update\",\"watch\"],\"shortNames\":[\"po\"],"
                        "\"categories\":[\"all\"]}");
    assert_non_null(entry(&answer, "resources", "pods/log"));
    assert_non_null(entry(&answer, "resources", "pods/portforward"));
    assert_null(entry(&answer, "resources", "tfjobs"));
    answer = api_get(api, "/apis/kubeflow.org/v1");
    assert_string_equal(answer_at(api, &answer, "groupVersion"), "kubeflow.org/v1");
    assert_non_null(entry(&answer, "resources", "tfjobs"));
    assert_non_null(entry(&answer, "resources", "tfjobs/status"));
}

static void test_openapi(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_call(api, "GET", "/openapi/v2?timeout=32s", NULL,
                 "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.content_type,
                        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    /* kubectl looks for the parameter on the PATCH of a kind before it dares a dry run. */
    assert_true(answer.size > 0);
    assert_non_null(memmem(answer.body, answer.size, "kind: TFJob\nversion: v1", 23));
    assert_non_null(memmem(answer.body, answer.size, "dryRun", 6));
    assert_int_equal(api_get(api, "/openapi/v3").status, 404);
}

static void test_version(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/version");
    assert_string_equal(answer_at(api, &answer, "major"), "1");
    assert_true(str_has_suffix(answer_at(api, &answer, "gitVersion"), "+trainyard-0.1.0"));
}

static void test_strangers(void **state)
{
    struct api *api = *state;
    static const char *const tokens[] = {NULL, "", "secreT", "secret2", "secre"};
    struct http_transport *mine = api->transport;
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        api->transport = http_local_new(api->loop, engine_handle, api->engine, tokens[i]);
        struct answer answer = api_get(api, "/api/v1/pods");
        assert_int_equal(answer.status, 401);
        assert_string_equal(answer_reason(&answer), "Unauthorized");
        /* A probe need not say who it is; but who says it wrongly is told, as by Kubernetes. */
        answer = api_get(api, "/healthz");
        assert_int_equal(answer.status, str_is_empty(tokens[i]) ? 200 : 401);
        assert_int_equal(api_get(api, "/version").status, answer.status);
        if (answer.status == 200)
            assert_string_equal(answer.body, "ok");
        http_transport_free(api->transport);
    }
    api->transport = mine;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),    cmocka_unit_test(test_resources),
        cmocka_unit_test(test_openapi),   cmocka_unit_test(test_version),
        cmocka_unit_test(test_strangers),
    };
    return cmocka_run_group_tests(tests, api_setup, api_teardown);
}
