/* Tests a job that has ended, is suspended or has a time limit. */
#include "job_fixture.h"

#include "operator/reconcile/conditions.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct row {
    const char *rule;
    const char *run_policy;
    const char *pods;
    const char *actions; /* of the first pass after the job has ended */
    const char *counts;
};

/* Worker 2, PS 1 */
static const struct row ROWS[] = {
    {"None: nothing is deleted", "{}", "worker-0=Succeeded(0) worker-1=Running ps-0=Running", "",
     "Worker 0/2/0 PS 0/1/0"},
    {"Running: what runs or waits goes, with its service", "{'cleanPodPolicy': 'Running'}",
     "worker-0=Succeeded(0) worker-1=Pending ps-0=Running",
     "-pod mnist-worker-1, -pod mnist-ps-0, -svc mnist-worker-1, -svc mnist-ps-0",
     "Worker 0/1/0 PS 0/1/0"},
    {"All: everything goes", "{'cleanPodPolicy': 'All'}",
     "worker-0=Succeeded(0) worker-1=Running ps-0=Running",
     "-pod mnist-worker-0, -pod mnist-worker-1, -pod mnist-ps-0, -svc mnist-worker-0, "
     "-svc mnist-worker-1, -svc mnist-ps-0",
     "Worker 0/2/0 PS 0/1/0"},
    {"what is being deleted is not deleted again", "{'cleanPodPolicy': 'All'}",
     "worker-0=Succeeded(0)! worker-1=Succeeded(0)! ps-0=Running!",
     "-svc mnist-worker-0, -svc mnist-worker-1, -svc mnist-ps-0", "Worker 0/2/0 PS 0/0/1"},
    {"pods of others are left alone", "{'cleanPodPolicy': 'All'}",
     "worker-0=Succeeded(0) worker-1=Running? ps-0=Running",
     "-pod mnist-worker-0, -pod mnist-ps-0, -svc mnist-worker-0, -svc mnist-worker-1, "
     "-svc mnist-ps-0",
     "Worker 0/1/0 PS 0/1/0"},
    {"failed, None: survivors run on and are counted", "{}",
     "worker-0=Failed(1) worker-1=Running ps-0=Running", "", "Worker 1/0/1 PS 1/0/0"},
    {"failed, Running: survivors go", "{'cleanPodPolicy': 'Running'}",
     "worker-0=Failed(1) worker-1=Running ps-0=Running",
     "-pod mnist-worker-1, -pod mnist-ps-0, -svc mnist-worker-1, -svc mnist-ps-0",
     "Worker 1/0/1 PS 1/0/0"},
};

static void test_row(void **state)
{
    const struct row *row = *state;
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2, PS 1 Always", row->run_policy);
    fixture_pods(&fixture, row->pods);
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    assert_true(training_is_finished(json_get(fixture.job, "status")));
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), row->actions);
    assert_string_equal(fixture_counts(&fixture), row->counts);
    fixture_settle(&fixture);
    fixture_release(&fixture);
}

static void test_counts_of_a_failed_job_follow_its_pods(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2", "{'cleanPodPolicy': 'Running'}");
    fixture_pods(&fixture, "worker-0=Failed(1) worker-1=Running");
    fixture_settle(&fixture);
    assert_string_equal(fixture_counts(&fixture), "Worker 0/0/1");
    assert_int_equal(fixture.pod_count, 1);
    fixture_release(&fixture);
}

/* The deadline comes although no event wakes the job, because the plan asks for a requeue. */
static void test_deadline_of_an_idle_job(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", "{'activeDeadlineSeconds': 2}");
    fixture_pods(&fixture, "worker-0=Running");
    fixture_reconcile(&fixture);
    assert_int_equal(fixture.plan.requeue_ms, 2000);
    fixture_apply(&fixture);
    fixture.now_ms += 500;
    fixture_reconcile(&fixture);
    assert_int_equal(fixture.plan.requeue_ms, 1500);
    assert_null(fixture.plan.status);

    fixture.now_ms += 1500;
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running=False Failed");
    assert_string_equal(
        fixture_message(&fixture, TRAINING_FAILED),
        "Job mnist has failed because it was active longer than specified deadline");
    assert_string_equal(fixture_events(&fixture),
                        "Warning TFJobFailed: Job mnist has failed because it was active longer "
                        "than specified deadline");
    fixture_release(&fixture);
}

static void test_limits_delete_running_pods_under_policy_none(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 3", "{'activeDeadlineSeconds': 0, 'cleanPodPolicy': 'None'}");
    fixture_pods(&fixture, "worker-0=Running worker-1=Succeeded(0) worker-2=Pending");
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    fixture_reconcile(&fixture);
    assert_string_equal(
        fixture_actions(&fixture),
        "-pod mnist-worker-0, -pod mnist-worker-2, -svc mnist-worker-0, -svc mnist-worker-2");
    fixture_release(&fixture);

    fixture_init(&fixture, "Worker 2 OnFailure", "{'backoffLimit': 0}");
    fixture_pods(&fixture, "worker-0=Running worker-1=Failed(1)");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Failed");
    assert_int_equal(fixture.pod_count, 1);
    assert_string_equal(kube_meta_name(fixture.pods[0]), "mnist-worker-1");
    fixture_release(&fixture);
}

static void test_ttl_deletes_the_job(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", "{'ttlSecondsAfterFinished': 3}");
    fixture_pods(&fixture, "worker-0=Succeeded(0)");
    fixture_settle(&fixture);
    assert_int_equal(fixture.plan.requeue_ms, 3000);
    assert_string_equal(fixture_actions(&fixture), "");
    fixture.now_ms += 2999;
    fixture_reconcile(&fixture);
    assert_int_equal(fixture.plan.requeue_ms, 1);
    fixture.now_ms += 1;
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "-job mnist");
    assert_string_equal(fixture.plan.actions[0].uid, "job-uid");
    fixture_release(&fixture);
}

/* A number of seconds that overflows in milliseconds, in a job that failed because of it. */
static void test_overflowing_ttl_fails_and_keeps_the_job(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", "{'ttlSecondsAfterFinished': 9223372036854775807}");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Failed");
    fixture_apply(&fixture);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    fixture_release(&fixture);
}

static void test_ttl_zero_deletes_at_once(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", "{'ttlSecondsAfterFinished': 0}");
    fixture_pods(&fixture, "worker-0=Failed(1)");
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "-job mnist");
    fixture_release(&fixture);
}

static void test_no_ttl_keeps_the_job(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Succeeded(0)");
    fixture_settle(&fixture);
    assert_int_equal(fixture.plan.requeue_ms, -1);
    fixture_release(&fixture);
}

static void test_job_created_suspended_has_no_pods(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2", "{'suspend': true}");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_string_equal(fixture_conditions(&fixture), "Created Suspended");
    assert_string_equal(fixture_message(&fixture, TRAINING_SUSPENDED), "TFJob mnist is suspended.");
    assert_string_equal(fixture_events(&fixture),
                        "Normal TFJobSuspended: TFJob mnist is suspended.");
    assert_null(json_get(fixture.plan.status, "startTime"));
    assert_non_null(json_get(fixture.plan.status, "replicaStatuses"));
    fixture_apply(&fixture);
    fixture_reconcile(&fixture);
    assert_int_equal(fixture.plan.event_count, 0);
    assert_null(fixture.plan.status);
    fixture_release(&fixture);
}

static void test_suspend_and_resume(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2", "{'activeDeadlineSeconds': 60}");
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Running worker-1=Running");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running");

    fixture_set_suspend(&fixture, true);
    struct json *leaving = json_clone(fixture.arena, fixture.pods[0]);
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count + fixture.service_count, 0);
    assert_string_equal(fixture_conditions(&fixture), "Created Running=False Suspended");
    assert_string_equal(fixture_counts(&fixture), "Worker 0/0/0");
    assert_int_equal(fixture.plan.requeue_ms, -1); /* the deadline does not count while suspended */

    /* The job is resumed while an old pod is still ending. The pod is waited for and is no
     * failure. */
    fixture_set_suspend(&fixture, false);
    fixture.now_ms += 3600 * 1000;
    fixture.pods[fixture.pod_count++] = leaving;
    fixture_change(&fixture, "worker-0=Running!");
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 1);
    fixture.pod_count = 0;
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 2);
    assert_string_equal(fixture_conditions(&fixture), "Created Running=False Suspended=False");
    assert_string_equal(json_get_string(json_get(fixture.job, "status"), "startTime", ""),
                        "2026-11-15T03:00:00Z");
    fixture_change(&fixture, "worker-0=Running worker-1=Running");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Suspended=False Running");
    fixture_release(&fixture);
}

int main(void)
{
    static const struct CMUnitTest more[] = {
        cmocka_unit_test(test_counts_of_a_failed_job_follow_its_pods),
        cmocka_unit_test(test_deadline_of_an_idle_job),
        cmocka_unit_test(test_limits_delete_running_pods_under_policy_none),
        cmocka_unit_test(test_ttl_deletes_the_job),
        cmocka_unit_test(test_overflowing_ttl_fails_and_keeps_the_job),
        cmocka_unit_test(test_ttl_zero_deletes_at_once),
        cmocka_unit_test(test_no_ttl_keeps_the_job),
        cmocka_unit_test(test_job_created_suspended_has_no_pods),
        cmocka_unit_test(test_suspend_and_resume),
    };
    struct CMUnitTest tests[ARRAY_SIZE(ROWS) + ARRAY_SIZE(more)];

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++)
        tests[i] = (struct CMUnitTest){
            .name = ROWS[i].rule, .test_func = test_row, .initial_state = (void *)&ROWS[i]};
    for (size_t i = 0; i < ARRAY_SIZE(more); i++)
        tests[ARRAY_SIZE(ROWS) + i] = more[i];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
