/* Tests adoption and release of pods in virtual time, with restarts of the operator and lost
 * answers. Jobs are deleted without their pods and created again, and pods lose their labels. */
#include "training_story.h"

#include "base/mem.h"
#include "base/str.h"
#include "fault_transport.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/kind/training_job.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/conditions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TEMPLATE                                                                                   \
    "'template': {'spec': {'containers': [{'name': 'tensorflow', 'image': 'simulated'}]}}"
/* Programs that do not end: workers restart in place, and the parameter server waits. */
#define ENDLESS                                                                                    \
    "{'tfReplicaSpecs': {'PS': {" TEMPLATE "}, 'Worker': {'replicas': 2, 'restartPolicy': "        \
    "'Always', " TEMPLATE "}}}"

static int setup(void **state)
{
    return story_setup(state, &TRAINING_TFJOB);
}

static void delete_job(struct story *story, const char *propagation)
{
    struct kube_delete_options options = {.grace_period_seconds = -1, .propagation = propagation};

    kube_delete(story->cluster.client, &TFJOB_RESOURCE, "default", "mnist", &options,
                sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_null(kube_informer_get(story->jobs, "default", "mnist"));
}

static const char *uid_of_job(struct story *story)
{
    return kube_informer_get(story->jobs, "default", "mnist")->uid;
}

/* Checks that all pods and services have the present job as their only owner. */
static void assert_job_owns_all_objects(struct story *story)
{
    struct kube_informer *const informers[] = {story->pods, story->services};
    struct kube_object *object;

    for (size_t k = 0; k < ARRAY_SIZE(informers); k++) {
        for (size_t i = 0; (object = kube_informer_next(informers[k], NULL, &i));) {
            assert_true(kube_meta_is_controlled_by(object->json, uid_of_job(story)));
            assert_int_equal(json_count(json_at(object->json, "metadata", "ownerReferences", NULL)),
                             1);
        }
    }
}

static void test_recreated_job_adopts_its_pods(void **state)
{
    struct story *story = *state;

    story_submit(story, ENDLESS);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    delete_job(story, "Orphan");
    assert_int_equal(story_count(story->pods), 3);
    story_submit(story, ENDLESS);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story->pods_made, 3);
    assert_int_equal(story_count(story->services), 3);
    assert_job_owns_all_objects(story);
    assert_true(training_condition_is_true(story_status(story), TRAINING_RUNNING));
    assert_true(story_has_event(story, "Normal", "SuccessfulAdoptPod", "Adopted pod: mnist-ps-0"));
    assert_true(story_has_event(story, "Normal", "SuccessfulAdoptService",
                                "Adopted service: mnist-worker-1"));
    /* Adopted objects count as the job's own, also for the garbage collector. */
    delete_job(story, "Background");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story_count(story->pods) + story_count(story->services), 0);
}

/* The operator is killed at every step of the adoption, and half of the answers are lost. */
static void test_adoption_under_faults(void **state)
{
    static const struct fault_rates rates = {.lose = 300, .refuse = 100, .conflict = 200};
    struct story *story = *state;
    struct http_transport *faulty = fault_transport_new(
        story->cluster.loop, story->cluster.transport, story->cluster.rand, &rates);

    story_submit(story, ENDLESS);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    delete_job(story, "Orphan");
    story_submit(story, ENDLESS);
    for (int i = 0; i < 100; i++) {
        training_controller_free(story->controller);
        story->controller =
            training_controller_new(story->cluster.loop, faulty, &TRAINING_TFJOB, NULL);
        sim_loop_run_for(story->cluster.loop, 1 + i % 17);
    }
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_int_equal(story->pods_made, 3);
    assert_job_owns_all_objects(story);
    assert_true(training_condition_is_true(story_status(story), TRAINING_RUNNING));
    story->controller = training_controller_free(story->controller);
    http_transport_free(faulty);
}

/* A pod that succeeded for an earlier job does not count as this job's success. */
static void test_finished_pods_are_not_adopted(void **state)
{
    struct story *story = *state;
    struct kube_delete_options options = {.grace_period_seconds = 0};

    story_submit(story, "{'tfReplicaSpecs': {'Worker': {" TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
    delete_job(story, "Orphan");
    story_submit(story, "{'tfReplicaSpecs': {'Worker': {" TEMPLATE "}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_false(training_is_finished(story_status(story)));
    assert_int_equal(story->pods_made, 1);
    assert_true(
        story_has_event(story, "Warning", "FailedCreatePod",
                        "Error creating: pod \"mnist-worker-0\" exists and does not belong to "
                        "this job; delete it, or give the job another name"));
    kube_delete(story->cluster.client, &KUBE_PODS, "default", "mnist-worker-0", &options,
                sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(training_condition_is_true(story_status(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->pods_made, 2);
}

static void label_pod(struct story *story, const char *pod, const char *label, const char *value)
{
    struct json *patch = json_object(story->arena);

    kube_meta_set_label(story->arena, patch, label, value ? value : "");
    if (!value)
        json_set(story->arena, json_at(patch, "metadata", "labels", NULL), label,
                 json_null(story->arena));
    kube_patch(story->cluster.client, &KUBE_PODS, "default", pod, NULL, patch, sim_must_succeed,
               NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
}

static const struct kube_object *find_pod(struct story *story, const char *name)
{
    return kube_informer_get(story->pods, "default", name);
}

static int active_workers(const struct json *status)
{
    return (int)json_get_int(json_at(status, "replicaStatuses", "Worker", NULL), "active", 0);
}

/* Removes the pod's label by a direct write. The pod runs on without an owner. The job must not
 * count it as lost, and creates another pod once the name is free. */
static void relabel_and_check_release(struct story *story, const char *label, const char *value)
{
    struct kube_delete_options options = {.grace_period_seconds = 0};
    char uid[40];

    story_submit(story, ENDLESS);
    story_submit_as(story, "other", ENDLESS);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    str_copy(uid, sizeof(uid), find_pod(story, "mnist-worker-0")->uid);
    label_pod(story, "mnist-worker-0", label, value);
    const struct kube_object *pod = find_pod(story, "mnist-worker-0");
    assert_non_null(pod);
    assert_string_equal(pod->uid, uid);
    assert_null(kube_meta_controller(pod->json));
    assert_int_equal(story->pods_made, 6);
    assert_int_equal(active_workers(story_status(story)), 1);
    assert_int_equal(active_workers(json_get(
                         kube_informer_get(story->jobs, "default", "other")->json, "status")),
                     2);
    assert_true(training_condition_is_true(story_status(story), TRAINING_RUNNING));
    assert_true(
        story_has_event(story, "Normal", "SuccessfulReleasePod", "Released pod: mnist-worker-0"));
    assert_true(
        story_has_event(story, "Warning", "FailedCreatePod",
                        "Error creating: pod \"mnist-worker-0\" exists and does not belong to "
                        "this job; delete it, or give the job another name"));
    kube_delete(story->cluster.client, &KUBE_PODS, "default", "mnist-worker-0", &options,
                sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, 6 * MINUTE_MS);
    pod = find_pod(story, "mnist-worker-0");
    assert_non_null(pod);
    assert_true(kube_meta_is_controlled_by(pod->json, uid_of_job(story)));
    assert_int_equal(active_workers(story_status(story)), 2);
    assert_int_equal(story->pods_made, 7);
    assert_null(kube_meta_annotation(kube_informer_get(story->jobs, "default", "mnist")->json,
                                     "trainyard.dev/restarts"));
}

static void test_pod_with_the_label_of_another_job_is_released(void **state)
{
    relabel_and_check_release(*state, TRAINING_NAME_LABEL, "other");
}

static void test_pod_without_a_job_label_is_released(void **state)
{
    relabel_and_check_release(*state, TRAINING_NAME_LABEL, NULL);
}

static void test_pod_without_the_operator_label_is_released(void **state)
{
    relabel_and_check_release(*state, TRAINING_OPERATOR_LABEL, NULL);
}

/* The labels change while no operator runs. */
static void test_relabelled_pod_is_released_at_the_start(void **state)
{
    struct story *story = *state;

    story_submit(story, ENDLESS);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    story->controller = training_controller_free(story->controller);
    label_pod(story, "mnist-ps-0", TRAINING_NAME_LABEL, "other");
    assert_non_null(kube_meta_controller(find_pod(story, "mnist-ps-0")->json));
    story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                &TRAINING_TFJOB, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_null(kube_meta_controller(find_pod(story, "mnist-ps-0")->json));
    assert_int_equal(story->pods_made, 3);
}

/* A pod that gets its labels back belongs to the job again. */
static void test_pod_with_restored_labels_is_adopted(void **state)
{
    struct story *story = *state;

    story_submit(story, ENDLESS);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    label_pod(story, "mnist-worker-1", TRAINING_NAME_LABEL, NULL);
    assert_null(kube_meta_controller(find_pod(story, "mnist-worker-1")->json));
    label_pod(story, "mnist-worker-1", TRAINING_NAME_LABEL, "mnist");
    assert_job_owns_all_objects(story);
    assert_int_equal(active_workers(story_status(story)), 2);
    assert_int_equal(story->pods_made, 3);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_recreated_job_adopts_its_pods, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_adoption_under_faults, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_finished_pods_are_not_adopted, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_pod_with_the_label_of_another_job_is_released, setup,
                                        story_teardown),
        cmocka_unit_test_setup_teardown(test_pod_without_a_job_label_is_released, setup,
                                        story_teardown),
        cmocka_unit_test_setup_teardown(test_pod_without_the_operator_label_is_released, setup,
                                        story_teardown),
        cmocka_unit_test_setup_teardown(test_relabelled_pod_is_released_at_the_start, setup,
                                        story_teardown),
        cmocka_unit_test_setup_teardown(test_pod_with_restored_labels_is_adopted, setup,
                                        story_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
