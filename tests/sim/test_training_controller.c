/* Tests the controller of training jobs against the API server in virtual time, one scenario per
 * test. */
#include "training_story.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/engine.h"
#include "fault_transport.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/kind/training_job.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/conditions.h"
#include "read_json.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEMPLATE                                                                                   \
    "'template': {'spec': {'containers': [{'name': 'tensorflow', 'image': 'simulated'}]}}"
#define TWO_WORKERS "'tfReplicaSpecs': {'Worker': {'replicas': 2, " TEMPLATE "}}"

static int setup(void **state)
{
    return story_setup(state, &TRAINING_TFJOB);
}

static int setup_pytorch(void **state)
{
    return story_setup(state, &TRAINING_PYTORCHJOB);
}

static void test_job_runs_and_succeeds(void **state)
{
    struct story *story = *state;

    story_submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers'}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 2);
    assert_int_equal(story_count(story->services), 2);
    assert_true(
        story_has_event(story, "Normal", "SuccessfulCreatePod", "Created pod: mnist-worker-0"));
    assert_true(story_has_event(story, "Normal", "SuccessfulCreateService",
                                "Created service: mnist-worker-1"));
    assert_true(story_has_event(story, "Normal", "TFJobSucceeded",
                                "TFJob default/mnist successfully completed."));
    assert_true(story_has_event(story, "Normal", "ExitedWithCode",
                                "Pod: default.mnist-worker-0 exited with code 0"));
}

static void test_deleted_job_deletes_its_pods(void **state)
{
    struct story *story = *state;
    struct kube_delete_options options = {.grace_period_seconds = -1};

    story_submit(story,
                 "{'tfReplicaSpecs': {'PS': {" TEMPLATE "}, 'Worker': {'restartPolicy': 'Always', "
                 "" TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story_count(story->pods), 2);
    kube_delete(story->cluster.client, &TFJOB_RESOURCE, "default", "mnist", &options,
                sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(
        story_count(story->jobs) + story_count(story->pods) + story_count(story->services), 0);
    assert_int_equal(story->pods_made, 2);
}

static void test_clean_up_is_reported(void **state)
{
    struct story *story = *state;

    story_submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers', 'runPolicy': "
                        "{'cleanPodPolicy': 'All'}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
    assert_int_equal(story_count(story->pods) + story_count(story->services), 0);
    assert_true(
        story_has_event(story, "Normal", "SuccessfulDeletePod", "Deleted pod: mnist-worker-0"));
    assert_true(story_has_event(story, "Normal", "SuccessfulDeleteService",
                                "Deleted service: mnist-worker-1"));
}

/* The controller's cache of pods has only some fields; it must have those that the event needs. */
static void test_restart_after_lack_of_memory_is_reported(void **state)
{
    struct story *story = *state;
    struct json *patch = read_json(
        story->arena,
        "{'status': {'containerStatuses': [{'name': 'tensorflow', 'restartCount': 1, 'state': "
        "{'running': {}}, 'lastState': {'terminated': {'exitCode': 137, 'reason': 'OOMKilled'}}}], "
        "'initContainerStatuses': [{'name': 'sidecar', 'restartCount': 2, 'state': {'running': {}},"
        " 'lastState': {'terminated': {'exitCode': 9, 'reason': 'OOMKilled'}}}]}}");

    story_submit(story, "{'tfReplicaSpecs': {'PS': {" TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    kube_patch(story->cluster.client, &KUBE_PODS, "default", "mnist-ps-0", "status", patch,
               sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(story_has_event(story, "Warning", "OOMKilled",
                                "Error pod mnist-ps-0 container tensorflow exitCode: 137: it used "
                                "more memory than its limit; restart 1"));
    assert_true(story_has_event(story, "Warning", "OOMKilled",
                                "Error pod mnist-ps-0 container sidecar exitCode: 9: it used more "
                                "memory than its limit; restart 2"));
}

/* No event wakes the controller between the start and the deadline. */
static void test_deadline_of_an_idle_job(void **state)
{
    struct story *story = *state;

    story_submit(story, "{'tfReplicaSpecs': {'PS': {" TEMPLATE "}}, 'runPolicy': "
                        "{'activeDeadlineSeconds': 600}}");
    sim_loop_run_for(story->cluster.loop, 9 * MINUTE_MS);
    assert_false(training_is_finished(story_status(story)));
    sim_loop_run_for(story->cluster.loop, 2 * MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_FAILED));
    assert_int_equal(story_count(story->pods), 0);
}

static void test_finished_job_is_deleted_after_its_ttl(void **state)
{
    struct story *story = *state;

    story_submit(story, "{" TWO_WORKERS ", 'runPolicy': {'ttlSecondsAfterFinished': 300}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story_count(story->jobs), 1);
    sim_loop_run_for(story->cluster.loop, 6 * MINUTE_MS);
    assert_int_equal(
        story_count(story->jobs) + story_count(story->pods) + story_count(story->services), 0);
    assert_true(story_has_event(story, "Normal", "SuccessfulDeleteJob", "Deleted job: mnist"));
}

/* The controller does not see a pod of the same name without our labels. Only the API server
 * reports that the name exists. */
static void test_pod_name_in_use_is_reported(void **state)
{
    struct story *story = *state;
    struct kube_delete_options options = {.grace_period_seconds = 0};
    struct json *stranger = kube_object_make(story->arena, &KUBE_PODS, "default", "mnist-worker-0");

    json_set(story->arena, stranger, "spec",
             read_json(story->arena,
                       "{'nodeSelector': {'no': 'where'}, 'containers': [{'name': 'x', 'image': "
                       "'x'}]}"));
    kube_create(story->cluster.client, &KUBE_PODS, "default", stranger, sim_must_succeed, NULL);
    story_submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers'}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_false(training_is_finished(story_status(story)));
    assert_true(
        story_has_event(story, "Warning", "FailedCreatePod",
                        "Error creating: pod \"mnist-worker-0\" exists and does not belong to "
                        "this job; delete it, or give the job another name"));
    kube_delete(story->cluster.client, &KUBE_PODS, "default", "mnist-worker-0", &options,
                sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, 2 * MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
}

static void test_invalid_job_fails_without_pods(void **state)
{
    struct story *story = *state;

    story_submit(story, "{'tfReplicaSpecs': {'Chief': {'replicas': 2, " TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_FAILED));
    assert_true(
        story_has_event(story, "Warning", "FailedValidation",
                        "spec.tfReplicaSpecs[Chief].replicas: must not be more than 1, is 2"));
    assert_int_equal(story->pods_made, 0);
}

/* Writes a job directly into the store, without validation of its template. */
static void store_job(struct story *story, const char *container)
{
    struct err err = ERR_INIT;
    const char *text = quoted(
        story->arena,
        arena_printf(story->arena,
                     "{'apiVersion': 'kubeflow.org/v1', 'kind': 'TFJob', 'metadata': {'name': "
                     "'mnist', 'namespace': 'default', 'uid': 'u', 'generation': 1}, 'spec': "
                     "{'tfReplicaSpecs': {'Worker': {'replicas': 100, 'template': {'spec': "
                     "{'containers': [{'name': 'tensorflow', 'image': 'simulated', %s}]}}}}}}",
                     container));

    if (store_put(story->cluster.store, "/tfjobs.kubeflow.org/default/mnist", text, strlen(text), 0,
                  NULL, NULL, &err) < 0)
        fail_msg("%s", err.message);
}

static size_t count_events(struct story *story, const char *type)
{
    size_t count = 0;
    struct kube_object *event;

    for (size_t i = 0; (event = kube_informer_next(story->events, NULL, &i));)
        if (str_eq(json_get_string(event->json, "type", ""), type))
            count += (size_t)json_get_int(event->json, "count", 1);
    return count;
}

/* If the server rejects pods permanently, the job fails with the field's path and the server's
 * reason. There is one event. */
static void test_rejected_pods_fail_the_job(void **state)
{
    static const struct {
        const char *container, *why;
    } rows[] = {
        {"'command': ['sleep', 2]",
         "spec.containers[0].command[1] must be a string, not the number 2; quote it"},
        {"'volumeMounts': [{'name': 'data', 'mountPath': '/d'}]",
         "spec.containers[0].volumeMounts[0].name: Not found: \"data\""},
    };
    static const char where[] =
        "spec.tfReplicaSpecs[Worker].template: the API server refuses the pod: Pod ";

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (i > 0) {
            story_teardown(state);
            setup(state);
        }
        struct story *story = *state;

        store_job(story, rows[i].container);
        sim_loop_run_for(story->cluster.loop, MINUTE_MS);
        const struct json *failed = training_condition_get(story_status(story), TRAINING_FAILED);
        const char *message = json_get_string(failed, "message", "");
        assert_non_null(strstr(message, where));
        assert_true(str_has_suffix(message, rows[i].why));
        assert_true(story_has_event(story, "Warning", "FailedValidation", strstr(message, where)));
        assert_int_equal(count_events(story, "Warning"), 1);
        assert_int_equal(story->pods_made, 0);
    }
}

static void test_restarted_operator_continues(void **state)
{
    struct story *story = *state;

    story_submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers'}");
    /* The operator is killed every few milliseconds while it creates objects. */
    sim_loop_run_for(story->cluster.loop, 1);
    for (int i = 0; i < 50; i++) {
        training_controller_free(story->controller);
        sim_loop_run_for(story->cluster.loop, 1);
        story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                    &TRAINING_TFJOB, NULL);
        sim_loop_run_for(story->cluster.loop, 2);
    }
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 2);
}

static void count_call(void *context)
{
    (*(size_t *)context)++;
}

/* While the server is down, each pass ends with its first call, and the delay between passes
 * grows. */
static void test_outage_slows_down_the_passes(void **state)
{
    static const struct fault_rates outage = {.refuse = 1000}, none = {0};
    struct story *story = *state;
    struct http_transport *faulty = fault_transport_new(
        story->cluster.loop, story->cluster.transport, story->cluster.rand, &none);
    size_t calls = 0;

    training_controller_free(story->controller);
    story->controller = training_controller_new(story->cluster.loop, faulty, &TRAINING_TFJOB, NULL);
    sim_loop_run_for(story->cluster.loop, 1000);
    fault_transport_set(faulty, &outage); /* only calls fail; watches stay open */
    fault_transport_on_write(faulty, count_call, &calls);
    story_submit(story, "{'tfReplicaSpecs': {'Worker': {'replicas': 500, " TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, 5000);
    print_message("%zu calls in an outage of 5 s\n", calls);
    assert_true(calls > 0);
    assert_true(calls <= 32 + 12); /* the calls in flight, then one per pass */
    fault_transport_on_write(faulty, NULL, NULL);
    fault_transport_set(faulty, &none);
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 500);
    story->controller = training_controller_free(story->controller);
    http_transport_free(faulty);
}

/* Half of the answers are lost. Objects that were created are found and not created again. */
static void test_lost_answers_create_no_duplicates(void **state)
{
    static const struct fault_rates rates = {.lose = 500};
    struct story *story = *state;
    struct http_transport *faulty = fault_transport_new(
        story->cluster.loop, story->cluster.transport, story->cluster.rand, &rates);

    training_controller_free(story->controller);
    story->controller = training_controller_new(story->cluster.loop, faulty, &TRAINING_TFJOB, NULL);
    story_submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers', 'runPolicy': "
                        "{'cleanPodPolicy': 'All'}}");
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 2);
    assert_int_equal(story_count(story->pods) + story_count(story->services), 0);
    story->controller = training_controller_free(story->controller);
    http_transport_free(faulty);
}

/* The server rejects the job's status, because a definition does not fit. An event reports that,
 * and the job continues once the definition is repaired. */
static void test_rejected_status_is_reported(void **state)
{
    static const struct fault_rates rates = {.invalid = 1000}, none = {0};
    struct story *story = *state;
    struct http_transport *faulty = fault_transport_new(
        story->cluster.loop, story->cluster.transport, story->cluster.rand, &rates);

    training_controller_free(story->controller);
    story->controller = training_controller_new(story->cluster.loop, faulty, &TRAINING_TFJOB, NULL);
    story_submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers'}");
    sim_loop_run_for(story->cluster.loop, 2 * MINUTE_MS);
    assert_int_equal(json_count(story_status(story)), 0);
    assert_true(story_has_event(story, "Warning", "FailedUpdateJob",
                                "Error updating: the object does not fit"));
    fault_transport_set(faulty, &none);
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 2);
    story->controller = training_controller_free(story->controller);
    http_transport_free(faulty);
}

/* No worker can be added, because the name of its service is taken. Pods that must be deleted are
 * deleted anyway. */
static void test_surplus_pods_are_deleted_despite_a_failed_create(void **state)
{
    struct story *story = *state;
    struct json *stranger =
        kube_object_make(story->arena, &KUBE_SERVICES, "default", "mnist-worker-1");

    story_submit(story,
                 "{'tfReplicaSpecs': {'PS': {'replicas': 2, 'restartPolicy': 'Always', " TEMPLATE
                 "}, 'Worker': {'restartPolicy': 'Always', " TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story_count(story->pods), 3);
    json_set(story->arena, stranger, "spec",
             read_json(story->arena, "{'ports': [{'port': 80}], 'clusterIP': 'None'}"));
    kube_create(story->cluster.client, &KUBE_SERVICES, "default", stranger, sim_must_succeed, NULL);
    kube_patch(story->cluster.client, &TFJOB_RESOURCE, "default", "mnist", NULL,
               read_json(story->arena, "{'spec': {'tfReplicaSpecs': {'PS': {'replicas': 1}, "
                                       "'Worker': {'replicas': 2}}}}"),
               sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(
        story_has_event(story, "Warning", "FailedCreateService",
                        "Error creating: service \"mnist-worker-1\" exists and does not belong "
                        "to this job; delete it, or give the job another name"));
    assert_true(story_has_event(story, "Normal", "SuccessfulDeletePod", "Deleted pod: mnist-ps-1"));
    assert_int_equal(story_count(story->pods), 2);
}

/* A server that answers all requests except those for one resource. */
struct muddled {
    struct engine *engine;
    const char *resource;
};

static void handle(struct http_exchange *exchange, void *context)
{
    struct muddled *server = context;

    if (strstr(exchange->request->path, server->resource))
        http_respond(exchange, 500, "text/plain", "", 0);
    else
        engine_handle(exchange, server->engine);
}

/* The controller cannot work without an answer about this resource, and must not report that it is
 * ready. */
static void test_unanswered_resource_is_reported(void **state)
{
    static const char *const resources[] = {"podgroups", "services", "pods", "tfjobs"};
    const struct training_controller_options options = {.gang_scheduler = "plugins"};
    struct story *story = *state;

    for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
        struct muddled server = {story->cluster.engine, resources[i]};
        struct http_transport *transport =
            http_local_new(story->cluster.loop, handle, &server, SIM_TOKEN);

        training_controller_free(story->controller);
        story->controller =
            training_controller_new(story->cluster.loop, transport, &TRAINING_TFJOB, &options);
        sim_loop_run_for(story->cluster.loop, MINUTE_MS);
        struct training_controller_view view = training_controller_inspect(story->controller);
        assert_non_null(view.waits_for);
        assert_string_equal(view.waits_for->plural, resources[i]);
        assert_non_null(view.failure);
        story->controller = training_controller_free(story->controller);
        http_transport_free(transport);
    }
}

#define TORCH_TEMPLATE                                                                             \
    "'template': {'spec': {'containers': [{'name': 'pytorch', 'image': 'simulated'}]}}"

/* The programs fail half of the time and are restarted, as is the default of a PyTorchJob. */
static void test_pytorch_job_succeeds(void **state)
{
    struct story *story = *state;

    sim_node_set_failures(story->cluster.node, 50);
    story_submit(story,
                 "{'pytorchReplicaSpecs': {'Master': {" TORCH_TEMPLATE "}, 'Worker': {'replicas': "
                 "2, " TORCH_TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, 30 * MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 3);
    assert_int_equal(story_count(story->services), 3);
    assert_true(story_has_event(story, "Normal", "PyTorchJobSucceeded",
                                "PyTorchJob mnist is successfully completed."));
}

static void scale_workers(struct story *story, int replicas)
{
    struct json *patch = read_json(
        story->arena,
        arena_printf(story->arena,
                     "{'spec': {'pytorchReplicaSpecs': {'Worker': {'replicas': %d}}}}", replicas));

    kube_patch(story->cluster.client, story->kind->resource, "default", "mnist", NULL, patch,
               sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
}

static void test_elastic_pytorch_job_scales(void **state)
{
    struct story *story = *state;

    story_submit(story,
                 "{'elasticPolicy': {'minReplicas': 1, 'maxReplicas': 3}, 'pytorchReplicaSpecs': "
                 "{'Worker': {'replicas': 2, 'restartPolicy': 'Always', " TORCH_TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story_count(story->pods), 2);
    scale_workers(story, 7);
    assert_int_equal(story_count(story->pods), 3);
    assert_true(
        story_has_event(story, "Warning", "ReplicasOutOfBounds",
                        "spec.pytorchReplicaSpecs[Worker].replicas: must be between 1 and 3, is "
                        "7; the job goes on with 3"));
    scale_workers(story, 1);
    assert_int_equal(story_count(story->pods), 1);
    assert_int_equal(story_count(story->services), 1);
    assert_true(training_condition_is_true(story_status(story), TRAINING_RUNNING));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_job_runs_and_succeeds, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_deleted_job_deletes_its_pods, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_clean_up_is_reported, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_restart_after_lack_of_memory_is_reported, setup,
                                        story_teardown),
        cmocka_unit_test_setup_teardown(test_deadline_of_an_idle_job, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_finished_job_is_deleted_after_its_ttl, setup,
                                        story_teardown),
        cmocka_unit_test_setup_teardown(test_pod_name_in_use_is_reported, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_rejected_pods_fail_the_job, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_invalid_job_fails_without_pods, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_restarted_operator_continues, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_outage_slows_down_the_passes, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_lost_answers_create_no_duplicates, setup,
                                        story_teardown),
        cmocka_unit_test_setup_teardown(test_rejected_status_is_reported, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_surplus_pods_are_deleted_despite_a_failed_create,
                                        setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_unanswered_resource_is_reported, setup,
                                        story_teardown),
        cmocka_unit_test_setup_teardown(test_pytorch_job_succeeds, setup_pytorch, story_teardown),
        cmocka_unit_test_setup_teardown(test_elastic_pytorch_job_scales, setup_pytorch,
                                        story_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
