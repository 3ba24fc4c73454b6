/* Tests restart policies, the limits on restarts, and the restarts that are recorded on the job. */
#include "job_fixture.h"

#include "operator/reconcile/conditions.h"
#include "operator/reconcile/restarts.h"

#include "base/mem.h"
#include "base/moment.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct row {
    const char *rule;
    const char *spec, *run_policy;
    const char *pods, *gone;
    const char *actions, *conditions;
};

#define RESTARTED "-pod mnist-worker-1"
#define REPLACED  "+pod mnist-worker-1"

static const struct row ROWS[] = {
    {"Never: a failed replica fails the job", "Worker 2", NULL,
     "worker-0=Running worker-1=Failed(137)", "", "", "Created Failed"},
    {"OnFailure: a failed pod is deleted, to be made again", "Worker 2 OnFailure", NULL,
     "worker-0=Running worker-1=Failed(1)", "", RESTARTED, "Created Restarting"},
    {"Always: a failed pod is deleted, to be made again", "Worker 2 Always", NULL,
     "worker-0=Running worker-1=Failed(1)", "", RESTARTED, "Created Restarting"},
    {"ExitCode 130: restarted", "Worker 2 ExitCode", NULL, "worker-0=Running worker-1=Failed(130)",
     "", RESTARTED, "Created Restarting"},
    {"ExitCode 128: restarted", "Worker 2 ExitCode", NULL, "worker-0=Running worker-1=Failed(128)",
     "", RESTARTED, "Created Restarting"},
    {"ExitCode 139: restarted", "Worker 2 ExitCode", NULL, "worker-0=Running worker-1=Failed(139)",
     "", RESTARTED, "Created Restarting"},
    {"ExitCode 127: failed for good", "Worker 2 ExitCode", NULL,
     "worker-0=Running worker-1=Failed(127)", "", "", "Created Failed"},
    {"ExitCode 1: failed for good", "Worker 2 ExitCode", NULL,
     "worker-0=Running worker-1=Failed(1)", "", "", "Created Failed"},
    {"ExitCode 2: failed for good", "Worker 2 ExitCode", NULL,
     "worker-0=Running worker-1=Failed(2)", "", "", "Created Failed"},
    {"ExitCode 3: failed for good", "Worker 2 ExitCode", NULL,
     "worker-0=Running worker-1=Failed(3)", "", "", "Created Failed"},
    {"ExitCode 138: restarted", "Worker 2 ExitCode", NULL, "worker-0=Running worker-1=Failed(138)",
     "", RESTARTED, "Created Restarting"},
    {"ExitCode without a code: restarted", "Worker 2 ExitCode", NULL,
     "worker-0=Running worker-1=Failed", "", RESTARTED, "Created Restarting"},

    {"Never: a running pod that is deleted fails the job", "Worker 2", NULL,
     "worker-0=Running worker-1=Running!", "", "", "Created Failed"},
    {"OnFailure: a running pod that is deleted is waited for, then replaced", "Worker 2 OnFailure",
     NULL, "worker-0=Running worker-1=Running!", "", "", "Created Restarting"},
    {"ExitCode: a running pod that is deleted is replaced whatever its code", "Worker 2 ExitCode",
     NULL, "worker-0=Running worker-1=Failed(1)!", "", "", "Created Restarting"},
    {"OnFailure: a running pod that vanished is replaced", "Worker 2 OnFailure", NULL,
     "worker-0=Running", "worker-1=Running", REPLACED, "Created Restarting"},
    {"Never: a running pod that vanished fails the job", "Worker 2", NULL, "worker-0=Running",
     "worker-1=Running", "", "Created Failed"},
    {"a pending pod that is deleted is no failure", "Worker 2", NULL,
     "worker-0=Running worker-1=Pending!", "", "", "Created Running"},
    {"a pending pod that vanished is made again", "Worker 2", NULL, "worker-0=Running",
     "worker-1=Pending", REPLACED, "Created Running"},
    {"a finished pod that vanished is not made again", "Worker 2", NULL, "worker-0=Running",
     "worker-1=Succeeded(0)", "", "Created Running"},

    {"restarts in place below the limit", "Worker 4 OnFailure", "{'backoffLimit': 4}",
     "worker-0=Running*1 worker-1=Running*1 worker-2=Running*1 worker-3=Running", "", "",
     "Created Running"},
    {"restarts in place reach the limit", "Worker 4 OnFailure", "{'backoffLimit': 4}",
     "worker-0=Running*1 worker-1=Running*1 worker-2=Running*1 worker-3=Running*1", "", "",
     "Created Failed"},
    {"limit 0 and no restart", "Worker 1 OnFailure", "{'backoffLimit': 0}", "worker-0=Running", "",
     "", "Created Running"},
    {"limit 0: the first restart in place is too many", "Worker 1 OnFailure", "{'backoffLimit': 0}",
     "worker-0=Running*1", "", "", "Created Failed"},
    {"limit 0: no new pod either", "Worker 2 ExitCode", "{'backoffLimit': 0}",
     "worker-0=Running worker-1=Failed(137)", "", "", "Created Failed"},
    {"no limit: restarts do not fail the job", "Worker 1 Always", NULL, "worker-0=Running*1000", "",
     "", "Created Running"},
};

static void test_row(void **state)
{
    const struct row *row = *state;
    struct job_fixture fixture;

    fixture_init(&fixture, row->spec, row->run_policy);
    fixture_pods(&fixture, row->pods);
    fixture_gone_pods(&fixture, row->gone);
    if (row->gone[0]) /* the pod is gone, but its service is not */
        fixture.service_count = 0;
    fixture_reconcile(&fixture);
    if (row->gone[0]) {
        /* Services come first in the plan, but the rows have only pods. */
        size_t kept = 0;

        for (size_t i = 0; i < fixture.plan.action_count; i++) {
            if (fixture.plan.actions[i].type != TRAINING_CREATE_SERVICE)
                fixture.plan.actions[kept++] = fixture.plan.actions[i];
        }
        fixture.plan.action_count = kept;
    }
    assert_string_equal(fixture_actions(&fixture), row->actions);
    assert_string_equal(fixture_conditions(&fixture), row->conditions);
    fixture_release(&fixture);
}

/* A container that was killed for its memory and restarted by its node. */
static void test_out_of_memory_kill_is_reported(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1 OnFailure", NULL);
    fixture_pods(&fixture, "worker-0=Running*2");
    json_set(fixture.arena,
             json_element(json_at(fixture.pods[0], "status", "containerStatuses", NULL), 0),
             "lastState",
             read_json(fixture.arena, "{'terminated': {'exitCode': 137, 'reason': 'OOMKilled'}}"));
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_events(&fixture),
                        "Warning OOMKilled: Error pod mnist-worker-0 container tensorflow "
                        "exitCode: 137: it used more memory than its limit; restart 2");
    fixture_release(&fixture);
}

static void test_failure_messages(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 ExitCode", NULL);
    fixture_pods(&fixture, "worker-0=Running worker-1=Failed(1)");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_message(&fixture, TRAINING_FAILED),
                        "job \"mnist\" is failing because \"Worker\" replica(s) failed. "
                        "mnist-worker-1 exited with code 1");
    assert_string_equal(
        fixture_events(&fixture),
        "Warning ExitedWithCode: Pod: default.mnist-worker-1 exited with code 1\n"
        "Warning TFJobFailed: job \"mnist\" is failing because \"Worker\" replica(s) failed. "
        "mnist-worker-1 exited with code 1");
    fixture_release(&fixture);

    fixture_init(&fixture, "Worker 2, PS 1", NULL);
    fixture_pods(&fixture, "worker-0=Failed(1) worker-1=Failed(1) ps-0=Running");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_message(&fixture, TRAINING_FAILED),
                        "TFJob default/mnist has failed because 2 Worker replica(s) failed. "
                        "mnist-worker-0 exited with code 1, mnist-worker-1 exited with code 1");
    fixture_release(&fixture);

    fixture_init(&fixture, "Worker 5", NULL);
    fixture_pods(&fixture, "worker-0=Failed(1) worker-1=Failed(137) worker-2=Failed(2) "
                           "worker-3=Failed(3) worker-4=Failed(4)");
    json_set_string(
        fixture.arena,
        json_at(json_element(json_at(fixture.pods[1], "status", "containerStatuses", NULL), 0),
                "state", "terminated", NULL),
        "reason", "OOMKilled");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_message(&fixture, TRAINING_FAILED),
                        "TFJob default/mnist has failed because 5 Worker replica(s) failed. "
                        "mnist-worker-0 exited with code 1, mnist-worker-1 exited with code 137 "
                        "(OOMKilled), mnist-worker-2 exited with code 2, and 2 more");
    assert_true(fixture_has_event(
        &fixture, "OOMKilled: Error pod mnist-worker-1 container tensorflow exitCode: 137"));
    fixture_release(&fixture);

    fixture_init(&fixture, "Worker 1 ExitCode", "{'backoffLimit': 0}");
    fixture_pods(&fixture, "worker-0=Failed(137)");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_message(&fixture, TRAINING_FAILED),
                        "Job mnist has failed because it has reached the specified backoff limit");
    fixture_release(&fixture);
}

static void test_restart_messages(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2, PS 1 ExitCode", NULL);
    fixture_pods(&fixture, "worker-0=Running worker-1=Running ps-0=Failed(130)");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_message(&fixture, TRAINING_RESTARTING),
                        "job mnist is restarting because PS replica(s) failed.");
    assert_string_equal(
        fixture_events(&fixture),
        "Warning ExitedWithCode: Pod: default.mnist-ps-0 exited with code 130\n"
        "Warning TFJobRestarting: job mnist is restarting because PS replica(s) failed.");
    /* One event for this pod, and another one for the next pod of the same name. */
    assert_true(fixture.plan.events[0].once);
    assert_string_equal(fixture.plan.events[0].pod_uid, kube_meta_uid(fixture.pods[2]));
    fixture_release(&fixture);
}

/* The events have the details that the conditions leave out, since their messages are those of
 * Kubeflow's training operator. */
static void test_events_name_the_pod_and_the_cause(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2", NULL);
    fixture_pods(&fixture, "worker-0=Running worker-1=Running!");
    fixture_reconcile(&fixture);
    assert_true(fixture_has_event(
        &fixture, "Pod: default.mnist-worker-1 was deleted while it ran, or its node is gone"));
    fixture_release(&fixture);

    fixture_init(&fixture, "Worker 2 OnFailure", "{'backoffLimit': 1}");
    fixture_pods(&fixture, "worker-0=Running worker-1=Running*1");
    json_set(fixture.arena,
             json_element(json_at(fixture.pods[1], "status", "containerStatuses", NULL), 0),
             "lastState", read_json(fixture.arena, "{'terminated': {'exitCode': 3}}"));
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Failed");
    assert_true(fixture_has_event(&fixture,
                                  "Worker replica 1 was restarted 1 times, last with exit "
                                  "code 3; runPolicy.backoffLimit is 1 for all replicas"));
    fixture_release(&fixture);
}

/* An init container failed: its exit code counts as the pod's. */
static void test_exit_code_of_an_init_container_counts(void **state)
{
    static const struct {
        const char *code, *conditions;
    } CODES[] = {{"4", "Created Failed"}, {"137", "Created Restarting"}};

    for (size_t i = 0; i < ARRAY_SIZE(CODES); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 2 ExitCode", NULL);
        fixture_pods(&fixture, "worker-0=Running worker-1=Failed");
        json_set(fixture.arena, json_get(fixture.pods[1], "status"), "initContainerStatuses",
                 read_json(fixture.arena,
                           arena_printf(fixture.arena,
                                        "[{'name': 'first', 'state': {'terminated': {'exitCode': "
                                        "0}}}, {'name': 'prep', 'state': {'terminated': "
                                        "{'exitCode': %s, 'reason': 'Error'}}}]",
                                        CODES[i].code)));
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_conditions(&fixture), CODES[i].conditions);
        assert_true(fixture_has_event(
            &fixture,
            arena_printf(fixture.arena, "Error pod mnist-worker-1 container prep exitCode: %s",
                         CODES[i].code)));
        fixture_release(&fixture);
    }
}

/* One replica has finished and the other waits for its next restart, so none runs. */
static void test_job_is_restarting_during_backoff(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 ExitCode", NULL);
    fixture_set_spec(&fixture, "{'successPolicy': 'AllWorkers'}");
    fixture_settle(&fixture);
    kube_meta_set_annotation(fixture.arena, fixture.job, TRAINING_RESTARTS_ANNOTATION,
                             "{\"worker-1\":{\"count\":3,\"uid\":\"x\",\"after\":"
                             "\"2026-11-15T02:05:00Z\"}}");
    fixture.pod_count = 1; /* worker 1 has no pod */
    fixture_change(&fixture, "worker-0=Running");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running");
    fixture_change(&fixture, "worker-0=Succeeded(0)");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting");
    fixture_release(&fixture);
}

/* A pod that is seen many times counts once. Its successor counts separately. */
static void test_failed_pod_is_counted_once(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 OnFailure", "{'backoffLimit': 1}");
    fixture_pods(&fixture, "worker-0=Running worker-1=Running!");
    for (int i = 0; i < 3; i++) {
        fixture_reconcile(&fixture);
        fixture_apply(&fixture);
    }
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting");
    assert_string_equal(kube_meta_annotation(fixture.job, TRAINING_RESTARTS_ANNOTATION),
                        "{\"worker-1\":{\"count\":1,\"uid\":\"uid-4\"}}");

    fixture_change(&fixture, "worker-1=Failed(143)!");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");

    fixture.pod_count = 1;
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-1=Running");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running");

    fixture_change(&fixture, "worker-1=Failed(1)");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running=False Failed");
    fixture_release(&fixture);
}

/* The operator died between the two writes of a restart: the pod is counted, but not deleted
 * yet. */
static void test_counted_pod_is_deleted_by_the_next_operator(void **state)
{
    static const char *const pods[] = {"worker-0=Running worker-1=Failed(137)",
                                       "worker-0=Running worker-1=Running"};

    for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 2 ExitCode", "{'backoffLimit': 1}");
        fixture_pods(&fixture, pods[i]);
        kube_meta_set_annotation(fixture.arena, fixture.job, TRAINING_RESTARTS_ANNOTATION,
                                 "{\"worker-1\":{\"count\":1,\"uid\":\"uid-4\"}}");
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), "-pod mnist-worker-1");
        assert_null(fixture.plan.annotations);
        fixture_settle(&fixture);
        assert_int_equal(fixture.pod_count, 2);
        assert_string_equal(kube_meta_annotation(fixture.job, TRAINING_RESTARTS_ANNOTATION),
                            "{\"worker-1\":{\"count\":1,\"uid\":\"uid-4\"}}");
        fixture_release(&fixture);
    }
}

/* A limit of N allows N new pods, whichever operator counted them, because the count is on the
 * job. */
static void test_backoff_limit_counts_new_pods(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1 ExitCode", "{'backoffLimit': 3}");
    fixture_settle(&fixture);
    for (int i = 0; i < 3; i++) {
        fixture_change(&fixture, "worker-0=Failed(137)");
        fixture_settle(&fixture);
        assert_string_equal(fixture_conditions(&fixture), "Created Restarting");
        assert_int_equal(fixture.pod_count, 1);
    }
    fixture_change(&fixture, "worker-0=Failed(137)");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting=False Failed");
    fixture_release(&fixture);
}

static void test_restarts_in_place_are_kept_after_a_replacement(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1 OnFailure", "{'backoffLimit': 4}");
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Failed(1)*2");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting");
    fixture_change(&fixture, "worker-0=Running*1");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting=False Failed");
    fixture_release(&fixture);
}

/* The record outlives pods and operators, so a finished worker does not run again. */
static void test_finished_replicas_are_remembered(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 3", NULL);
    fixture_pods(&fixture, "worker-0=Running worker-1=Succeeded(0) worker-2=Running");
    fixture_settle(&fixture);
    assert_string_equal(kube_meta_annotation(fixture.job, TRAINING_FINISHED_ANNOTATION),
                        "[\"worker-1\"]");
    fixture.pods[1] = fixture.pods[--fixture.pod_count];
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 2);
    assert_string_equal(fixture_counts(&fixture), "Worker 2/1/0");
    fixture_release(&fixture);
}

static void test_unreadable_restart_annotation_is_ignored(void **state)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "7",
                                        "[[[[[[[[]]]]]]]]",
                                        "{\"worker-9\":{}}",
                                        "{\"worker-0\":{\"count\":-5}}",
                                        "[1,null,\"x\",\"-\"]"};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 1 OnFailure", "{'backoffLimit': 1}");
        kube_meta_set_annotation(fixture.arena, fixture.job, TRAINING_RESTARTS_ANNOTATION,
                                 texts[i]);
        kube_meta_set_annotation(fixture.arena, fixture.job, TRAINING_FINISHED_ANNOTATION,
                                 texts[i]);
        fixture_pods(&fixture, "worker-0=Running");
        fixture_settle(&fixture);
        assert_string_equal(fixture_conditions(&fixture), "Created Running");
        fixture_release(&fixture);
    }
}

/* "Terminated" is the reason of a node that shuts down, from Kubernetes 1.22 to 1.25. */
static void test_exit_code_policy_restarts_evicted_pods(void **state)
{
    static const char *const reasons[] = {"Evicted",      "Preempting", "Shutdown",
                                          "NodeShutdown", "Terminated", "NodeLost"};

    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 2 ExitCode", NULL);
        fixture_pods(&fixture, "worker-0=Running worker-1=Failed(1)");
        json_set_string(fixture.arena, json_get(fixture.pods[1], "status"), "reason", reasons[i]);
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), "-pod mnist-worker-1");
        fixture_release(&fixture);
    }
}

static void set_created(struct job_fixture *fixture)
{
    char now[MOMENT_TEXT_MAX];

    moment_format(fixture->now_ms, now);
    json_set_string(fixture->arena, json_get(fixture->pods[0], "metadata"), "creationTimestamp",
                    now);
}

/* A replica that fails repeatedly is retried with growing delays, the first time at once. */
static void test_backoff_delays_grow(void **state)
{
    static const int distances[] = {0, 10, 20, 40, 80, 160, 300, 300};
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1 ExitCode", NULL);
    fixture_settle(&fixture);
    for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
        set_created(&fixture);
        fixture_change(&fixture, "worker-0=Failed(137)");
        fixture_settle(&fixture);
        if (distances[i] > 0) {
            assert_int_equal(fixture.pod_count, 0);
            assert_int_equal(fixture.plan.requeue_ms, distances[i] * 1000);
            assert_int_equal(fixture.plan.event_count, 1);
            assert_string_equal(fixture.plan.events[0].reason, "BackOff");
            fixture.now_ms += distances[i] * 1000;
            fixture_settle(&fixture);
        }
        assert_int_equal(fixture.pod_count, 1);
    }

    /* A replica that ran longer than the delay, or was evicted, restarts at once. */
    set_created(&fixture);
    fixture.now_ms += 300 * 1000;
    fixture_change(&fixture, "worker-0=Failed(137)");
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 1);
    set_created(&fixture);
    fixture_change(&fixture, "worker-0=Failed(137)");
    json_set_string(fixture.arena, json_get(fixture.pods[0], "status"), "reason", "Evicted");
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 1);
    fixture_release(&fixture);
}

/* With the restart scope "job", all pods are deleted, no pod is created before the last one is
 * gone, and all that counts as one restart. */
static void test_restart_scope_job_restarts_all_pods(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 3 OnFailure, PS 1 Always", "{'backoffLimit': 1}");
    kube_meta_set_annotation(fixture.arena, fixture.job, "trainyard.dev/restart-scope", "job");
    fixture_pods(&fixture, "worker-0=Running worker-1=Failed(1) worker-2=Failed(1) ps-0=Running");
    fixture_reconcile(&fixture);
    assert_string_equal(
        fixture_actions(&fixture),
        "-pod mnist-worker-1, -pod mnist-worker-0, -pod mnist-worker-2, -pod mnist-ps-0");
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting");

    /* Worker 0 takes long to end. */
    struct json *slow = json_clone(fixture.arena, fixture.pods[0]);
    fixture_apply(&fixture);
    assert_int_equal(fixture.pod_count, 0);
    fixture.pods[fixture.pod_count++] = slow;
    fixture_change(&fixture, "worker-0=Running!");
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 1);

    fixture.pod_count = 0;
    fixture_settle(&fixture);
    assert_int_equal(fixture.pod_count, 4);
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting");
    /* No node may restart a single one of them in place. */
    for (size_t i = 0; i < fixture.pod_count; i++)
        assert_string_equal(json_get_string(json_get(fixture.pods[i], "spec"), "restartPolicy", ""),
                            "Never");
    fixture_release(&fixture);
}

/* A pod that cannot be deleted because its node is gone is deleted by force, but not before its
 * grace period has ended. */
static void test_overdue_pod_is_deleted_by_force(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1 OnFailure", NULL);
    fixture_pods(&fixture, "worker-0=Running!"); /* must be gone in 30 s */
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_int_equal(fixture.plan.requeue_ms, 90 * 1000);
    fixture_apply(&fixture);

    fixture.now_ms += 90 * 1000;
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "-pod mnist-worker-0!");
    fixture_release(&fixture);
}

/* A finished job must not keep such a pod forever, and a suspended job must not wait for it to
 * resume. */
static void test_overdue_pods_of_inactive_jobs_are_deleted(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 OnFailure", "{'cleanPodPolicy': 'All'}");
    fixture_pods(&fixture, "worker-0=Succeeded(0) worker-1=Running!");
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    fixture.now_ms += 90 * 1000;
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Succeeded");
    assert_int_equal(fixture.pod_count, 0);
    fixture_release(&fixture);

    fixture_init(&fixture, "Worker 1 OnFailure", "{'suspend': true}");
    fixture_pods(&fixture, "worker-0=Running!");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "-svc mnist-worker-0");
    assert_int_equal(fixture.plan.requeue_ms, 90 * 1000);
    fixture_apply(&fixture);
    struct json *policy = json_at(fixture.job, "spec", "runPolicy", NULL);
    json_set_bool(fixture.arena, policy, "suspend", false);
    fixture.now_ms += 80 * 1000;
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_int_equal(fixture.plan.requeue_ms, 10 * 1000);
    fixture.now_ms += 10 * 1000;
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "-pod mnist-worker-0!");
    fixture_apply(&fixture);
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Suspended=False");
    assert_int_equal(fixture.pod_count, 1);
    fixture_release(&fixture);
}

/* The largest possible number, and one more. */
static void test_restart_count_does_not_overflow(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2 OnFailure", "{'backoffLimit': 3}");
    kube_meta_set_annotation(fixture.arena, fixture.job, TRAINING_RESTARTS_ANNOTATION,
                             "{\"worker-0\":{\"count\":9223372036854775807},"
                             "\"worker-1\":{\"count\":9223372036854775807}}");
    fixture_pods(&fixture, "worker-0=Running worker-1=Failed(1)");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Failed");
    fixture_release(&fixture);
}

int main(void)
{
    static const struct CMUnitTest more[] = {
        cmocka_unit_test(test_out_of_memory_kill_is_reported),
        cmocka_unit_test(test_failure_messages),
        cmocka_unit_test(test_restart_messages),
        cmocka_unit_test(test_events_name_the_pod_and_the_cause),
        cmocka_unit_test(test_exit_code_of_an_init_container_counts),
        cmocka_unit_test(test_job_is_restarting_during_backoff),
        cmocka_unit_test(test_failed_pod_is_counted_once),
        cmocka_unit_test(test_counted_pod_is_deleted_by_the_next_operator),
        cmocka_unit_test(test_backoff_limit_counts_new_pods),
        cmocka_unit_test(test_restarts_in_place_are_kept_after_a_replacement),
        cmocka_unit_test(test_finished_replicas_are_remembered),
        cmocka_unit_test(test_unreadable_restart_annotation_is_ignored),
        cmocka_unit_test(test_exit_code_policy_restarts_evicted_pods),
        cmocka_unit_test(test_backoff_delays_grow),
        cmocka_unit_test(test_restart_scope_job_restarts_all_pods),
        cmocka_unit_test(test_overdue_pod_is_deleted_by_force),
        cmocka_unit_test(test_overdue_pods_of_inactive_jobs_are_deleted),
        cmocka_unit_test(test_restart_count_does_not_overflow),
    };
    struct CMUnitTest tests[ARRAY_SIZE(ROWS) + ARRAY_SIZE(more)];

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++)
        tests[i] = (struct CMUnitTest){
            .name = ROWS[i].rule, .test_func = test_row, .initial_state = (void *)&ROWS[i]};
    for (size_t i = 0; i < ARRAY_SIZE(more); i++)
        tests[ARRAY_SIZE(ROWS) + i] = more[i];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
