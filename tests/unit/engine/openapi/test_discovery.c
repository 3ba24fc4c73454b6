/* Tests discovery, which kubectl requests first, and which users may request it. */
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

/* A slash at the end of /version, and of every path below /api and /apis, changes nothing. Other
 * paths with a slash do not exist. Kubernetes does the same. */
static void test_slash_at_the_end(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *path, *kind;
    } rows[] = {
        {"/api/", "APIVersions"},
        {"/api/v1/", "APIResourceList"},
        {"/apis/", "APIGroupList"},
        {"/apis/apps/", "APIGroup"},
        {"/apis/apps/v1/", "APIResourceList"},
        {"/api/v1/nodes/", "NodeList"},
        {"/api/v1/namespaces/default/?timeout=1s", "Namespace"},
        {"/api/v1/namespaces/default//", "Namespace"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer = api_get(api, rows[i].path);
        assert_string_equal(answer_at(api, &answer, "kind"), rows[i].kind);
    }
    assert_int_equal(api_get(api, "/api//v1").status, 404);
    struct answer version = api_get(api, "/version/");
    assert_string_equal(answer_at(api, &version, "major"), "1");
    assert_int_equal(api_get(api, "/version/x").status, 404);
    assert_int_equal(api_get(api, "/healthz/").status, 404);
    assert_int_equal(api_get(api, "/openapi/v2/").status, 404);
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

/* Aggregated discovery: all groups in one response, as kubectl requests since 1.26. */
static void test_aggregated(void **state)
{
    struct api *api = *state;
#define AGGREGATED(version_)                                                                       \
    "application/json;g=apidiscovery.k8s.io;v=" version_ ";as=APIGroupDiscoveryList"
    struct answer answer =
        api_call(api, "GET", "/apis", NULL,
                 AGGREGATED("v2") "," AGGREGATED("v2beta1") ",application/json", NULL);
    assert_string_equal(answer.content_type, AGGREGATED("v2"));
    assert_string_equal(answer_at(api, &answer, "kind"), "APIGroupDiscoveryList");
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "apidiscovery.k8s.io/v2");
    const struct json *kubeflow = NULL;
    JSON_EACH (item, json_get(answer.json, "items")) {
        const char *name = json_get_string(json_get(item, "metadata"), "name", "");
        assert_string_not_equal(name, "");
        if (str_eq(name, "kubeflow.org"))
            kubeflow = item;
    }
    const struct json *versions = json_get(kubeflow, "versions");
    assert_int_equal(json_count(versions), 3);
    assert_string_equal(json_get_string(json_element(versions, 0), "version", ""), "v1");
    assert_string_equal(json_get_string(json_element(versions, 1), "version", ""), "v1beta1");
    assert_string_equal(json_get_string(json_element(versions, 2), "version", ""), "v1alpha1");

    answer = api_call(api, "GET", "/api", NULL, AGGREGATED("v2beta1"), NULL);
    assert_string_equal(answer.content_type, AGGREGATED("v2beta1"));
    const struct json *pods = NULL;
    JSON_EACH (item, json_at(json_element(json_at(json_element(json_get(answer.json, "items"), 0),
                                                  "versions", NULL),
                                          0),
                             "resources", NULL)) {
        if (str_eq(json_get_string(item, "resource", ""), "pods"))
            pods = item;
    }
    assert_string_equal(json_get_string(pods, "scope", ""), "Namespaced");
    assert_string_equal(json_get_string(json_get(pods, "responseKind"), "kind", ""), "Pod");
    assert_true(json_count(json_get(pods, "subresources")) >= 4);

    /* An unknown version is rejected, and only /api and /apis have this form. */
    assert_int_equal(api_call(api, "GET", "/apis", NULL, AGGREGATED("v3"), NULL).status, 406);
    assert_int_equal(api_call(api, "GET", "/api/v1", NULL, AGGREGATED("v2"), NULL).status, 406);
    answer = api_call(api, "GET", "/apis", NULL, AGGREGATED("v3") ",application/json", NULL);
    assert_string_equal(answer.content_type, "application/json");
}

static void test_rejected_media_types(void **state)
{
    struct api *api = *state;
    struct answer answer = api_call(api, "GET", "/apis", NULL, "application/yaml", NULL);
    assert_int_equal(answer.status, 406);
    assert_string_equal(answer_reason(&answer), "NotAcceptable");
    assert_string_equal(answer_message(&answer),
                        "only the following media types are accepted: application/json");
    assert_int_equal(api_call(api, "GET", "/apis", NULL, "text/html, */*;q=0.1", NULL).status, 200);
    assert_int_equal(api_call(api, "GET", "/apis", NULL, NULL, NULL).status, 200);
}

static void test_etags(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/apis");
    assert_int_equal(strlen(answer.tag), 18);
    api->has_tag = answer.tag;
    struct answer again = api_get(api, "/apis");
    assert_int_equal(again.status, 304);
    assert_int_equal(again.size, 0);
    assert_string_equal(again.tag, answer.tag);
    assert_int_equal(api_get(api, "/api").status, 200);
    api->has_tag = NULL;
}

static void test_root(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/");
    const char *text = json_to_string(api->arena, json_get(answer.json, "paths"));
    assert_non_null(strstr(text, "\"/apis/kubeflow.org\",\"/apis/kubeflow.org/v1\","));
    JSON_EACH (path, json_get(answer.json, "paths"))
        assert_int_equal(api_get(api, json_text(path)).status, 200);
}

static void test_version(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/version");
    assert_string_equal(answer_at(api, &answer, "major"), "1");
    assert_true(str_has_suffix(answer_at(api, &answer, "gitVersion"), "+trainyard-0.1.0"));
}

static void test_anonymous_and_wrong_tokens(void **state)
{
    struct api *api = *state;
    static const char *const tokens[] = {NULL, "", "secreT", "secret2", "secre"};
    struct http_transport *mine = api->transport;
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        api->transport = http_local_new(api->loop, engine_handle, api->engine, tokens[i]);
        struct answer answer = api_get(api, "/api/v1/pods");
        assert_int_equal(answer.status, 401);
        assert_string_equal(answer_reason(&answer), "Unauthorized");
        /* A probe may be anonymous. A wrong token is rejected, as in Kubernetes. */
        answer = api_get(api, "/healthz");
        assert_int_equal(answer.status, str_is_empty(tokens[i]) ? 200 : 401);
        assert_int_equal(api_get(api, "/version").status, answer.status);
        assert_int_equal(api_get(api, "/version/").status, answer.status);
        if (answer.status == 200)
            assert_string_equal(answer.body, "ok");
        http_transport_free(api->transport);
    }
    api->transport = mine;
}

static void test_health(void **state)
{
    struct api *api = *state;
    assert_string_equal(api_get(api, "/readyz").body, "ok");
    assert_string_equal(api_get(api, "/readyz?verbose").body,
                        "[+]ping ok\n[+]store ok\nreadyz check passed\n");
    assert_string_equal(api_get(api, "/healthz?verbose=").body,
                        "[+]ping ok\n[+]store ok\nhealthz check passed\n");
    assert_string_equal(api_get(api, "/livez?verbose=true").body,
                        "[+]ping ok\nlivez check passed\n");
}

/* Prometheus reads the server's own metrics. Unlike the health checks, they need a role. */
static void test_metrics(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/metrics");
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.content_type, "text/plain; version=0.0.4"));
    assert_non_null(strstr(answer.body, "# TYPE trainyard_loop_turn_cpu_seconds histogram\n"));
    assert_non_null(strstr(answer.body, "# TYPE trainyard_loop_turn_wall_longest_seconds gauge\n"));
    struct http_transport *mine = api->transport;
    api->transport = http_local_new(api->loop, engine_handle, api->engine, NULL);
    assert_int_equal(api_get(api, "/metrics").status, 401);
    http_transport_free(api->transport);
    api->transport = mine;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_slash_at_the_end),
        cmocka_unit_test(test_aggregated),
        cmocka_unit_test(test_rejected_media_types),
        cmocka_unit_test(test_etags),
        cmocka_unit_test(test_health),
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_anonymous_and_wrong_tokens),
    };
    return cmocka_run_group_tests(tests, api_setup, api_teardown);
}
