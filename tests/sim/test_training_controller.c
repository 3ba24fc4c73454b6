/* The controller of training jobs against the API server, one story a test, in virtual time. */
#include "sim_cluster.h"

#include "base/mem.h"
#include "base/str.h"
#include "fault_transport.h"
#include "kube/informer.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/conditions.h"
#include "operator/controller.h"
#include "operator/host_network.h"
#include "operator/training_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MINUTE_MS = 60 * 1000 };

struct story {
    struct sim_cluster cluster;
    struct arena *arena;
    const struct training_kind *kind;
    struct training_controller *controller;
    struct kube_informer *jobs, *pods, *services, *events;
    size_t pods_made;
};

static void on_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct story *story = context;

    story->pods_made += !old;
}

static void on_any(void *context, struct kube_object *old, struct kube_object *new_)
{
}

static int setup_kind(void **state, const struct training_kind *kind)
{
    struct story *story = mem_zalloc(sizeof(*story));

    story->kind = kind;
    sim_cluster_init(&story->cluster, 1);
    sim_node_set_failures(story->cluster.node, 0);
    story->arena = arena_new();
    story->jobs =
        kube_informer_new(story->cluster.client, kind->resource, NULL, NULL, on_any, story);
    story->pods = kube_informer_new(story->cluster.client, &KUBE_PODS, NULL, NULL, on_pod, story);
    story->services = kube_informer_new(story->cluster.client, &KUBE_SERVICES, NULL, kind->selector,
                                        on_any, story);
    story->events =
        kube_informer_new(story->cluster.client, &KUBE_EVENTS, NULL, NULL, on_any, story);
    story->controller =
        training_controller_new(story->cluster.loop, story->cluster.transport, kind, NULL);
    *state = story;
    return 0;
}

static int setup(void **state)
{
    return setup_kind(state, &TRAINING_TFJOB);
}

static int setup_pytorch(void **state)
{
    return setup_kind(state, &TRAINING_PYTORCHJOB);
}

static int teardown(void **state)
{
    struct story *story = *state;

    training_controller_free(story->controller);
    kube_informer_free(story->jobs);
    kube_informer_free(story->pods);
    kube_informer_free(story->services);
    kube_informer_free(story->events);
    arena_free(story->arena);
    sim_cluster_release(&story->cluster);
    free(story);
    return 0;
}

static void must_succeed(void *context, struct json *object, const struct err *err)
{
    if (err)
        fail_msg("%s", err->message);
}

static struct json *parse(struct story *story, const char *text)
{
    char *copy = arena_strdup(story->arena, text);
    struct err err = ERR_INIT;
    struct json *json;

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (json_parse(story->arena, copy, strlen(copy), NULL, &json, &err) < 0)
        fail_msg("%s: %s", err.message, text);
    return json;
}

#define TEMPLATE                                                                                   \
    "'template': {'spec': {'containers': [{'name': 'tensorflow', 'image': 'simulated'}]}}"
#define TWO_WORKERS "'tfReplicaSpecs': {'Worker': {'replicas': 2, " TEMPLATE "}}"

static void submit_as(struct story *story, const char *name, const char *spec)
{
    struct json *job = kube_object_make(story->arena, story->kind->resource, "default", name);

    json_set(story->arena, job, "spec", parse(story, spec));
    kube_create(story->cluster.client, story->kind->resource, "default", job, must_succeed, NULL);
}

static void submit(struct story *story, const char *spec)
{
    submit_as(story, "mnist", spec);
}

static const struct json *status_of(struct story *story)
{
    struct kube_object *job = kube_informer_get(story->jobs, "default", "mnist");

    return job ? json_get(job->json, "status") : NULL;
}

static size_t count(struct kube_informer *informer)
{
    size_t number = 0, position = 0;

    while (kube_informer_next(informer, NULL, &position))
        number++;
    return number;
}

static bool was_told(struct story *story, const char *type, const char *reason, const char *message)
{
    struct kube_object *event;

    for (size_t i = 0; (event = kube_informer_next(story->events, NULL, &i));) {
        if (str_eq(json_get_string(event->json, "type", ""), type) &&
            str_eq(json_get_string(event->json, "reason", ""), reason) &&
            str_eq(json_get_string(event->json, "message", ""), message))
            return true;
    }
    return false;
}

static void test_a_job_from_begin_to_end(void **state)
{
    struct story *story = *state;

    submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers'}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(status_of(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 2);
    assert_int_equal(count(story->services), 2);
    assert_true(was_told(story, "Normal", "SuccessfulCreatePod", "Created pod: mnist-worker-0"));
    assert_true(
        was_told(story, "Normal", "SuccessfulCreateService", "Created service: mnist-worker-1"));
    assert_true(
        was_told(story, "Normal", "TFJobSucceeded", "TFJob default/mnist successfully completed."));
    assert_true(was_told(story, "Normal", "ExitedWithCode",
                         "Pod: default.mnist-worker-0 exited with code 0"));
}

static void test_a_deleted_job_takes_its_pods_along(void **state)
{
    struct story *story = *state;
    struct kube_delete_options options = {.grace_period_seconds = -1};

    submit(story, "{'tfReplicaSpecs': {'PS': {" TEMPLATE "}, 'Worker': {'restartPolicy': 'Always', "
                  "" TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(count(story->pods), 2);
    kube_delete(story->cluster.client, &KUBE_TFJOBS, "default", "mnist", &options, must_succeed,
                NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(count(story->jobs) + count(story->pods) + count(story->services), 0);
    assert_int_equal(story->pods_made, 2);
}

static void test_clean_up_is_told(void **state)
{
    struct story *story = *state;

    submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers', 'runPolicy': "
                  "{'cleanPodPolicy': 'All'}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(status_of(story), TRAINING_SUCCEEDED));
    assert_int_equal(count(story->pods) + count(story->services), 0);
    assert_true(was_told(story, "Normal", "SuccessfulDeletePod", "Deleted pod: mnist-worker-0"));
    assert_true(
        was_told(story, "Normal", "SuccessfulDeleteService", "Deleted service: mnist-worker-1"));
}

/* Nothing at all happens between start and deadline. */
static void test_the_deadline_of_an_idle_job(void **state)
{
    struct story *story = *state;

    submit(story, "{'tfReplicaSpecs': {'PS': {" TEMPLATE "}}, 'runPolicy': "
                  "{'activeDeadlineSeconds': 600}}");
    sim_loop_run_for(story->cluster.loop, 9 * MINUTE_MS);
    assert_false(training_is_finished(status_of(story)));
    sim_loop_run_for(story->cluster.loop, 2 * MINUTE_MS);
    assert_true(training_condition_is_true(status_of(story), TRAINING_FAILED));
    assert_int_equal(count(story->pods), 0);
}

static void test_time_to_live(void **state)
{
    struct story *story = *state;

    submit(story, "{" TWO_WORKERS ", 'runPolicy': {'ttlSecondsAfterFinished': 300}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(count(story->jobs), 1);
    sim_loop_run_for(story->cluster.loop, 6 * MINUTE_MS);
    assert_int_equal(count(story->jobs) + count(story->pods) + count(story->services), 0);
    assert_true(was_told(story, "Normal", "SuccessfulDeleteJob", "Deleted job: mnist"));
}

/* A pod of the name without our labels is not even seen; the API says that it exists. */
static void test_a_name_taken_by_a_stranger(void **state)
{
    struct story *story = *state;
    struct kube_delete_options options = {.grace_period_seconds = 0};
    struct json *stranger = kube_object_make(story->arena, &KUBE_PODS, "default", "mnist-worker-0");

    json_set(story->arena, stranger, "spec",
             parse(story, "{'nodeSelector': {'no': 'where'}, 'containers': [{'name': 'x', 'image': "
                          "'x'}]}"));
    kube_create(story->cluster.client, &KUBE_PODS, "default", stranger, must_succeed, NULL);
    submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers'}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_false(training_is_finished(status_of(story)));
    assert_true(was_told(story, "Warning", "FailedCreatePod",
                         "Error creating: pod \"mnist-worker-0\" exists and does not belong to "
                         "this job"));
    kube_delete(story->cluster.client, &KUBE_PODS, "default", "mnist-worker-0", &options,
                must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, 2 * MINUTE_MS);
    assert_true(training_condition_is_true(status_of(story), TRAINING_SUCCEEDED));
}

static void test_an_invalid_job_is_told_and_left(void **state)
{
    struct story *story = *state;

    submit(story, "{'tfReplicaSpecs': {'Worker': {'replicas': -1, " TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(status_of(story), TRAINING_FAILED));
    assert_true(was_told(story, "Warning", "FailedValidation",
                         "spec.tfReplicaSpecs[Worker].replicas: must not be negative, is -1"));
    assert_int_equal(story->pods_made, 0);
}

static void test_a_new_operator_takes_over(void **state)
{
    struct story *story = *state;

    submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers'}");
    /* Stop it in the middle of making things, however far it has come. */
    sim_loop_run_for(story->cluster.loop, 1);
    for (int i = 0; i < 50; i++) {
        training_controller_free(story->controller);
        sim_loop_run_for(story->cluster.loop, 1);
        story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                    &TRAINING_TFJOB, NULL);
        sim_loop_run_for(story->cluster.loop, 2);
    }
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(status_of(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 2);
}

static const char *ports_of(struct story *story, const char *name)
{
    struct kube_object *job = kube_informer_get(story->jobs, "default", name);

    return job ? kube_meta_annotation(job->json, TRAINING_HOST_PORTS_ANNOTATION) : NULL;
}

/* Two jobs on the network of one node, and an operator that starts anew: four ports, four pods. */
static void test_host_network(void **state)
{
    static const char spec[] =
        "{'tfReplicaSpecs': {'PS': {'replicas': 2, 'template': {'spec': {'hostNetwork': true, "
        "'containers': [{'name': 'tensorflow', 'image': 'simulated'}]}}}}, "
        "'runPolicy': {'activeDeadlineSeconds': 600}}";
    struct story *story = *state;
    struct kube_object *pod;
    char *before;

    submit(story, spec);
    submit_as(story, "second", spec);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story->pods_made, 4);
    for (size_t i = 0; (pod = kube_informer_next(story->pods, NULL, &i));)
        assert_string_equal(json_get_string(json_get(pod->json, "status"), "phase", ""), "Running");
    before = arena_strdup(story->arena, ports_of(story, "mnist"));
    assert_string_not_equal(before, ports_of(story, "second"));

    training_controller_free(story->controller);
    story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                &TRAINING_TFJOB, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_string_equal(ports_of(story, "mnist"), before);
    assert_int_equal(story->pods_made, 4);

    /* Ended by their limit, they hold none any more. */
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_null(ports_of(story, "mnist"));
    assert_null(ports_of(story, "second"));
}

/* Ports are given out again when the job that held them has ended. */
static void test_host_ports_that_run_out(void **state)
{
    static const char spec[] =
        "{'tfReplicaSpecs': {'Worker': {'replicas': 2, 'template': {'spec': {'hostNetwork': true, "
        "'containers': [{'name': 'tensorflow', 'image': 'simulated'}]}}}}, 'successPolicy': "
        "'AllWorkers'}";
    struct story *story = *state;
    struct host_ports *ports = host_ports_new(7000, 7002);
    struct training_controller_options options = {.host_ports = ports};

    training_controller_free(story->controller);
    story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                &TRAINING_TFJOB, &options);
    submit(story, spec);
    submit_as(story, "second", spec);
    submit_as(story, "third", spec);
    sim_loop_run_for(story->cluster.loop, 1000);
    assert_int_equal(story->pods_made, 2);
    sim_loop_run_for(story->cluster.loop, 5 * MINUTE_MS);
    assert_int_equal(story->pods_made, 6);
    assert_true(was_told(
        story, "Warning", "HostPortsExhausted",
        "2 replicas with hostNetwork wait for ports of their own: too few of 7000-7002 are free; "
        "they start when other jobs have ended, or with a larger --host-port-range of the "
        "operator"));
    story->controller = training_controller_free(story->controller);
    host_ports_free(ports);
}

/* Every second answer is lost: what was made is found again, not made again. */
static void test_lost_answers(void **state)
{
    static const struct fault_rates rates = {.lose = 500};
    struct story *story = *state;
    struct http_transport *faulty = fault_transport_new(
        story->cluster.loop, story->cluster.transport, story->cluster.rand, &rates);

    training_controller_free(story->controller);
    story->controller = training_controller_new(story->cluster.loop, faulty, &TRAINING_TFJOB, NULL);
    submit(story, "{" TWO_WORKERS ", 'successPolicy': 'AllWorkers', 'runPolicy': "
                  "{'cleanPodPolicy': 'All'}}");
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_true(training_condition_is_true(status_of(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 2);
    assert_int_equal(count(story->pods) + count(story->services), 0);
    story->controller = training_controller_free(story->controller);
    http_transport_free(faulty);
}

#define TORCH_TEMPLATE                                                                             \
    "'template': {'spec': {'containers': [{'name': 'pytorch', 'image': 'simulated'}]}}"

/* Its programs fail half of the time and are tried again, as a PyTorchJob's are by default. */
static void test_a_pytorch_job(void **state)
{
    struct story *story = *state;

    sim_node_set_failures(story->cluster.node, 50);
    submit(story, "{'pytorchReplicaSpecs': {'Master': {" TORCH_TEMPLATE "}, 'Worker': {'replicas': "
                  "2, " TORCH_TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, 30 * MINUTE_MS);
    assert_true(training_condition_is_true(status_of(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 3);
    assert_int_equal(count(story->services), 3);
    assert_true(was_told(story, "Normal", "PyTorchJobSucceeded",
                         "PyTorchJob mnist is successfully completed."));
}

static void scale_workers(struct story *story, int replicas)
{
    struct json *patch =
        parse(story, arena_printf(story->arena,
                                  "{'spec': {'pytorchReplicaSpecs': {'Worker': {'replicas': %d}}}}",
                                  replicas));

    kube_patch(story->cluster.client, story->kind->resource, "default", "mnist", NULL, patch,
               must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
}

static void test_an_elastic_pytorch_job(void **state)
{
    struct story *story = *state;

    submit(story, "{'elasticPolicy': {'minReplicas': 1, 'maxReplicas': 3}, 'pytorchReplicaSpecs': "
                  "{'Worker': {'replicas': 2, 'restartPolicy': 'Always', " TORCH_TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(count(story->pods), 2);
    scale_workers(story, 7);
    assert_int_equal(count(story->pods), 3);
    assert_true(was_told(story, "Warning", "ReplicasOutOfBounds",
                         "spec.pytorchReplicaSpecs[Worker].replicas: must be between 1 and 3, is "
                         "7; the job goes on with 3"));
    scale_workers(story, 1);
    assert_int_equal(count(story->pods), 1);
    assert_int_equal(count(story->services), 1);
    assert_true(training_condition_is_true(status_of(story), TRAINING_RUNNING));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_job_from_begin_to_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_deleted_job_takes_its_pods_along, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clean_up_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_deadline_of_an_idle_job, setup, teardown),
        cmocka_unit_test_setup_teardown(test_time_to_live, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_name_taken_by_a_stranger, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_invalid_job_is_told_and_left, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_new_operator_takes_over, setup, teardown),
        cmocka_unit_test_setup_teardown(test_host_network, setup, teardown),
        cmocka_unit_test_setup_teardown(test_host_ports_that_run_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_pytorch_job, setup_pytorch, teardown),
        cmocka_unit_test_setup_teardown(test_an_elastic_pytorch_job, setup_pytorch, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
