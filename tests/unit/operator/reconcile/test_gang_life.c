/* Tests the lives of PodGroups: when pods wait for them, how they change with the job, and when
 * they are deleted. test_gang.c tests their requests. */
#include "job_fixture.h"

#include "operator/reconcile/conditions.h"
#include "operator/reconcile/restarts.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PLUGINS "scheduler-plugins-scheduler"

/* ---- Waiting --------------------------------------------------------------------------------- */

static void test_pods_wait_for_admission_by_volcano(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, "volcano", "Worker 2 OnFailure",
                      "{'activeDeadlineSeconds': 60, 'schedulingPolicy': {'queue': 'night'}}");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "+group mnist");
    fixture_apply(&fixture);

    /* Nothing is written while the group waits, however long, and the deadline does not count. */
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_string_equal(fixture_events(&fixture),
                        "Normal WaitingForPodGroup: no pod is created before volcano admits "
                        "PodGroup mnist to queue night; the PodGroup's phase is not set yet");
    assert_true(fixture.plan.events[0].once);
    assert_null(fixture.plan.status);
    fixture_set_phase(&fixture, "Pending");
    fixture.now_ms += 3600 * 1000;
    fixture_reconcile(&fixture);
    assert_true(fixture_has_event(&fixture, "the PodGroup's phase is Pending"));
    assert_null(fixture.plan.status);
    assert_int_equal(fixture.plan.requeue_ms, -1);
    assert_string_equal(fixture_conditions(&fixture), "Created");

    fixture_set_phase(&fixture, "Inqueue");
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 2);
    assert_string_equal(json_get_string(json_get(fixture.job, "status"), "startTime", ""),
                        "2026-11-15T03:00:00Z");

    /* A replica that restarts alone does not wait for a group that is no longer complete because of
     * it. */
    fixture_set_phase(&fixture, "Running");
    fixture_change(&fixture, "worker-0=Running worker-1=Failed(1)");
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    assert_int_equal(fixture.pod_count, 1);
    fixture_set_phase(&fixture, "Pending");
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 2);
    fixture_release(&fixture);
}

static void test_missing_pod_group_resource_is_reported(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, PLUGINS, "Worker 2", NULL);
    fixture.gang.missing = "the server does not know them";
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count + fixture.service_count, 0);
    assert_string_equal(fixture_events(&fixture),
                        "Warning PodGroupsMissing: the scheduler " PLUGINS
                        " must start the pods of this job together, but the server does not know "
                        "them; no pod is created until PodGroups are available");
    assert_true(fixture.plan.events[0].once);
    assert_true(fixture.plan.requeue_ms > 0);
    fixture.gang.missing = NULL;
    fixture_settle(&fixture);
    assert_non_null(fixture.group);
    assert_int_equal(fixture.pod_count, 2);
    fixture_release(&fixture);
}

static void test_pod_group_of_another_owner_is_reported(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, PLUGINS, "Worker 2", NULL);
    fixture.group = read_json(fixture.arena, "{'metadata': {'name': 'mnist', 'uid': 'other'}, "
                                             "'spec': {'minMember': 9}}");
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 0);
    assert_string_equal(fixture_events(&fixture),
                        "Warning FailedCreatePodGroup: Error creating: PodGroup \"mnist\" exists "
                        "and does not belong to this job; delete it, or give the job another name");
    /* The group is not deleted with the job's own objects either. */
    json_set_bool(fixture.arena,
                  json_ensure_object(fixture.arena, json_get(fixture.job, "spec"), "runPolicy"),
                  "suspend", true);
    fixture_settle(&fixture);
    assert_non_null(fixture.group);
    fixture_release(&fixture);
}

static void test_min_available_above_the_replicas_is_reported(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, PLUGINS, "Worker 1", "{'schedulingPolicy': {'minAvailable': 10}}");
    fixture_settle(&fixture);
    assert_string_equal(
        fixture_events(&fixture),
        "Warning MinAvailableTooLarge: "
        "spec.runPolicy.schedulingPolicy.minAvailable is 10, but the job's number of pods is 1: "
        "the job cannot start until minAvailable is lowered or replicas are added");
    json_set_int(fixture.arena, json_at(fixture.job, "spec", "runPolicy", "schedulingPolicy", NULL),
                 "minAvailable", 1);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "~group mnist");
    fixture_settle(&fixture);
    assert_string_equal(fixture_events(&fixture), "");
    fixture_release(&fixture);
}

/* ---- Changing -------------------------------------------------------------------------------- */

static void test_scaling_changes_min_member(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, PLUGINS, "Worker 2 OnFailure", NULL);
    fixture_settle(&fixture);
    fixture_set_replicas(&fixture, "Worker", 3);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture),
                        "~group mnist, +svc mnist-worker-2, +pod mnist-worker-2");
    fixture_settle(&fixture);
    assert_int_equal(json_get_int(json_get(fixture.group, "spec"), "minMember", 0), 3);
    fixture_release(&fixture);
}

/* A replica that has finished gets no new pod, so a replaced member must not wait for it. */
static void test_finished_members_reduce_min_member(void **state)
{
    static const struct {
        const char *run_policy;
        int min_member;
    } rows[] = {
        {NULL, 2},
        {"{'schedulingPolicy': {'minAvailable': 3}}", 2},
        {"{'schedulingPolicy': {'minAvailable': 1}}", 1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init_gang(&fixture, PLUGINS, "Worker 3 OnFailure", rows[i].run_policy);
        fixture_settle(&fixture);
        fixture_change(&fixture, "worker-0=Running worker-1=Running worker-2=Succeeded(0)");
        fixture_settle(&fixture);
        fixture.pod_count--; /* garbage collected */
        fixture_settle(&fixture);
        assert_int_equal(fixture.pod_count, 2);
        assert_int_equal(json_get_int(json_get(fixture.group, "spec"), "minMember", 0),
                         rows[i].min_member);
        fixture_release(&fixture);
    }
}

/* A replica in back-off does not delay another one that restarts. */
static void test_restart_does_not_wait_for_a_replica_in_backoff(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, PLUGINS, "Worker 3 ExitCode", NULL);
    fixture_settle(&fixture);
    kube_meta_set_annotation(
        fixture.arena, fixture.job, TRAINING_RESTARTS_ANNOTATION,
        "{\"worker-1\":{\"count\":9,\"uid\":\"x\",\"after\":\"2026-11-15T02:05:00Z\"}}");
    for (size_t i = 0; i < fixture.pod_count; i++) {
        if (str_eq(kube_meta_name(fixture.pods[i]), "mnist-worker-1"))
            fixture.pods[i] = fixture.pods[--fixture.pod_count];
    }
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "~group mnist");
    fixture_apply(&fixture);
    assert_int_equal(json_get_int(json_get(fixture.group, "spec"), "minMember", 0), 2);
    fixture.now_ms += 300 * 1000;
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "~group mnist, +pod mnist-worker-1");
    fixture_settle(&fixture);
    assert_int_equal(json_get_int(json_get(fixture.group, "spec"), "minMember", 0), 3);
    fixture_release(&fixture);
}

/* A dynamic worker that failed permanently does not fail its job, and gets no new pod. */
static void test_failed_dynamic_workers_reduce_min_member(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, PLUGINS, "Chief 1 OnFailure, Worker 1 Never", NULL);
    json_set_bool(fixture.arena, json_get(fixture.job, "spec"), "enableDynamicWorker", true);
    fixture_settle(&fixture);
    assert_int_equal(json_get_int(json_get(fixture.group, "spec"), "minMember", 0), 2);
    fixture_change(&fixture, "chief-0=Running worker-0=Failed(1)");
    fixture_settle(&fixture);
    assert_int_equal(json_get_int(json_get(fixture.group, "spec"), "minMember", 0), 1);
    fixture_release(&fixture);
}

/* ---- Deleting -------------------------------------------------------------------------------- */

static void test_pod_group_is_deleted_when_the_job_ends(void **state)
{
    static const struct {
        const char *run_policy, *pods;
        int later_s;
    } rows[] = {
        {"{}", "worker-0=Succeeded(0)", 0},
        {"{'cleanPodPolicy': 'All'}", "worker-0=Failed(1)", 0},
        {"{'activeDeadlineSeconds': 60}", "worker-0=Running", 61},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init_gang(&fixture, PLUGINS, "Worker 1", rows[i].run_policy);
        fixture_settle(&fixture);
        fixture_change(&fixture, rows[i].pods);
        fixture.now_ms += (int64_t)rows[i].later_s * 1000;
        fixture_reconcile(&fixture);
        assert_non_null(fixture.group);
        fixture_apply(&fixture);
        fixture_reconcile(&fixture);
        assert_non_null(strstr(fixture_actions(&fixture), "-group mnist"));
        assert_true(fixture_has_event(
            &fixture, "Normal JobTerminated: Job has been terminated. Deleting PodGroup"));
        fixture_settle(&fixture);
        assert_null(fixture.group);
        assert_string_equal(fixture_events(&fixture), "");
        fixture_release(&fixture);
    }
}

static void test_suspension_deletes_the_pod_group(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, "volcano", "Worker 1", "{}");
    struct json *policy = json_at(fixture.job, "spec", "runPolicy", NULL);
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    fixture_set_phase(&fixture, "Running");
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Running");
    fixture_settle(&fixture);
    assert_string_equal(fixture_counts(&fixture), "Worker 1/0/0");

    /* The job is active as long as its pod runs, even while the pod is being deleted. */
    json_set_bool(fixture.arena, policy, "suspend", true);
    struct json *pod = fixture.pods[0];
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture),
                        "-pod mnist-worker-0, -svc mnist-worker-0, -group mnist");
    fixture_apply(&fixture);
    fixture.pods[fixture.pod_count++] = pod;
    fixture_change(&fixture, "worker-0=Running!");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_counts(&fixture), "Worker 1/0/0");
    assert_string_equal(fixture_conditions(&fixture), "Created Running=False Suspended");
    fixture.pod_count = 0;
    fixture_settle(&fixture);
    assert_string_equal(fixture_counts(&fixture), "Worker 0/0/0");

    /* The job is queued again and has not started. */
    json_set_bool(fixture.arena, policy, "suspend", false);
    fixture_settle(&fixture);
    assert_non_null(fixture.group);
    assert_int_equal(fixture.pod_count, 0);
    assert_null(json_get(json_get(fixture.job, "status"), "startTime"));
    fixture_set_phase(&fixture, "Inqueue");
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 1);
    assert_non_null(json_get(json_get(fixture.job, "status"), "startTime"));
    fixture_release(&fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pods_wait_for_admission_by_volcano),
        cmocka_unit_test(test_missing_pod_group_resource_is_reported),
        cmocka_unit_test(test_pod_group_of_another_owner_is_reported),
        cmocka_unit_test(test_min_available_above_the_replicas_is_reported),
        cmocka_unit_test(test_scaling_changes_min_member),
        cmocka_unit_test(test_finished_members_reduce_min_member),
        cmocka_unit_test(test_restart_does_not_wait_for_a_replica_in_backoff),
        cmocka_unit_test(test_failed_dynamic_workers_reduce_min_member),
        cmocka_unit_test(test_pod_group_is_deleted_when_the_job_ends),
        cmocka_unit_test(test_suspension_deletes_the_pod_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
