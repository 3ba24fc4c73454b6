/* Tests a kind that is also served in an older version: it can be written and read in that version,
 * and is stored in the newer one. */
#include "api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

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

/* Each version has its own default of cleanPodPolicy; v1 has that of the operator. */
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

/* The replica list of v1alpha1 is rejected in every version, even if unknown fields only cause
 * warnings. The message shows the job in the present form. */
static void test_list_of_replicas(void **state)
{
    static const char *const versions[] = {"v1alpha1", "v1beta1", "v1"};
    static const char *const modes[] = {"Strict", "Warn", "Ignore"};
    struct api *api = *state;
    for (size_t i = 0; i < 9; i++) {
        const char *version = versions[i / 3];
        struct answer answer = api_post(
            api,
            arena_printf(api->arena,
                         "/apis/kubeflow.org/%s/namespaces/default/tfjobs?fieldValidation=%s",
                         version, modes[i % 3]),
            arena_printf(
                api->arena,
                "{\"apiVersion\":\"kubeflow.org/%s\",\"kind\":\"TFJob\",\"metadata\":"
                "{\"name\":\"j\",\"annotations\":{\"a\":\"b\"}},\"spec\":{\"runPolicy\":"
                "{\"cleanPodPolicy\":\"All\"},\"replicaSpecs\":[{\"tfReplicaType\":"
                "\"MASTER\",\"tfPort\":2222,\"template\":{\"spec\":{\"containers\":"
                "[{\"name\":\"tensorflow\",\"image\":\"i\"}],\"restartPolicy\":\"Never\"}}},"
                "{\"tfReplicaType\":\"Ps\",\"replicas\":2}]}}",
                version));
        assert_int_equal(answer.status, 422);
        assert_string_equal(
            answer_at(api, &answer, "message"),
            "TFJob.kubeflow.org \"j\" is invalid: spec.replicaSpecs: Forbidden: the "
            "list with tfReplicaType is the format of v1alpha1, which is no longer supported. "
            "Since v1beta1 the replica types are a map:\n"
            "\n"
            "apiVersion: kubeflow.org/v1\n"
            "kind: TFJob\n"
            "metadata:\n"
            "  name: j\n"
            "spec:\n"
            "  runPolicy:\n"
            "    cleanPodPolicy: All\n"
            "  tfReplicaSpecs:\n"
            "    Master:\n"
            "      restartPolicy: Never\n"
            "      template:\n"
            "        spec:\n"
            "          containers:\n"
            "          - name: tensorflow\n"
            "            image: i\n"
            "    PS:\n"
            "      replicas: 2\n");
    }
}

/* Invalid elements, unknown roles, and more elements than the message shows. */
static void test_invalid_replica_lists(void **state)
{
    struct api *api = *state;
    _cleanup_buf_ struct buf body;
    buf_init(&body, 1 << 20);
    struct answer answer =
        api_post(api, NEW,
                 "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"replicaSpecs\":[7,null,[],{},"
                 "{\"tfReplicaType\":\"Boss\",\"template\":3}]}}");
    assert_int_equal(answer.status, 422);
    assert_non_null(strstr(answer.body, "    Boss:\\n      template: 3"));
    buf_append_str(&body,
                   "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"replicaSpecs\":[{\"template\":"
                   "{\"spec\":{\"containers\":[{\"args\":[");
    for (int i = 0; i < 50000; i++)
        buf_printf(&body, "%s\"argument\"", i ? "," : "");
    buf_append_str(&body, "]}]}}}]}}");
    answer = api_post(api, NEW, body.data);
    assert_int_equal(answer.status, 422);
    assert_non_null(strstr(answer.body, "- argument\\n# … and so on: the rest is not shown"));
    assert_in_range(strlen(answer.body), 8 * 1024, 32 * 1024);
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
        API_TEST(test_write_and_read),   API_TEST(test_clean_pod_policy),
        API_TEST(test_patch_and_watch),  API_TEST(test_refused),
        API_TEST(test_list_of_replicas), API_TEST(test_invalid_replica_lists),
        API_TEST(test_discovery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
