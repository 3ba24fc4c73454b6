/* Tests that the counts of restarts survive a pass that breaks off, scaling, a suspension, and
 * edited labels. */
#include "job_fixture.h"

#include "operator/reconcile/conditions.h"
#include "operator/reconcile/restarts.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *recorded_restarts(const struct job_fixture *fixture)
{
    const char *text = kube_meta_annotation(fixture->job, TRAINING_RESTARTS_ANNOTATION);

    return text ? text : "";
}

static void set_recorded_restarts(struct job_fixture *fixture, const char *text)
{
    kube_meta_set_annotation(fixture->arena, fixture->job, TRAINING_RESTARTS_ANNOTATION, text);
}

/* Applies the plan except its status, as if the status write had a conflict. */
static void apply_without_status(struct job_fixture *fixture)
{
    size_t gone_count = fixture->gone_count;

    fixture->plan.status = NULL;
    fixture_apply(fixture);
    fixture->gone_count = gone_count;
}

static void set_job_restart_scope(struct job_fixture *fixture)
{
    kube_meta_set_annotation(fixture->arena, fixture->job, "trainyard.dev/restart-scope", "job");
}

/* An old pod vanishes at the moment when the job is resumed, however it ended. */
static void test_resume_while_the_last_pod_disappears(void **state)
{
    static const char *const specs[] = {"Worker 1", "Worker 1 OnFailure", "Worker 1 ExitCode"};
    static const char *const ends[] = {"worker-0=Running!", "worker-0=Succeeded(0)!",
                                       "worker-0=Failed(1)!"};

    for (size_t i = 0; i < ARRAY_SIZE(specs) * ARRAY_SIZE(ends); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, specs[i / ARRAY_SIZE(ends)], NULL);
        fixture_settle(&fixture);
        fixture_change(&fixture, "worker-0=Running");
        fixture_settle(&fixture);
        fixture_set_suspend(&fixture, true);
        fixture_settle(&fixture);
        fixture_set_suspend(&fixture, false);
        fixture_gone_pods(&fixture, ends[i % ARRAY_SIZE(ends)]);
        fixture_settle(&fixture);
        assert_string_equal(fixture_conditions(&fixture), "Created Running=False Suspended=False");
        assert_int_equal(fixture.pod_count, 1);
        assert_string_equal(recorded_restarts(&fixture), "");
        fixture_release(&fixture);
    }
}

/* The job is resumed before the status of the suspension was written. Pods that we deleted still
 * count as no failure, and the job starts again as a whole. */
static void test_resume_before_the_suspension_is_in_the_status(void **state)
{
    static const char *const specs[] = {"Worker 2", "Worker 2 OnFailure", "Worker 2 ExitCode"};

    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, specs[i], "{'backoffLimit': 0}");
        fixture_settle(&fixture);
        fixture_change(&fixture, "worker-0=Running worker-1=Running");
        fixture_settle(&fixture);
        fixture_set_suspend(&fixture, true);
        fixture.gone[0] = json_clone(fixture.arena, fixture.pods[0]);
        fixture.gone[1] = json_clone(fixture.arena, fixture.pods[1]);
        fixture_reconcile(&fixture);
        apply_without_status(&fixture);
        fixture_set_suspend(&fixture, false);
        fixture.gone_count = 2;
        fixture_settle(&fixture);
        assert_string_equal(fixture_conditions(&fixture), "Created Running");
        assert_int_equal(fixture.pod_count, 2);
        assert_string_equal(recorded_restarts(&fixture),
                            ""); /* the pods are gone and no longer recorded */
        fixture_release(&fixture);
    }
}

/* Two of three pods vanish at once. That is one restart, even if the status could not be
 * written. */
static void test_pods_lost_together_are_one_restart(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 3 OnFailure", "{'backoffLimit': 1}");
    set_job_restart_scope(&fixture);
    fixture_pods(&fixture, "worker-0=Running");
    fixture_gone_pods(&fixture, "worker-1=Running worker-2=Running");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting");
    apply_without_status(&fixture);
    fixture_reconcile(&fixture);
    assert_null(strstr(fixture_conditions(&fixture), "Failed"));
    fixture_apply(&fixture);
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 3);
    fixture_release(&fixture);
}

/* A replica that has finished and vanished restarts together with the others. */
static void test_deleted_succeeded_replica_restarts_with_the_job(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Chief 1 OnFailure, Worker 2 OnFailure", NULL);
    set_job_restart_scope(&fixture);
    fixture_pods(&fixture, "chief-0=Running worker-0=Failed(1)");
    fixture_gone_pods(&fixture, "worker-1=Succeeded(0)");
    fixture_reconcile(&fixture);
    apply_without_status(&fixture);
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 3);
    assert_null(kube_meta_annotation(fixture.job, TRAINING_FINISHED_ANNOTATION));
    fixture_release(&fixture);
}

/* The restart was counted, but its status write failed. The next pass writes the status. */
static void test_restarting_condition_is_written_after_a_conflict(void **state)
{
    static const char RESTARTING[] =
        "Warning TFJobRestarting: job mnist is restarting because Worker replica(s) failed.";
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 OnFailure", NULL);
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Running worker-1=Running");
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Failed(1)");
    struct json *leaving = json_clone(fixture.arena, fixture.pods[0]);
    fixture_reconcile(&fixture);
    apply_without_status(&fixture);
    fixture.pods[fixture.pod_count++] = leaving;
    fixture_change(&fixture, "worker-0=Failed(1)!");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting");
    assert_string_equal(fixture_events(&fixture), RESTARTING);
    fixture_apply(&fixture);
    /* The next pass does not repeat the event. */
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_events(&fixture), "");
    fixture_release(&fixture);
}

/* The restarts of a replica still count after it is scaled away and back. */
static void test_scaling_does_not_reset_restarts(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 ExitCode", "{'backoffLimit': 2}");
    set_recorded_restarts(&fixture, "{\"worker-1\":{\"count\":2,\"uid\":\"x\"}}");
    fixture_settle(&fixture);
    fixture_set_replicas(&fixture, "Worker", 1);
    fixture_settle(&fixture);
    assert_string_equal(recorded_restarts(&fixture), "{\"past\":{\"count\":2}}");
    fixture_set_replicas(&fixture, "Worker", 2);
    fixture_settle(&fixture);
    assert_string_equal(recorded_restarts(&fixture), "{\"past\":{\"count\":2}}");
    fixture_change(&fixture, "worker-0=Running worker-1=Failed(137)");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Failed");
    fixture_release(&fixture);
}

/* Restarts in place are lost with a deleted pod, so they are counted before, and once. */
static void test_restarts_in_place_are_kept_after_a_suspension(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 OnFailure", "{'backoffLimit': 3}");
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Running*2 worker-1=Running");
    fixture_settle(&fixture);
    fixture_set_suspend(&fixture, true);
    struct json *leaving = json_clone(fixture.arena, fixture.pods[0]);
    fixture_settle(&fixture);
    fixture.pods[fixture.pod_count++] = leaving;
    fixture_change(&fixture, "worker-0=Running*2!");
    fixture_settle(&fixture);
    assert_non_null(strstr(recorded_restarts(&fixture), "{\"worker-0\":{\"count\":2,"));
    fixture.pod_count = 0;
    fixture_set_suspend(&fixture, false);
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Running*1 worker-1=Running");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_message(&fixture, TRAINING_FAILED),
                        "Job mnist has failed because it has reached the specified backoff limit");
    fixture_release(&fixture);
}

static void test_restarts_in_place_count_for_all_deleted_pods(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1 OnFailure, PS 1 Always", NULL);
    set_job_restart_scope(&fixture);
    fixture_pods(&fixture, "worker-0=Failed(1) ps-0=Running*2");
    fixture_settle(&fixture);
    assert_non_null(strstr(recorded_restarts(&fixture), "\"ps-0\":{\"count\":2,"));
    assert_non_null(strstr(recorded_restarts(&fixture), "\"worker-0\":{\"count\":1,"));
    fixture_release(&fixture);
}

/* The restarts in place of a failing pod count together with its failure, not after it. */
static void test_backoff_limit_includes_restarts_of_the_failed_pod(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 OnFailure", "{'backoffLimit': 3}");
    fixture_pods(&fixture, "worker-0=Running*2! worker-1=Running!");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Failed");
    fixture_release(&fixture);
}

/* A user gives a pod the index of another replica. The pod must not change the count of that
 * replica. */
static void test_wrong_index_label_changes_no_count(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 OnFailure", NULL);
    set_recorded_restarts(&fixture, "{\"worker-1\":{\"count\":2,\"uid\":\"x\"}}");
    fixture_pods(&fixture, "worker-0=Running worker-1=Running");
    kube_meta_set_label(fixture.arena, fixture.pods[0], TRAINING_INDEX_LABEL, "1");
    fixture_reconcile(&fixture);
    assert_null(fixture.plan.annotations);
    fixture_release(&fixture);
}

/* Thousands of deleted pods fit into the API's limit for all annotations. */
static void test_annotation_has_room_for_thousands_of_pods(void **state)
{
    enum { PODS = 9999, ANNOTATIONS_MAX = 256 * 1024 };
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1 OnFailure", NULL);
    fixture_pods(&fixture, "worker-0=Running");
    struct json **pods = ARENA_ARRAY(fixture.arena, struct json *, PODS);
    for (int i = 0; i < PODS; i++) {
        char *name = arena_printf(fixture.arena, "mnist-worker-%d", i + 1);

        pods[i] = json_clone(fixture.arena, fixture.pods[0]);
        json_set_string(fixture.arena, json_get(pods[i], "metadata"), "name", name);
        json_set_string(fixture.arena, json_get(pods[i], "metadata"), "uid",
                        "01234567-89ab-cdef-0123-456789abcdef");
        kube_meta_set_label(fixture.arena, pods[i], TRAINING_INDEX_LABEL,
                            arena_printf(fixture.arena, "%d", i + 1));
    }
    struct training_observed observed =
        (struct training_observed){.kind = fixture.kind,
                                   .job = fixture.job,
                                   .pods = (const struct json *const *)pods,
                                   .pod_count = PODS,
                                   .now_ms = fixture.now_ms};
    assert_int_equal(training_reconcile(&observed, fixture.arena, &fixture.plan, NULL), 0);
    const char *text = json_get_string(fixture.plan.annotations, TRAINING_RESTARTS_ANNOTATION, "");
    assert_non_null(strstr(text, "\"worker-9999\":\"01234567\""));
    assert_true(strlen(text) < ANNOTATIONS_MAX - 8 * 1024); /* there are other annotations */
    fixture_release(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume_while_the_last_pod_disappears),
        cmocka_unit_test(test_resume_before_the_suspension_is_in_the_status),
        cmocka_unit_test(test_pods_lost_together_are_one_restart),
        cmocka_unit_test(test_deleted_succeeded_replica_restarts_with_the_job),
        cmocka_unit_test(test_restarting_condition_is_written_after_a_conflict),
        cmocka_unit_test(test_scaling_does_not_reset_restarts),
        cmocka_unit_test(test_restarts_in_place_are_kept_after_a_suspension),
        cmocka_unit_test(test_restarts_in_place_count_for_all_deleted_pods),
        cmocka_unit_test(test_backoff_limit_includes_restarts_of_the_failed_pod),
        cmocka_unit_test(test_wrong_index_label_changes_no_count),
        cmocka_unit_test(test_annotation_has_room_for_thousands_of_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
