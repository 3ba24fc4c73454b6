/* Tests the warnings for fields that are unknown or have no effect. */
#include "api.h"

#include "base/str.h"
#include "kube/schema/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PODS "/api/v1/namespaces/default/pods"
#define JOBS "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
#define TYPO                                                                                       \
    "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"containers\":[{\"name\":\"m\",\"image\":\"i\","    \
    "\"comand\":"                                                                                  \
    "[\"ls\"]}]}}"

static void test_warnings_for_unknown_fields(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, PODS, TYPO);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning,
                        "299 - \"unknown field \\\"spec.containers[0].comand\\\"\"");
    assert_string_equal(answer_at(api, &answer, "spec.containers.0.comand"), ""); /* dropped */
    /* The warning is not repeated for a client that writes other fields. */
    answer = api_merge(api, PODS "/t", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.warning, "");
    answer = api_merge(api, PODS "/t", "{\"spec\":{\"activeDeadlineSecond\":5}}");
    assert_int_equal(answer.status, 200); /* the known fields are unchanged */
    assert_true(str_has_prefix(answer.warning, "299 - \"unknown field"));
}

static void test_field_validation_modes(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, PODS "?fieldValidation=Strict", TYPO);
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer),
                        "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: "
                        "unknown field \"spec.containers[0].comand\"");
    /* The message is that of Kubernetes. The suggested field is in a place that kubectl does not
     * print. */
    assert_string_equal(answer_at(api, &answer, "details.causes.0.field"),
                        "spec.containers[0].comand");
    assert_string_equal(answer_at(api, &answer, "details.causes.0.message"),
                        "did you mean \"command\"?");
    answer = api_merge(api, PODS "/t?fieldValidation=Strict", "{\"a\":1,\"spec\":{\"b\":2}}");
    assert_int_equal(answer.status, 404);
    answer = api_post(api, PODS "?fieldValidation=Strict", "{\"a\":1,\"spec\":{\"b\":2}}");
    assert_string_equal(answer_message(&answer),
                        "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: "
                        "unknown field \"a\", unknown field \"spec.b\"");
    assert_string_equal(answer_at(api, &answer, "details.causes"), "");
    answer = api_post(api, PODS "?fieldValidation=Ignore", TYPO);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning, "");
    answer = api_post(api, PODS "?fieldValidation=Strict", POD_X);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning, "");
}

/* All unknown fields are named, up to SCHEMA_COMPLAINTS_MAX, even if they do not fit into a struct
 * err. */
static void test_many_unknown_fields(void **state)
{
    struct api *api = *state;
    _cleanup_buf_ struct buf body, expected;
    buf_init(&body, 1 << 16);
    buf_init(&expected, 1 << 16);
    buf_append_str(&body, "{\"metadata\":{\"name\":\"t\"},\"spec\":{");
    buf_append_str(&expected,
                   "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: ");
    for (int i = 0; i < SCHEMA_MESSAGES_MAX + 1; i++) {
        buf_printf(&body, "%s\"a-field-that-no-pod-has-and-never-had-%d\":1", i ? "," : "", i);
        if (i < SCHEMA_MESSAGES_MAX)
            buf_printf(&expected,
                       "%sunknown field \"spec.a-field-that-no-pod-has-and-never-had-%d\"",
                       i ? ", " : "", i);
    }
    buf_append_str(&body, "}}");
    struct answer answer = api_post(api, PODS "?fieldValidation=Strict", body.data);
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer), expected.data);
}

#define MAPS "/api/v1/namespaces/default/configmaps"
#define TWICE(name)                                                                                \
    "{\"metadata\":{\"name\":\"" name "\"},\"data\":{\"k\":\"1\",\"l\":\"1\",\"k\":\"2\"}}"

/* A duplicate field: the last one counts, and fieldValidation decides how it is reported. */
static void test_duplicate_fields(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, MAPS, TWICE("a"));
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning, "299 - \"duplicate field \\\"data.k\\\"\"");
    assert_string_equal(answer_at(api, &answer, "data.k"), "2");
    assert_string_equal(answer_at(api, &answer, "data.l"), "1");
    answer = api_post(api, MAPS "?fieldValidation=Ignore", TWICE("b"));
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning, "");
    answer = api_post(api, MAPS "?fieldValidation=Strict", TWICE("c"));
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer),
                        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict "
                        "decoding error: duplicate field \"data.k\"");
    answer = api_merge(api, MAPS "/a", "{\"data\":{\"k\":\"3\",\"k\":\"4\"}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "data.k"), "4");
    assert_string_equal(answer.warning, "299 - \"duplicate field \\\"data.k\\\"\"");
}

#define TWICE_IN_YAML(name)                                                                        \
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " name "}\ndata:\n  k: '1'\n  l: '1'\n"     \
    "  k: '2'\n"
#define REPEATED_LINE "line 7: key \"k\" already set in map"

static struct answer send_yaml(struct api *api, const char *method, const char *path,
                               const char *body)
{
    const char *type =
        str_eq(method, "PATCH") ? "application/apply-patch+yaml" : "application/yaml";
    return api_call(api, method, path, type, NULL, body);
}

/* For YAML the message has the line of the duplicate field. */
static void test_duplicate_fields_in_yaml(void **state)
{
    static const char warning[] = "299 - \"line 7: key \\\"k\\\" already set in map\"";
    struct api *api = *state;
    struct answer answer = send_yaml(api, "POST", MAPS, TWICE_IN_YAML("a"));
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning, warning);
    assert_string_equal(answer_at(api, &answer, "data"), "{\"l\":\"1\",\"k\":\"2\"}");
    answer = send_yaml(api, "PUT", MAPS "/a?fieldValidation=Ignore", TWICE_IN_YAML("a"));
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.warning, "");
    answer = send_yaml(api, "POST", MAPS "?fieldValidation=Strict",
                       TWICE_IN_YAML("c") "wrong: 1\nmetadata:\n  name: d\n");
    assert_int_equal(answer.status, 400);
    assert_string_equal(
        answer_message(&answer),
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict "
        "decoding error: yaml: unmarshal errors:\n  " REPEATED_LINE
        "\n  line 10: key \"metadata\" already set in map, unknown field \"wrong\"");

    answer = send_yaml(api, "PATCH", MAPS "/e?fieldManager=m", TWICE_IN_YAML("e"));
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning, warning);
    assert_string_equal(answer_at(api, &answer, "data.k"), "2");
    answer = send_yaml(api, "PATCH", MAPS "/e?fieldManager=m&fieldValidation=Ignore",
                       TWICE_IN_YAML("e"));
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.warning, "");
    answer = send_yaml(api, "PATCH", MAPS "/f?fieldManager=m&fieldValidation=Strict",
                       TWICE_IN_YAML("f"));
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer),
                        "error strict decoding YAML: error converting YAML to JSON: yaml: "
                        "unmarshal errors:\n  " REPEATED_LINE);
    assert_int_equal(api_get(api, MAPS "/f").status, 404);
    /* Text that is no YAML is reported as such. */
    answer = send_yaml(api, "POST", MAPS "?fieldValidation=Ignore", "a: 1\na: [\n");
    assert_int_equal(answer.status, 400);
}

static void test_unknown_fields_in_a_template(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, JOBS,
                                    "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"runPolicy\":{"
                                    "\"backoffLimit\":1},\"tfReplicaSpecs\":"
                                    "{\"Worker\":{\"replicas\":1,\"template\":{\"spec\":{"
                                    "\"containers\":[{\"name\":\"tensorflow\","
                                    "\"image\":\"i\",\"resources\":{\"limit\":{}}}]}}}}}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning,
                        "299 - \"unknown field \\\"spec.tfReplicaSpecs.Worker.template.spec."
                        "containers[0].resources.limit\\\"\"");
}

#define CLASSED                                                                                    \
    "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"hostIPC\":false,\"runtimeClassName\":\"own\","     \
    "\"containers\":[{\"name\":\"m\",\"image\":\"i\"}]}}"

/* The warning also comes with fieldValidation=Strict, because the field is known. A field without a
 * value gives no warning, and no warning comes twice. */
static void test_fields_without_effect(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, PODS "?fieldValidation=Strict", CLASSED);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning, "299 - \"spec.runtimeClassName: not supported here: there "
                                        "is only one way to run containers\"");
    answer = api_merge(api, PODS "/p", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.warning, "");
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_warnings_for_unknown_fields), API_TEST(test_field_validation_modes),
        API_TEST(test_many_unknown_fields),         API_TEST(test_duplicate_fields),
        API_TEST(test_duplicate_fields_in_yaml),    API_TEST(test_unknown_fields_in_a_template),
        API_TEST(test_fields_without_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
