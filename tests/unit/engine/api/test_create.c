/* Tests CREATE and GET: which fields are filled in, what is rejected, and with which message. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PODS "/api/v1/namespaces/default/pods"

static void test_create_and_get(void **state)
{
    struct api *api = *state;
    struct answer made = api_post(api, PODS, POD_X);
    assert_int_equal(made.status, 201);
    assert_string_equal(answer_at(api, &made, "metadata.namespace"), "default");
    assert_int_equal(strlen(answer_at(api, &made, "metadata.uid")), 36);
    assert_string_equal(answer_at(api, &made, "metadata.generation"), "1");
    assert_true(str_has_prefix(answer_at(api, &made, "metadata.creationTimestamp"), "2023-11-14T"));
    assert_string_equal(answer_at(api, &made, "status.phase"), "Pending");
    assert_string_equal(answer_at(api, &made, "spec.restartPolicy"), "Always");

    struct answer got = api_get(api, PODS "/x");
    assert_int_equal(got.status, 200);
    assert_string_equal(got.body, made.body);
    /* The response has the stored version. */
    struct store_object *stored = store_get(api->store, "/pods/default/x");
    assert_non_null(stored);
    assert_string_equal(answer_at(api, &got, "metadata.resourceVersion"),
                        arena_printf(api->arena, "%lld", (long long)stored->revision));
    store_object_unref(stored);
}

static void test_not_found(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, PODS "/x");
    assert_int_equal(answer.status, 404);
    assert_string_equal(answer_message(&answer), "pods \"x\" not found");
    assert_string_equal(answer_reason(&answer), "NotFound");
    assert_string_equal(answer_at(api, &answer, "details.name"), "x");
    assert_string_equal(answer_at(api, &answer, "details.kind"), "pods");
    answer = api_get(api, "/apis/kubeflow.org/v1/namespaces/default/tfjobs/j");
    assert_string_equal(answer_message(&answer), "tfjobs.kubeflow.org \"j\" not found");
    assert_string_equal(answer_at(api, &answer, "details.group"), "kubeflow.org");
    answer = api_get(api, "/api/v1/cats");
    assert_int_equal(answer.status, 404);
    assert_string_equal(answer_message(&answer),
                        "the server could not find the requested resource");
    assert_string_equal(json_to_string(api->arena, json_get(answer.json, "details")), "{}");
    answer = api_post(api, PODS "/x/ephemeralcontainers", "");
    assert_int_equal(answer.status, 501);
    assert_string_equal(answer_message(&answer),
                        "pods/ephemeralcontainers is not supported by this server yet: run what "
                        "you need with 'kubectl exec'");
    answer = api_post(api, "/api/v1/pods", POD_X);
    assert_int_equal(answer.status, 405);
}

static void test_existing_name(void **state)
{
    struct api *api = *state;
    api_post(api, PODS, POD_X);
    struct answer answer = api_post(api, PODS, POD_X);
    assert_int_equal(answer.status, 409);
    assert_string_equal(answer_message(&answer), "pods \"x\" already exists");
    assert_string_equal(answer_reason(&answer), "AlreadyExists");
}

static void test_names(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_post(api, "/api/v1/namespaces/default/configmaps", "{\"metadata\":{}}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "ConfigMap \"\" is invalid: metadata.name: Required value: name or "
                        "generateName is required");
    answer =
        api_post(api, "/api/v1/namespaces/default/configmaps", "{\"metadata\":{\"name\":\"A b\"}}");
    assert_int_equal(answer.status, 422);
    assert_true(str_has_prefix(answer_message(&answer),
                               "ConfigMap \"A b\" is invalid: metadata.name: Invalid value: "
                               "\"A b\": a lowercase RFC 1123 subdomain"));
    assert_string_equal(answer_at(api, &answer, "details.causes.0.field"), "metadata.name");
    answer = api_post(api, "/api/v1/namespaces/default/services",
                      "{\"metadata\":{\"name\":\"1a\"},\"spec\":{}}");
    assert_int_equal(answer.status, 422);
}

static void test_generate_name(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, "/api/v1/namespaces/default/configmaps",
                                    "{\"metadata\":{\"generateName\":\"run-\"}}");
    assert_int_equal(answer.status, 201);
    const char *name = answer_at(api, &answer, "metadata.name");
    assert_true(str_has_prefix(name, "run-"));
    assert_int_equal(strlen(name), 9);
}

static void test_namespaces(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, "/api/v1/namespaces/no/pods", POD_X);
    assert_int_equal(answer.status, 404);
    assert_string_equal(answer_message(&answer), "namespaces \"no\" not found");
    assert_string_equal(answer_at(api, &answer, "details.kind"), "namespaces");

    answer = api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "status.phase"), "Active");
    assert_int_equal(api_post(api, "/api/v1/namespaces/team/pods", POD_X).status, 201);

    answer = api_post(api, "/api/v1/namespaces/team/configmaps",
                      "{\"metadata\":{\"name\":\"c\",\"namespace\":\"default\"}}");
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer),
                        "the namespace of the provided object does not match the namespace sent on "
                        "the request");

    api_delete(api, "/api/v1/namespaces/team", NULL);
    answer = api_post(api, "/api/v1/namespaces/team/configmaps", "{\"metadata\":{\"name\":\"c\"}}");
    assert_int_equal(answer.status, 403);
    assert_string_equal(answer_message(&answer),
                        "configmaps \"c\" is forbidden: unable to create new content in namespace "
                        "team because it is being terminated");
    answer = api_delete(api, "/api/v1/namespaces/default", NULL);
    assert_int_equal(answer.status, 403);
}

/* Errors about a body have the messages of Kubernetes' decoder, and name no object. */
static const struct {
    const char *type, *body;
    int status;
    const char *message;
} BODIES[] = {
    {"application/json", "", 400,
     "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json "
     "parse error: unexpected end of JSON input (<empty>)"},
    {"application/json", "{", 400,
     "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json "
     "parse error: unexpected end of JSON input ({)"},
    {"application/json", "not json, and much longer than what is shown", 400,
     "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json "
     "parse error: invalid character 'o' in literal null (expecting 'u') "
     "(6e6f74206a736f6e2c20616e64206d756368206c6f6e676572207468616e ...)"},
    {"application/json", "[]", 400,
     "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json "
     "parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "
     "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } (5b5d)"},
    {"application/json", "{\"kind\":\"Service\",\"apiVersion\":\"v1\"}", 400,
     "Service in version \"v1\" cannot be handled as a Pod: converting (v1.Service) to (core.Pod): "
     "unknown conversion"},
    {"application/json", "{\"kind\":\"Pod\",\"apiVersion\":\"v2\"}", 400,
     "the API version in the data (v2) does not match the expected API version (v1)"},
    {"application/json", "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}", 400,
     "resourceVersion should not be set on objects to be created"},
    {"application/xml", POD_X, 415,
     "the body of the request was in an unknown format - accepted media types include: "
     "application/json, application/yaml, application/vnd.kubernetes.protobuf"},
};

static void test_bodies(void **state)
{
    struct api *api = *state;
    for (size_t i = 0; i < ARRAY_SIZE(BODIES); i++) {
        struct answer answer =
            api_call(api, "POST", PODS, BODIES[i].type, "application/json", BODIES[i].body);
        assert_int_equal(answer.status, BODIES[i].status);
        assert_string_equal(answer_message(&answer), BODIES[i].message);
        assert_null(json_get(answer.json, "details"));
    }
    struct answer answer =
        api_post(api, PODS, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":1}}}");
    assert_int_equal(answer.status, 400);
    answer = api_post(api, PODS "?dryRun=Some", POD_X);
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: "
                        "[\"Some\"]: supported values: \"All\"");
    answer = api_post(api, PODS "?fieldValidation=strict", POD_X);
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported "
                        "value: \"strict\": supported values: \"\", \"Ignore\", \"Strict\", "
                        "\"Warn\"");
}

static void test_yaml_bodies(void **state)
{
    static const struct {
        const char *body;
        int status;
        const char *message;
    } ROWS[] = {
        {"kind: ConfigMap\napiVersion: v1\nmetadata: {name: s}\ndata:\n  a: 'b'\n", 201, ""},
        {"{\"metadata\":{\"name\":\"j\"}}", 201, ""},
        {"metadata:\n  name: y\n  labels: a: b\n", 400,
         "error decoding YAML: body:3:12: mapping values are not allowed in this context\n"
         "      labels: a: b\n"
         "               ^"},
        {"a: 1\n---\nb: 1\n", 400,
         "error decoding YAML: the body must be one object, as YAML or JSON"},
        {"- 1\n", 400, "error decoding YAML: the body must be one object, as YAML or JSON"},
        {"metadata: {name: z}\ndata: {a: 1}\n", 400,
         "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: data.a must be a string, "
         "not the number 1; quote it"},
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        struct answer answer = api_call(api, "POST", "/api/v1/namespaces/default/configmaps",
                                        "application/yaml", NULL, ROWS[i].body);
        assert_int_equal(answer.status, ROWS[i].status);
        assert_string_equal(answer_message(&answer), ROWS[i].message);
    }
}

/* Lists whose elements must be unique. Comparing each pair of elements would take minutes. */
static void test_long_lists(void **state)
{
    enum { COUNT = 50 * 1000 };
    static const struct {
        const char *path, *begin, *end;
    } ROWS[] = {
        {"/api/v1/namespaces/default/services",
         "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"ports\":[", "]}}"},
        {PODS,
         "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"i\"}"
         "],"
         "\"volumes\":[",
         "]}}"},
        {PODS,
         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"i\","
         "\"ports\":[",
         "]}]}}"},
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        _cleanup_buf_ struct buf body;
        buf_init(&body, 8 << 20);
        buf_append_str(&body, ROWS[i].begin);
        for (int k = 0; k < COUNT; k++) {
            buf_append_str(&body, k ? "," : "");
            buf_append_str(
                &body, i == 0 ? arena_printf(api->arena, "{\"name\":\"p%d\",\"port\":%d}", k, k + 1)
                       : i == 1
                           ? arena_printf(api->arena, "{\"name\":\"v%d\",\"emptyDir\":{}}", k)
                           : arena_printf(api->arena, "{\"name\":\"p%d\",\"containerPort\":%d}", k,
                                          k + 1));
        }
        buf_append_str(&body, ROWS[i].end);
        assert_int_equal(
            api_post(api, arena_printf(api->arena, "%s?dryRun=All", ROWS[i].path), body.data)
                .status,
            201);
    }
}

static void test_dry_run(void **state)
{
    struct api *api = *state;
    int64_t before = store_next_revision(api->store);
    struct answer answer = api_post(api, PODS "?dryRun=All", POD_X);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.dnsPolicy"), "ClusterFirst");
    assert_int_equal(api_get(api, PODS "/x").status, 404);
    assert_int_equal(store_next_revision(api->store), before);
}

static void test_table(void **state)
{
    struct api *api = *state;
    api_post(api, PODS, POD_X);
    struct answer answer =
        api_call(api, "GET", PODS "/x", NULL,
                 "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", NULL);
    assert_string_equal(answer_at(api, &answer, "kind"), "Table");
    assert_string_equal(answer_at(api, &answer, "rows.0.object.metadata.name"), "x");
    answer = api_call(api, "GET", PODS "/x", NULL,
                      "application/json,application/json;as=Table;v=v1;g=meta.k8s.io", NULL);
    assert_string_equal(answer_at(api, &answer, "kind"), "Pod");
    answer = api_call(api, "GET", PODS "/x", NULL, NULL, NULL);
    assert_string_equal(answer_at(api, &answer, "kind"), "Pod");
}

struct leaver {
    struct api *api;
    struct http_transport *transport;
    struct http_call *call;
};

static void handle_and_disconnect(struct http_exchange *exchange, void *context)
{
    struct leaver *leaver = context;
    engine_handle(exchange, leaver->api->engine);
    http_cancel(leaver->transport, leaver->call);
}

static void never(void *context, const struct err *err)
{
    fail_msg("a canceled call ended");
}

/* The client disconnects before the write is on disk: the write stands. */
static void test_client_disconnects(void **state)
{
    struct api *api = *state;
    static const struct http_callbacks listener = {.on_end = never};
    struct leaver leaver = {.api = api};
    leaver.transport = http_local_new(api->loop, handle_and_disconnect, &leaver, API_TOKEN);
    struct http_request request = {
        .method = "POST", .path = PODS, .query = "", .body = POD_X, .body_size = strlen(POD_X)};
    leaver.call = http_start(leaver.transport, &request, 0, &listener, NULL);
    api_run(api, 1000);
    assert_int_equal(api_get(api, PODS "/x").status, 200);
    http_transport_free(leaver.transport);
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_create_and_get), API_TEST(test_not_found),
        API_TEST(test_existing_name),  API_TEST(test_names),
        API_TEST(test_generate_name),  API_TEST(test_namespaces),
        API_TEST(test_bodies),         API_TEST(test_yaml_bodies),
        API_TEST(test_long_lists),     API_TEST(test_dry_run),
        API_TEST(test_table),          API_TEST(test_client_disconnects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
