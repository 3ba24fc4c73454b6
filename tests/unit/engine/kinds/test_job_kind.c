/* Tests Jobs through the API: their stored form, and which are rejected with which message. */
#include "api.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define JOBS       "/apis/batch/v1/namespaces/default/jobs"
#define CONTAINERS "\"containers\":[{\"name\":\"m\",\"image\":\"i\",\"command\":[\"true\"]}]"
#define TEMPLATE   "\"template\":{\"spec\":{\"restartPolicy\":\"Never\"," CONTAINERS "}}"

static struct answer post(struct api *api, const char *name, const char *spec)
{
    return api_post(api, JOBS,
                    arena_printf(api->arena,
                                 "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{"
                                 "\"name\":\"%s\"},\"spec\":{%s}}",
                                 name, spec));
}

static void test_defaults(void **state)
{
    static const char *const wanted[][2] = {
        {"spec.parallelism", "1"},
        {"spec.completions", "1"},
        {"spec.backoffLimit", "6"},
        {"spec.completionMode", "NonIndexed"},
        {"spec.suspend", "false"},
        {"spec.template.spec.dnsPolicy", "ClusterFirst"},
        {"spec.template.metadata.labels.job-name", "j"},
        {"metadata.generation", "1"},
    };
    struct api *api = *state;
    struct answer answer = post(api, "j", TEMPLATE);
    assert_int_equal(answer.status, 201);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        assert_string_equal(answer_at(api, &answer, wanted[i][0]), wanted[i][1]);
    const char *uid = answer_at(api, &answer, "metadata.uid");
    const struct json *labels =
        json_at(answer.json, "spec", "template", "metadata", "labels", NULL);
    const struct json *selector = json_at(answer.json, "spec", "selector", "matchLabels", NULL);
    assert_string_equal(json_get_string(labels, "controller-uid", ""), uid);
    assert_string_equal(json_get_string(labels, "batch.kubernetes.io/controller-uid", ""), uid);
    assert_string_equal(json_get_string(labels, "batch.kubernetes.io/job-name", ""), "j");
    assert_string_equal(json_get_string(selector, "batch.kubernetes.io/controller-uid", ""), uid);
    assert_int_equal(json_count(selector), 1);
    /* A job with parallelism and without completions is a work queue. */
    answer = post(api, "q", "\"parallelism\":3," TEMPLATE);
    assert_string_equal(answer_at(api, &answer, "spec.completions"), "");
}

static void test_refusals(void **state)
{
    static const struct {
        const char *name, *spec, *part;
    } rows[] = {
        {"j", "\"parallelism\":-1," TEMPLATE,
         "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"},
        {"j", "\"backoffLimit\":-1," TEMPLATE,
         "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"},
        {"j", "\"completionMode\":\"Ordered\"," TEMPLATE,
         "spec.completionMode: Unsupported value: \"Ordered\": supported values: \"NonIndexed\", "
         "\"Indexed\""},
        {"j", "\"completionMode\":\"Indexed\",\"parallelism\":2," TEMPLATE,
         "spec.completions: Required value: when completion mode is Indexed"},
        {"j", "\"completionMode\":\"Indexed\",\"completions\":1,\"parallelism\":100001," TEMPLATE,
         "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when "
         "completion mode is Indexed"},
        {"a123456789012345678901234567890123456789012345678901234567890",
         "\"completionMode\":\"Indexed\",\"completions\":101," TEMPLATE,
         "will not able to create pod with invalid DNS label"},
        {"j", "\"template\":{\"spec\":{" CONTAINERS "}}",
         "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
         "\"Never\""},
        {"j", "\"template\":{\"spec\":{\"restartPolicy\":\"Never\"}}",
         "spec.template.spec.containers: Required value"},
        {"j", "\"parallelism\":1", "spec.template.spec.containers: Required value"},
        {"j", "\"selector\":{\"matchLabels\":{\"a\":\"b\"}}," TEMPLATE,
         "`selector` not auto-generated"},
        {"j",
         "\"template\":{\"metadata\":{\"labels\":{\"job-name\":\"x\"}},\"spec\":{\"restartPolicy\":"
         "\"Never\"," CONTAINERS "}}",
         "spec.template.metadata.labels[job-name]: Invalid value: \"x\": must be 'j'"},
        {"j", "\"manualSelector\":true," TEMPLATE, "spec.selector: Required value"},
        {"j", "\"manualSelector\":true,\"selector\":{\"matchLabels\":{\"a\":\"b\"}}," TEMPLATE,
         "`selector` does not match template `labels`"},
        {"j", "\"podFailurePolicy\":{\"rules\":[]}," TEMPLATE,
         "spec.podFailurePolicy: Forbidden: not supported by trainyard: every failure counts"},
        {"j", "\"backoffLimitPerIndex\":1," TEMPLATE,
         "spec.backoffLimitPerIndex: Forbidden: not supported by trainyard"},
        {"j", "\"managedBy\":\"kueue\"," TEMPLATE, "spec.managedBy: Forbidden"},
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer = post(api, rows[i].name, rows[i].spec);
        assert_int_equal(answer.status, 422);
        if (!strstr(answer_message(&answer), rows[i].part))
            fail_msg("'%s' says '%s', not '%s'", rows[i].spec, answer_message(&answer),
                     rows[i].part);
    }
}

static void test_manual_selector(void **state)
{
    struct api *api = *state;
    struct answer answer =
        post(api, "j",
             "\"manualSelector\":true,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{"
             "\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"restartPolicy\":"
             "\"OnFailure\"," CONTAINERS "}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.template.metadata.labels.job-name"), "");
}

static void test_mutable_fields(void **state)
{
    static const struct {
        const char *patch, *complaint; /* "": accepted */
    } rows[] = {
        {"{\"spec\":{\"parallelism\":4}}", ""},
        {"{\"spec\":{\"suspend\":true}}", ""},
        {"{\"spec\":{\"backoffLimit\":1,\"activeDeadlineSeconds\":9}}", ""},
        {"{\"spec\":{\"completions\":5}}", "can only be modified in tandem with spec.parallelism"},
        {"{\"spec\":{\"completions\":5,\"parallelism\":5}}", ""},
        {"{\"spec\":{\"completionMode\":\"NonIndexed\"}}", "field is immutable"},
        {"{\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"OnFailure\"}}}}",
         "spec.template: Invalid value"},
        {"{\"spec\":{\"selector\":{\"matchLabels\":{\"x\":\"y\"}}}}", "field is immutable"},
        {"{\"status\":{\"succeeded\":9}}", ""},
    };
    struct api *api = *state;
    post(api, "j", "\"completionMode\":\"Indexed\",\"completions\":3,\"parallelism\":2," TEMPLATE);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer = api_merge(api, JOBS "/j", rows[i].patch);
        assert_int_equal(answer.status, rows[i].complaint[0] ? 422 : 200);
        if (rows[i].complaint[0] && !strstr(answer_message(&answer), rows[i].complaint))
            fail_msg("'%s' says '%s'", rows[i].patch, answer_message(&answer));
    }
    struct answer answer = api_get(api, JOBS "/j");
    /* Only the controller sets it. */
    assert_string_equal(answer_at(api, &answer, "status.succeeded"), "");
    post(api, "n", "\"completions\":3," TEMPLATE);
    answer = api_merge(api, JOBS "/n", "{\"spec\":{\"completions\":5,\"parallelism\":5}}");
    assert_int_equal(answer.status, 422);
}

static void test_misspelled_field(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_post(api, JOBS "?fieldValidation=Strict",
                 "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"completion\":2," TEMPLATE "}}");
    assert_int_equal(answer.status, 400);
    assert_non_null(strstr(answer_message(&answer), "unknown field \"spec.completion\""));
}

#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(test_defaults),         API_TEST(test_refusals),
        API_TEST(test_manual_selector),  API_TEST(test_mutable_fields),
        API_TEST(test_misspelled_field),
    };
    return cmocka_run_group_tests_name("engine_job_kind", tests, NULL, NULL);
}
