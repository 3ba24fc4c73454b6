/* A kind served in an older version too: written and read in it, stored in the newer one. */
#include "api.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define OLD "/apis/kubeflow.org/v1beta1/namespaces/default/tfjobs"
#define NEW "/apis/kubeflow.org/v1/namespaces/default/tfjobs"

static const char JOB[] =
    "{\"apiVersion\":\"kubeflow.org/v1beta1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"j\"},"
    "\"spec\":{\"cleanPodPolicy\":\"None\",\"backoffLimit\":3,\"tfReplicaSpecs\":{\"Ps\":"
    "{\"replicas\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"tensorflow\","
    "\"image\":\"i\"}]}}}}}}";

static void test_write_and_read(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, OLD "?fieldValidation=Strict", JOB);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "kubeflow.org/v1beta1");
    assert_string_equal(answer_at(api, &answer, "spec.runPolicy.cleanPodPolicy"), "None");
    assert_string_equal(answer_at(api, &answer, "spec.cleanPodPolicy"), "");
    assert_string_equal(answer_at(api, &answer, "spec.tfReplicaSpecs.Ps.replicas"), "1");

    answer = api_get(api, NEW "/j");
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "kubeflow.org/v1");
    assert_string_equal(answer_at(api, &answer, "spec.runPolicy.backoffLimit"), "3");
    answer = api_get(api, OLD "/j");
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "kubeflow.org/v1beta1");
    answer = api_get(api, OLD);
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "kubeflow.org/v1beta1");
    assert_string_equal(answer_at(api, &answer, "items.0.apiVersion"), "kubeflow.org/v1beta1");
    answer = api_get(api, NEW);
    assert_string_equal(answer_at(api, &answer, "items.0.apiVersion"), "kubeflow.org/v1");
}

/* Each version keeps its own default of what becomes of the pods; v1's is the operator's. */
static void test_clean_pod_policy(void **state)
{
    static const struct {
        const char *path, *version, *spec, *policy;
    } rows[] = {
        {OLD, "v1beta1", "", "Running"},
        {OLD, "v1beta1", "\"cleanPodPolicy\":\"All\",", "All"},
        {OLD, "v1beta1", "\"runPolicy\":{\"cleanPodPolicy\":\"None\"},", "None"},
        {OLD, "v1beta1", "\"runPolicy\":{\"backoffLimit\":1},", "Running"},
        {NEW, "v1", "", ""},
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer =
            api_post(api, rows[i].path,
                     arena_printf(api->arena,
                                  "{\"apiVersion\":\"kubeflow.org/%s\",\"kind\":\"TFJob\","
                                  "\"metadata\":{\"generateName\":\"j\"},\"spec\":{%s"
                                  "\"tfReplicaSpecs\":{\"PS\":{}}}}",
                                  rows[i].version, rows[i].spec));
        assert_int_equal(answer.status, 201);
        assert_string_equal(answer_at(api, &answer, "spec.runPolicy.cleanPodPolicy"),
                            rows[i].policy);
    }
}

static void test_patch_and_watch(void **state)
{
    struct api *api = *state;
    struct stream *watch = stream_open(api, OLD "?watch=true", NULL);
    api_post(api, OLD, JOB);
    struct answer answer =
        api_merge(api, OLD "/j", "{\"spec\":{\"activeDeadlineSeconds\":9,\"backoffLimit\":4}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "kubeflow.org/v1beta1");
    assert_string_equal(answer_at(api, &answer, "spec.runPolicy.activeDeadlineSeconds"), "9");
    assert_string_equal(answer_at(api, &answer, "spec.runPolicy.backoffLimit"), "4");
    api_run(api, 1);
    assert_string_equal(stream_text(watch, 0), "ADDED j, MODIFIED j");
    const struct json *seen = json_get(stream_event(watch, 1), "object");
    assert_string_equal(json_get_string(seen, "apiVersion", ""), "kubeflow.org/v1beta1");
    stream_close(watch);
}

static void test_refused(void **state)
{
    struct api *api = *state;
    assert_int_equal(api_post(api, NEW, JOB).status, 400);
    assert_int_equal(api_get(api, "/apis/kubeflow.org/v1alpha2/namespaces/default/tfjobs").status,
                     404);
}

static void test_discovery(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/apis/kubeflow.org");
    assert_string_equal(answer_at(api, &answer, "preferredVersion.version"), "v1");
    assert_string_equal(answer_at(api, &answer, "versions.1.version"), "v1beta1");
    answer = api_get(api, "/apis/kubeflow.org/v1beta1");
    assert_string_equal(answer_at(api, &answer, "groupVersion"), "kubeflow.org/v1beta1");
    assert_string_equal(answer_at(api, &answer, "resources.0.name"), "tfjobs");
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_write_and_read),  API_TEST(test_clean_pod_policy),
        API_TEST(test_patch_and_watch), API_TEST(test_refused),
        API_TEST(test_discovery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
