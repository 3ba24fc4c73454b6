/* Tests adopting objects with the job's labels and no controller, and releasing objects with other
 * labels. */
#include "job_fixture.h"
#include "read_json.h"

#include "operator/kind/training_job.h"
#include "operator/reconcile/conditions.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_orphans_with_matching_labels_are_adopted(void **state)
{
    static const struct {
        const char *pods, *actions;
    } rows[] = {
        /* A pod of the job, and a pod of another owner. */
        {"worker-0=Running worker-1=Running", ""},
        {"worker-0=Running worker-1=Running?", ""},
        /* An orphan with its service. */
        {"worker-0=Running worker-1=Running~",
         "adopt pod mnist-worker-1, adopt svc mnist-worker-1"},
        {"worker-0=Running worker-1=Pending~",
         "adopt pod mnist-worker-1, adopt svc mnist-worker-1"},
        /* An orphan that is being deleted is waited for, like any other pod. */
        {"worker-0=Running worker-1=Running~!", "adopt svc mnist-worker-1"},
        /* No pod is created while an orphan is adopted. */
        {"worker-0=Running~", "adopt pod mnist-worker-0, adopt svc mnist-worker-0"},
        /* An orphan beyond the number of replicas is adopted, to be deleted. */
        {"worker-0=Running worker-1=Running worker-7=Running~",
         "adopt pod mnist-worker-7, adopt svc mnist-worker-7"},
        /* An orphan that has ended is adopted first, but only if another pod lives. */
        {"worker-0=Running~ worker-1=Succeeded(0)~",
         "adopt pod mnist-worker-1, adopt svc mnist-worker-0, adopt svc mnist-worker-1"},
        {"worker-0=Failed(1)~ worker-1=Succeeded(0)~",
         "adopt svc mnist-worker-0, adopt svc mnist-worker-1"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 2 Always", NULL);
        fixture_pods(&fixture, rows[i].pods);
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), rows[i].actions);
        fixture_release(&fixture);
    }
}

/* From the first pass until nothing changes, the job uses the pods as if it had created them. */
static void test_recreated_job_adopts_its_pods(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture,
                 "{'successPolicy': 'AllWorkers', 'tfReplicaSpecs': {'Worker': "
                 "{'replicas': 3, 'template': {'spec': {'containers': [{'name': "
                 "'tensorflow', 'image': 'tf'}]}}}}}",
                 NULL);
    fixture_pods(&fixture, "worker-0=Running~ worker-1=Succeeded(0)~ worker-2=Running~");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running");
    assert_string_equal(fixture_counts(&fixture), "Worker 2/1/0");
    assert_int_equal(fixture.pod_count, 3);
    for (size_t i = 0; i < fixture.pod_count; i++) {
        const struct json *owner = kube_meta_controller(fixture.pods[i]);

        assert_true(kube_meta_is_controlled_by(fixture.pods[i], "job-uid"));
        assert_true(json_get_bool(owner, "blockOwnerDeletion", false));
        assert_true(kube_meta_is_controlled_by(fixture.services[i], "job-uid"));
    }
    assert_null(strstr(fixture_events(&fixture), "FailedCreate"));
    fixture_release(&fixture);
}

/* The success of an earlier job's pods does not count. The job waits, and an event says for
 * what. */
static void test_finished_orphans_are_not_adopted(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Succeeded(0)~");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created");
    assert_non_null(strstr(fixture_events(&fixture),
                           "Warning FailedCreatePod: Error creating: pod \"mnist-worker-0\" exists "
                           "and does not belong to this job; delete it, or give the job another "
                           "name"));
    fixture.pod_count = 0;
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "+pod mnist-worker-0");
    fixture_release(&fixture);
}

/* Other owners, and labels and names that do not match. */
static void test_other_objects_are_not_adopted(void **state)
{
    static const struct {
        const char *label, *value, *name;
    } rows[] = {
        {TRAINING_OPERATOR_LABEL, "somebody", NULL}, {TRAINING_NAME_LABEL, "other", NULL},
        {TRAINING_TYPE_LABEL, "ps", NULL},           {TRAINING_INDEX_LABEL, "1", NULL},
        {TRAINING_INDEX_LABEL, "x", NULL},           {NULL, NULL, "mine"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 2, PS 1", NULL);
        fixture_pods(&fixture, "worker-0=Running~ worker-1=Running ps-0=Running");
        json_remove(json_get(fixture.services[0], "metadata"), "labels");
        if (rows[i].label)
            kube_meta_set_label(fixture.arena, fixture.pods[0], rows[i].label, rows[i].value);
        else
            kube_meta_set_name(fixture.arena, fixture.pods[0], rows[i].name);
        fixture_reconcile(&fixture);
        assert_null(strstr(fixture_actions(&fixture), "adopt"));
        assert_null(strstr(fixture_actions(&fixture), "-pod"));
        assert_string_equal(fixture_counts(&fixture), "Worker 1/0/0 PS 1/0/0");
        fixture_release(&fixture);
    }
}

static void test_inactive_jobs_adopt_no_pods(void **state)
{
    static const struct {
        const char *metadata, *run_policy, *status;
    } rows[] = {
        {"deletionTimestamp", NULL, NULL},
        {NULL, "{'suspend': true}", NULL},
        {NULL, NULL, "{'conditions': [{'type': 'Succeeded', 'status': 'True'}]}"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 1", rows[i].run_policy);
        if (rows[i].metadata)
            json_set_string(fixture.arena, json_get(fixture.job, "metadata"), rows[i].metadata,
                            "2026-11-15T02:00:00Z");
        if (rows[i].status)
            json_set(fixture.arena, fixture.job, "status",
                     read_json(fixture.arena, rows[i].status));
        fixture_pods(&fixture, "worker-0=Running~");
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), "");
        fixture_release(&fixture);
    }
}

static void test_orphaned_pod_group_is_adopted(void **state)
{
    struct job_fixture fixture;

    for (int owned = 0; owned < 2; owned++) {
        struct json *metadata;

        fixture_init(&fixture, "Worker 1", NULL);
        training_gang_init(&fixture.gang, "scheduler-plugins-scheduler");
        fixture_settle(&fixture);
        metadata = json_get(fixture.group, "metadata");
        if (owned)
            json_set_string(fixture.arena, json_element(json_get(metadata, "ownerReferences"), 0),
                            "uid", "another-uid");
        else
            json_remove(metadata, "ownerReferences");
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), owned ? "" : "adopt group mnist");
        fixture_apply(&fixture);
        assert_int_equal(kube_meta_is_controlled_by(fixture.group, "job-uid"), !owned);
        fixture_release(&fixture);
    }
}

static void unmatch_first_pod(struct job_fixture *fixture, const char *job)
{
    struct json *pod = fixture->pods[0];

    memmove(fixture->pods, fixture->pods + 1, --fixture->pod_count * sizeof(fixture->pods[0]));
    kube_meta_set_label(fixture->arena, pod, TRAINING_NAME_LABEL, job);
    fixture->unmatched[fixture->unmatched_count++] = pod;
}

/* A pod that lost its label is released. It does not count as lost, and is replaced when its name
 * is free. */
static void test_pod_without_matching_labels_is_released(void **state)
{
    static const char *const policies[] = {"Never", "Always", "ExitCode"};

    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 2", NULL);
        json_set_string(fixture.arena,
                        json_at(fixture.job, "spec", "tfReplicaSpecs", "Worker", NULL),
                        "restartPolicy", policies[i]);
        fixture_pods(&fixture, "worker-0=Running worker-1=Running");
        fixture_settle(&fixture);
        unmatch_first_pod(&fixture, i == 0 ? NULL : "other");
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), "release pod mnist-worker-0");
        assert_string_equal(fixture_conditions(&fixture), "Created Running");
        assert_string_equal(fixture_counts(&fixture), "Worker 1/0/0");
        assert_string_equal(fixture_events(&fixture), "");
        fixture_apply(&fixture);
        assert_null(kube_meta_controller(fixture.unmatched[0]));
        fixture.unmatched_count = 0;
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), "+pod mnist-worker-0");
        fixture_release(&fixture);
    }
}

/* The pod keeps its other owners. */
static void test_release_keeps_other_owners(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Running");
    json_append(json_get(json_get(fixture.pods[0], "metadata"), "ownerReferences"),
                read_json(fixture.arena, "{'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': 'x', "
                                         "'uid': 'x-uid'}"));
    unmatch_first_pod(&fixture, "other");
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    assert_true(kube_meta_is_owned_by(fixture.unmatched[0], "x-uid"));
    assert_false(kube_meta_is_owned_by(fixture.unmatched[0], "job-uid"));
    fixture_release(&fixture);
}

static void test_other_pods_are_not_released(void **state)
{
    struct job_fixture fixture;

    /* A pod of an earlier job with the same name. */
    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Running?");
    unmatch_first_pod(&fixture, "other");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "+pod mnist-worker-0");
    fixture_release(&fixture);

    /* A pod that is being deleted. */
    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Running!");
    unmatch_first_pod(&fixture, "other");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    fixture_release(&fixture);

    /* A pod of a job that is being deleted. */
    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Running");
    unmatch_first_pod(&fixture, "other");
    json_set_string(fixture.arena, json_get(fixture.job, "metadata"), "deletionTimestamp",
                    "2026-11-15T02:00:00Z");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    fixture_release(&fixture);
}

/* A pod with this job's labels and another controller is neither counted nor touched. */
static void test_pod_of_another_job_is_not_counted(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2", NULL);
    fixture_pods(&fixture, "worker-0=Running worker-1=Running?");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_string_equal(fixture_counts(&fixture), "Worker 1/0/0");
    fixture_release(&fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orphans_with_matching_labels_are_adopted),
        cmocka_unit_test(test_recreated_job_adopts_its_pods),
        cmocka_unit_test(test_finished_orphans_are_not_adopted),
        cmocka_unit_test(test_other_objects_are_not_adopted),
        cmocka_unit_test(test_inactive_jobs_adopt_no_pods),
        cmocka_unit_test(test_orphaned_pod_group_is_adopted),
        cmocka_unit_test(test_pod_without_matching_labels_is_released),
        cmocka_unit_test(test_release_keeps_other_owners),
        cmocka_unit_test(test_other_pods_are_not_released),
        cmocka_unit_test(test_pod_of_another_job_is_not_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
