/* Services, config maps, secrets, claims, TFJobs: their defaults and refusals through the API. */
#include "api.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define DEFAULT "/api/v1/namespaces/default/"

static void test_service(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_post(api, DEFAULT "services",
                 "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.clusterIP"), "10.96.0.2");
    assert_string_equal(answer_at(api, &answer, "spec.type"), "ClusterIP");
    assert_string_equal(answer_at(api, &answer, "spec.ports.0.targetPort"), "80");
    assert_string_equal(answer_at(api, &answer, "spec.ports.0.protocol"), "TCP");
    answer = api_post(api, DEFAULT "services",
                      "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"ports\":[{\"port\":1},{\"port\":"
                      "70000,\"name\":\"b\"}]}}");
    assert_string_equal(answer_message(&answer),
                        "Service \"t\" is invalid: [spec.ports[0].name: Required value, "
                        "spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, "
                        "inclusive, spec.ports[1].targetPort: Invalid value: 70000: must be "
                        "between 1 and 65535, inclusive]");
    answer = api_post(api, DEFAULT "services",
                      "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"clusterIP\":\"10.0.0.1\"}}");
    assert_int_equal(answer.status, 422);
}

static void test_config(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, DEFAULT "configmaps",
                                    "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a/b\":\"1\"}}");
    assert_int_equal(answer.status, 422);
    answer =
        api_post(api, DEFAULT "configmaps", "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":1}}");
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer),
                        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: data.a must "
                        "be a string, not the number 1; quote it");
    api_post(api, DEFAULT "configmaps",
             "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\"},\"immutable\":true}");
    answer = api_merge(api, DEFAULT "configmaps/c", "{\"data\":{\"a\":\"2\"}}");
    assert_string_equal(answer_message(&answer),
                        "ConfigMap \"c\" is invalid: data: Forbidden: field is immutable when "
                        "`immutable` is set");
}

static void test_secret(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_post(api, DEFAULT "secrets",
                 "{\"metadata\":{\"name\":\"s\"},\"stringData\":{\"a\":\"secret\"}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "data.a"), "c2VjcmV0");
    assert_string_equal(answer_at(api, &answer, "stringData"), "");
    assert_string_equal(answer_at(api, &answer, "type"), "Opaque");
    answer =
        api_post(api, DEFAULT "secrets", "{\"metadata\":{\"name\":\"t\"},\"data\":{\"a\":\"?\"}}");
    assert_int_equal(answer.status, 400);
    answer = api_merge(api, DEFAULT "secrets/s", "{\"type\":\"other\"}");
    assert_int_equal(answer.status, 422);
}

static void test_claim(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, DEFAULT "persistentvolumeclaims",
                                    "{\"metadata\":{\"name\":\"c\"},\"spec\":{}}");
    assert_string_equal(answer_message(&answer),
                        "PersistentVolumeClaim \"c\" is invalid: [spec.accessModes: Required "
                        "value: at least 1 access mode is required, spec.resources[storage]: "
                        "Required value]");
    answer =
        api_post(api, DEFAULT "persistentvolumeclaims",
                 "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
                 "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "status.phase"), "Pending");
    answer = api_merge(api, DEFAULT "persistentvolumeclaims/c",
                       "{\"spec\":{\"storageClassName\":\"other\"}}");
    assert_int_equal(answer.status, 422);
    answer = api_merge(api, DEFAULT "persistentvolumeclaims/c",
                       "{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"2Gi\"}}}}");
    assert_int_equal(answer.status, 200);
}

static void test_tfjob(void **state)
{
    struct api *api = *state;
    const char *path = "/apis/kubeflow.org/v1/namespaces/default/tfjobs";
    struct answer answer = api_post(api, path, "{\"metadata\":{\"name\":\"j\"},\"spec\":{}}");
    assert_string_equal(answer_message(&answer), "TFJob.kubeflow.org \"j\" is invalid: "
                                                 "spec.tfReplicaSpecs: Required value");
    answer = api_post(api, path,
                      "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"tfReplicaSpecs\":{\"Worker\":"
                      "{\"replicas\":\"2\"}}}}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_at(api, &answer, "details.causes.0.field"),
                        "spec.tfReplicaSpecs.Worker.replicas");
    /* What the schema does not know is dropped, and said. */
    answer = api_post(api, path,
                      "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"tfReplicaSpecs\":{},\"x\":{\"y\":"
                      "1.50}},\"status\":{\"startTime\":\"x\"}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.x"), "");
    assert_string_equal(answer.warning, "299 - \"unknown field \\\"spec.x\\\"\"");
    assert_string_equal(answer_at(api, &answer, "status"), "");
}

static void test_review(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_post(api, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                 "{\"spec\":{\"resourceAttributes\":{\"verb\":\"create\",\"resource\":\"pods\"}}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "status.allowed"), "true");
    assert_int_equal(api_get(api, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").status,
                     405);
}

static void stub_logs(void *context, struct http_exchange *exchange, const struct json *pod,
                      const struct engine_pod_logs *options)
{
    const char *text = arena_printf(exchange->arena, "%s follow=%d tail=%lld", options->container,
                                    options->follow, (long long)options->tail_lines);
    http_respond(exchange, 200, "text/plain", text, strlen(text));
}

static void test_logs(void **state)
{
    struct api *api = *state;
    const struct engine_pod_backend backend = {.logs = stub_logs};
    api_post(api, DEFAULT "pods", POD_X);
    struct answer answer = api_get(api, DEFAULT "pods/x/log");
    assert_int_equal(answer.status, 503);
    engine_set_pod_backend(api->engine, &backend);
    answer = api_get(api, DEFAULT "pods/x/log");
    assert_int_equal(answer.status, 400); /* no node yet */
    api_post(api, DEFAULT "pods/x/binding", "{\"target\":{\"name\":\"n\"}}");
    answer = api_get(api, DEFAULT "pods/x/log?follow=true&tailLines=5");
    assert_string_equal(answer.body, "main follow=1 tail=5");
    answer = api_get(api, DEFAULT "pods/x/log?container=other");
    assert_string_equal(answer_message(&answer), "container other is not valid for pod x");
    assert_int_equal(api_get(api, DEFAULT "pods/x/log?tailLines=many").status, 400);
    assert_int_equal(api_get(api, DEFAULT "pods/none/log").status, 404);
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_service), API_TEST(test_config), API_TEST(test_secret), API_TEST(test_claim),
        API_TEST(test_tfjob),   API_TEST(test_review), API_TEST(test_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
