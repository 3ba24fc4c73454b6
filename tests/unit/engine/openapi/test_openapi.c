/* Tests the OpenAPI documents: the parts on which kubectl decides, and that all forms have the same
 * content. */
#include "api.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define GNOSTIC_ASKED "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
#define GNOSTIC       "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
#define CORE          "io.k8s.api.core.v1."

static const struct json *definition(const struct answer *answer, const char *name)
{
    return json_at(answer->json, "definitions", name, NULL);
}

static const struct json *property(const struct answer *answer, const char *type, const char *field)
{
    return json_at(definition(answer, type), "properties", field, NULL);
}

static void assert_json(struct api *api, const struct json *json, const char *text)
{
    assert_non_null(json);
    assert_string_equal(json_to_string(api->arena, json), text);
}

static void test_definitions(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/openapi/v2");
    assert_string_equal(answer.content_type, "application/json");
    assert_json(api, json_get(definition(&answer, CORE "Pod"), "x-kubernetes-group-version-kind"),
                "[{\"group\":\"\",\"kind\":\"Pod\",\"version\":\"v1\"}]");
    assert_json(
        api,
        json_get(definition(&answer, "org.kubeflow.v1.TFJob"), "x-kubernetes-group-version-kind"),
        "[{\"group\":\"kubeflow.org\",\"kind\":\"TFJob\",\"version\":\"v1\"}]");
    /* An older version has the fields that only it has. */
    const char *kind =
        json_to_string(api->arena, json_get(definition(&answer, "org.kubeflow.v1beta1.TFJob"),
                                            "x-kubernetes-group-version-kind"));
    assert_string_equal(
        kind, "[{\"group\":\"kubeflow.org\",\"kind\":\"TFJob\",\"version\":\"v1beta1\"}]");
    assert_non_null(json_at(definition(&answer, "org.kubeflow.v1beta1.TFJobSpec"), "properties",
                            "cleanPodPolicy", NULL));
    assert_null(json_at(definition(&answer, "org.kubeflow.v1.TFJobSpec"), "properties",
                        "cleanPodPolicy", NULL));
    assert_json(api, json_get(definition(&answer, CORE "PodSpec"), "required"), "[\"containers\"]");
    assert_json(api, property(&answer, CORE "Container", "ports"),
                "{\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/" CORE "ContainerPort\"},"
                "\"x-kubernetes-list-map-keys\":[\"containerPort\",\"protocol\"],"
                "\"x-kubernetes-list-type\":\"map\","
                "\"x-kubernetes-patch-merge-key\":\"containerPort\","
                "\"x-kubernetes-patch-strategy\":\"merge\","
                "\"description\":\"the ports it listens on; other ports can be reached too\"}");
    assert_string_equal(json_get_string(property(&answer, CORE "PodSpec", "volumes"),
                                        "x-kubernetes-patch-strategy", ""),
                        "merge,retainKeys");
    assert_string_equal(
        json_get_string(definition(&answer, CORE "ObjectReference"), "x-kubernetes-map-type", ""),
        "atomic");
    /* The description of a field without effect says so. */
    assert_non_null(
        strstr(json_get_string(property(&answer, CORE "PodSpec", "hostPID"), "description", ""),
               "(no effect here: "));
    assert_json(api, json_at(property(&answer, CORE "PodList", "items"), "items", NULL),
                "{\"$ref\":\"#/definitions/" CORE "Pod\"}");
}

/* Checks that every reference leads to a definition. */
static void check_references(const struct json *json, const struct json *definitions,
                             const char *prefix)
{
    const char *reference = json_text(json_get(json, "$ref"));
    if (reference) {
        assert_true(str_has_prefix(reference, prefix));
        if (!json_get(definitions, reference + strlen(prefix)))
            fail_msg("%s leads nowhere", reference);
    }
    JSON_EACH (item, json)
        check_references(item, definitions, prefix);
}

static void test_references(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/openapi/v2");
    check_references(answer.json, json_get(answer.json, "definitions"), "#/definitions/");
    answer = api_get(api, "/openapi/v3/apis/batch/v1");
    check_references(answer.json, json_at(answer.json, "components", "schemas", NULL),
                     "#/components/schemas/");
}

static bool has_parameter(const struct json *operation, const char *name)
{
    JSON_EACH (parameter, json_get(operation, "parameters")) {
        if (str_eq(json_get_string(parameter, "name", ""), name))
            return true;
    }
    return false;
}

static void test_operations(void **state)
{
    struct api *api = *state;
    static const char one[] = "/api/v1/namespaces/{namespace}/pods/{name}";
    struct answer answer = api_get(api, "/openapi/v2");
    const struct json *patch = json_at(answer.json, "paths", one, "patch", NULL);
    assert_true(has_parameter(patch, "dryRun") && has_parameter(patch, "fieldManager") &&
                has_parameter(patch, "fieldValidation") && has_parameter(patch, "force"));
    assert_string_equal(json_get_string(patch, "operationId", ""), "patchCoreV1NamespacedPod");
    assert_string_equal(json_get_string(patch, "x-kubernetes-action", ""), "patch");
    assert_json(api, json_get(patch, "x-kubernetes-group-version-kind"),
                "{\"group\":\"\",\"kind\":\"Pod\",\"version\":\"v1\"}");
    const struct json *get = json_at(answer.json, "paths", one, "get", NULL);
    assert_false(has_parameter(get, "dryRun"));
    const struct json *all = json_at(answer.json, "paths", "/api/v1/pods", NULL);
    assert_true(has_parameter(json_get(all, "get"), "watch"));
    assert_null(json_get(all, "post"));
    const struct json *scale =
        json_at(answer.json, "paths",
                "/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs/{name}/scale", "put", NULL);
    assert_string_equal(
        json_get_string(json_get(scale, "x-kubernetes-group-version-kind"), "kind", ""), "Scale");
    const struct json *forward =
        json_at(answer.json, "paths", "/api/v1/namespaces/{namespace}/pods/{name}/portforward",
                "post", NULL);
    assert_string_equal(json_get_string(forward, "x-kubernetes-action", ""), "connect");
}

/* ---- Protobuf, read back --------------------------------------------------------------------- */

struct message {
    const char *data;
    size_t size;
};

static uint64_t take_varint(struct message *message)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(message->size > 0 && shift < 64);
        unsigned char byte = (unsigned char)*message->data++;
        message->size--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

/* Reads the next field that is a message, a text or bytes. Numbers are skipped. */
static bool take_field(struct message *message, uint64_t *ret_number, struct message *ret)
{
    while (message->size > 0) {
        uint64_t head = take_varint(message);
        if ((head & 7) == 0) {
            take_varint(message);
            continue;
        }
        assert_int_equal(head & 7, 2);
        *ret_number = head >> 3;
        ret->size = take_varint(message);
        ret->data = message->data;
        assert_true(ret->size <= message->size);
        message->data += ret->size;
        message->size -= ret->size;
        return true;
    }
    return false;
}

/* Returns the nth field with this number, or an empty message if there is none. */
static struct message field(struct message message, uint64_t number, size_t n)
{
    uint64_t found;
    struct message value;
    while (take_field(&message, &found, &value))
        if (found == number && n-- == 0)
            return value;
    return (struct message){"", 0};
}

static bool equals_text(struct message message, const char *text)
{
    return message.size == strlen(text) && memcmp(message.data, text, message.size) == 0;
}

/* Returns the value with this name from the list under `number`. Its entries have a name (1) and a
 * value (2). */
static struct message named(struct message list, uint64_t number, const char *name)
{
    for (size_t i = 0;; i++) {
        struct message entry = field(list, number, i);
        if (entry.size == 0 || equals_text(field(entry, 1, 0), name))
            return field(entry, 2, 0);
    }
}

static void test_v2_in_protobuf(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_call(api, "GET", "/openapi/v2?timeout=32s", NULL, GNOSTIC_ASKED, NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.content_type, GNOSTIC);
    struct message document = {answer.body, answer.size};
    assert_true(equals_text(field(document, 1, 0), "2.0"));
    struct message spec = named(field(document, 9, 0), 1, CORE "PodSpec");
    assert_true(equals_text(field(spec, 4, 0), "the desired state of a pod"));
    assert_true(equals_text(field(spec, 19, 0), "containers")); /* required */
    assert_true(equals_text(field(field(spec, 22, 0), 1, 0), "object"));
    struct message containers = named(field(spec, 25, 0), 1, "containers");
    assert_true(equals_text(field(field(containers, 22, 0), 1, 0), "array"));
    struct message items = field(field(containers, 23, 0), 1, 0);
    assert_true(equals_text(field(items, 1, 0), "#/definitions/" CORE "Container"));
    struct message key = named(containers, 31, "x-kubernetes-patch-merge-key");
    assert_true(equals_text(field(key, 2, 0), "\"name\""));

    /* kubectl 1.20 makes a dry run only if the PATCH of the kind has this parameter. */
    struct message path = named(field(document, 8, 0), 2,
                                "/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs/{name}");
    struct message patch = field(path, 8, 0);
    struct message query = field(field(field(field(patch, 8, 0), 1, 0), 2, 0), 3, 0);
    assert_true(equals_text(field(query, 4, 0), "dryRun"));
    struct message kind = named(patch, 13, "x-kubernetes-group-version-kind");
    assert_true(equals_text(field(kind, 2, 0),
                            "{\"group\":\"kubeflow.org\",\"kind\":\"TFJob\",\"version\":\"v1\"}"));
    struct message ok = named(field(patch, 9, 0), 1, "200");
    struct message schema = field(field(field(ok, 1, 0), 2, 0), 1, 0);
    assert_true(equals_text(field(schema, 1, 0), "#/definitions/org.kubeflow.v1.TFJob"));

    answer = api_call(api, "GET", "/openapi/v2", NULL, "application/yaml", NULL);
    assert_int_equal(answer.status, 406);
}

/* ---- Version 3 ------------------------------------------------------------------------------- */

static void on_caching_head(void *context, int status, const struct http_header *headers)
{
    const char *value = http_header_get(headers, "Cache-Control");
    assert_int_equal(status, 200);
    *(bool *)context = value && strstr(value, "immutable");
}

static void on_caching_end(void *context, const struct err *err)
{
}

/* Returns whether a client may cache the response forever. */
static bool is_immutable(struct api *api, const char *path, const char *query)
{
    static const struct http_callbacks callbacks = {.on_head = on_caching_head,
                                                    .on_end = on_caching_end};
    const struct http_request request = {
        .method = "GET", .path = path, .query = query, .peer = "test"};
    bool immutable = false;
    http_start(api->transport, &request, 0, &callbacks, &immutable);
    api_run(api, 1000);
    return immutable;
}

static void test_v3_caching(void **state)
{
    struct api *api = *state;
    struct answer index = api_get(api, "/openapi/v3");
    const char *address =
        json_get_string(json_at(index.json, "paths", "api/v1", NULL), "serverRelativeURL", "");
    assert_true(is_immutable(api, "/openapi/v3/api/v1", strchr(address, '?') + 1));
    assert_false(is_immutable(api, "/openapi/v3/api/v1", ""));
    assert_false(is_immutable(api, "/openapi/v3/api/v1", "hash="));
}

static void test_v3(void **state)
{
    struct api *api = *state;
    struct answer index = api_get(api, "/openapi/v3");
    const char *address = json_get_string(
        json_at(index.json, "paths", "apis/kubeflow.org/v1", NULL), "serverRelativeURL", "");
    assert_true(str_has_prefix(address, "/openapi/v3/apis/kubeflow.org/v1?hash="));
    assert_non_null(json_at(index.json, "paths", "api/v1", NULL));
    struct answer answer = api_get(api, address);
    assert_int_equal(answer.status, 200);
    const struct json *spec = json_at(answer.json, "components", "schemas",
                                      "org.kubeflow.v1.TFJobSpec", "properties", NULL);
    assert_json(api, json_get(spec, "runPolicy"),
                "{\"allOf\":[{\"$ref\":\"#/components/schemas/org.kubeflow.v1.RunPolicy\"}],"
                "\"description\":\"how the job runs, ends and is cleaned up\"}");
    assert_json(api, json_at(spec, "successPolicy", "enum", NULL), "[\"\",\"AllWorkers\"]");
    assert_json(api,
                json_at(answer.json, "components", "schemas", CORE "PodSpec", "properties",
                        "restartPolicy", "default", NULL),
                "\"Always\"");
    const struct json *patch =
        json_at(answer.json, "paths", "/apis/kubeflow.org/v1/namespaces/{namespace}/tfjobs/{name}",
                "patch", NULL);
    assert_true(has_parameter(patch, "fieldValidation"));
    /* kubectl 1.32 sends the kind of patch that it finds here. */
    static const char strategic[] = "application/strategic-merge-patch+json";
    assert_non_null(json_at(patch, "requestBody", "content", "application/merge-patch+json", NULL));
    assert_null(json_at(patch, "requestBody", "content", strategic, NULL));
    answer = api_get(api, "/openapi/v3/api/v1");
    assert_non_null(json_at(answer.json, "paths", "/api/v1/namespaces/{namespace}/pods/{name}",
                            "patch", "requestBody", "content", strategic, NULL));

    /* A reference has no other fields beside it. */
    answer = api_get(api, "/openapi/v3/apis/apps/v1");
    assert_json(api,
                json_at(answer.json, "components", "schemas", "io.k8s.api.apps.v1.DeploymentSpec",
                        "properties", "strategy", NULL),
                "{\"allOf\":[{\"$ref\":\"#/components/schemas/io.k8s.api.apps.v1."
                "DeploymentStrategy\"}],\"x-kubernetes-patch-strategy\":\"retainKeys\","
                "\"description\":\"how old pods are replaced by new ones\"}");

    /* A URL with an outdated hash redirects to the present one. */
    answer = api_get(api, "/openapi/v3/apis/kubeflow.org/v1?hash=0000");
    assert_int_equal(answer.status, 301);
    assert_string_equal(answer.location, address);
    assert_int_equal(api_get(api, "/openapi/v3/apis/kubeflow.org/v9").status, 404);
    assert_int_equal(api_get(api, "/openapi/v3x").status, 404);
    assert_int_equal(api_call(api, "GET", address, NULL, "text/html", NULL).status, 406);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions), cmocka_unit_test(test_references),
        cmocka_unit_test(test_operations),  cmocka_unit_test(test_v2_in_protobuf),
        cmocka_unit_test(test_v3),          cmocka_unit_test(test_v3_caching),
    };
    return cmocka_run_group_tests(tests, api_setup, api_teardown);
}
