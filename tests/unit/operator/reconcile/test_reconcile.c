/* Tests that missing objects are created, surplus ones are deleted, and objects of other owners are
 * left alone. */
#include "job_fixture.h"

#include "operator/controller/plan_run.h"
#include "operator/reconcile/conditions.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_services_before_pods_in_fixed_order(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "PS 1, Worker 2, Evaluator 1, Chief 1", NULL);
    fixture_reconcile(&fixture);
    assert_string_equal(
        fixture_actions(&fixture),
        "+svc mnist-chief-0, +svc mnist-worker-0, +svc mnist-worker-1, +svc mnist-ps-0, "
        "+svc mnist-evaluator-0, "
        "+pod mnist-chief-0, +pod mnist-worker-0, +pod mnist-worker-1, +pod mnist-ps-0, "
        "+pod mnist-evaluator-0");
    assert_string_equal(fixture_conditions(&fixture), "Created");
    assert_string_equal(fixture_message(&fixture, TRAINING_CREATED), "TFJob mnist is created.");
    assert_string_equal(json_get_string(fixture.plan.status, "startTime", ""),
                        "2026-11-15T02:00:00Z");
    assert_int_equal(fixture.plan.event_count, 1); /* about the evaluator */
    fixture_release(&fixture);
}

static void test_a_single_replica_has_pod_and_service(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", NULL);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "+svc mnist-worker-0, +pod mnist-worker-0");
    fixture_release(&fixture);
}

static void test_existing_pods_are_not_created_again(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 4, PS 2", NULL);
    fixture_pods(&fixture, "worker-0=Pending worker-1=Pending ps-0=Pending");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture),
                        "+svc mnist-worker-2, +svc mnist-worker-3, +svc mnist-ps-1, "
                        "+pod mnist-worker-2, +pod mnist-worker-3, +pod mnist-ps-1");
    fixture_release(&fixture);
}

/* The server rejects the pods permanently: the job fails, its running pods end, and no pod is
 * created. */
static void test_rejected_pods_fail_the_job(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2, PS 1", NULL);
    fixture_pods(&fixture, "ps-0=Running");
    fixture.rejection = "spec.tfReplicaSpecs[Worker].template: refused";
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_string_equal(fixture_conditions(&fixture), "Created Failed");
    assert_string_equal(fixture_message(&fixture, TRAINING_FAILED),
                        "TFJob default/mnist is not valid: "
                        "spec.tfReplicaSpecs[Worker].template: refused");
    assert_string_equal(fixture_events(&fixture),
                        "Warning FailedValidation: spec.tfReplicaSpecs[Worker].template: refused");
    fixture_apply(&fixture);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "-pod mnist-ps-0, -svc mnist-ps-0");
    fixture_release(&fixture);
}

/* A suspended job may be edited until its pods are valid. */
static void test_rejected_pods_do_not_fail_a_suspended_job(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", "{'suspend': true}");
    fixture.rejection = "refused";
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Suspended");
    fixture_release(&fixture);
}

static void test_permanent_rejections_are_recognized(void **state)
{
    static const struct {
        enum err_code code;
        const char *message;
        bool is_final;
    } rows[] = {
        {ERR_INVALID, "Pod \"a\" is invalid: spec.containers[0].name: Required value", true},
        {ERR_BAD_REQUEST, "Pod in version \"v1\" cannot be handled as a Pod: json: cannot", true},
        {ERR_BAD_REQUEST, "admission webhook \"a.b\" denied the request: not today", false},
        {ERR_INVALID, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", false},
        {ERR_FORBIDDEN, "pods \"a\" is forbidden: exceeded quota: q", false},
        {ERR_UNAVAILABLE, "connection refused", false},
        {ERR_CONFLICT, "it has been modified", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct err err = ERR_INIT;

        err_set(&err, rows[i].code, "%s", rows[i].message);
        assert_int_equal(plan_error_is_final(&err), rows[i].is_final);
    }
}

static void test_settled_job_has_nothing_to_do(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2, PS 1", NULL);
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Running worker-1=Running ps-0=Running");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running");
    assert_string_equal(fixture_message(&fixture, TRAINING_RUNNING),
                        "TFJob default/mnist is running.");
    assert_int_equal(fixture.plan.requeue_ms, -1);
    assert_int_equal(fixture.plan.event_count, 0);
    fixture_release(&fixture);
}

static void test_success_has_the_message_of_kubeflow(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Running");
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Succeeded(0)");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running=False Succeeded");
    assert_string_equal(fixture_message(&fixture, TRAINING_SUCCEEDED),
                        "TFJob default/mnist successfully completed.");
    assert_string_equal(fixture_events(&fixture),
                        "Normal ExitedWithCode: Pod: default.mnist-worker-0 exited with code 0\n"
                        "Normal TFJobSucceeded: TFJob default/mnist successfully completed.");
    assert_string_equal(json_get_string(fixture.plan.status, "completionTime", ""),
                        "2026-11-15T02:00:00Z");
    fixture_release(&fixture);
}

static void set_replicas(struct job_fixture *fixture, const char *type, int replicas)
{
    json_set_int(fixture->arena, json_at(fixture->job, "spec", "tfReplicaSpecs", type, NULL),
                 "replicas", replicas);
}

static void test_scale_up_creates_missing_replicas(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1, PS 1", NULL);
    fixture_pods(&fixture, "worker-0=Running ps-0=Running");
    fixture_settle(&fixture);
    set_replicas(&fixture, "Worker", 3);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture),
                        "+svc mnist-worker-1, +svc mnist-worker-2, +pod mnist-worker-1, "
                        "+pod mnist-worker-2");
    fixture_release(&fixture);
}

/* Unlike in Kubeflow's training operator, the deleted pods do not count as failures. */
static void test_scale_down_deletes_surplus_replicas(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 3", NULL);
    fixture_pods(&fixture, "worker-0=Running worker-1=Running worker-2=Running");
    fixture_settle(&fixture);
    set_replicas(&fixture, "Worker", 1);
    fixture_reconcile(&fixture);
    assert_string_equal(
        fixture_actions(&fixture),
        "-pod mnist-worker-1, -pod mnist-worker-2, -svc mnist-worker-1, -svc mnist-worker-2");
    fixture_change(&fixture, "worker-1=Running! worker-2=Running!");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running");
    assert_string_equal(fixture_counts(&fixture), "Worker 1/0/0");
    fixture_release(&fixture);
}

/* A job in which no replica ran to its end has not succeeded, neither at the start nor after
 * scaling to 0. */
static void test_job_without_replicas_does_not_succeed(void **state)
{
    static const struct {
        const char *spec, *type, *pods, *actions, *counts, *running_again;
    } rows[] = {
        {"Worker 2", "Worker", "worker-0=Running worker-1=Running",
         "-pod mnist-worker-0, -pod mnist-worker-1, -svc mnist-worker-0, -svc mnist-worker-1",
         "Worker 0/0/0", "worker-0=Running"},
        {"Chief 1, Worker 1", "Chief", "chief-0=Running worker-0=Running",
         "-pod mnist-chief-0, -svc mnist-chief-0", "Chief 0/0/0 Worker 1/0/0", "chief-0=Running"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, rows[i].spec, NULL);
        fixture_pods(&fixture, rows[i].pods);
        fixture_settle(&fixture);
        set_replicas(&fixture, rows[i].type, 0);
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), rows[i].actions);
        assert_non_null(strstr(fixture_events(&fixture),
                               "Warning NoDecidingReplica: TFJob mnist has 0 "
                               "replicas of "));
        fixture_settle(&fixture);
        assert_string_equal(fixture_conditions(&fixture), "Running=False Created");
        assert_string_equal(
            fixture_message(&fixture, TRAINING_CREATED),
            arena_printf(
                fixture.arena,
                "TFJob mnist has 0 replicas of %s, which decide whether the job succeeds: the job "
                "waits; set spec.tfReplicaSpecs.%s.replicas to 1 or more, or delete the job",
                rows[i].type, rows[i].type));
        assert_string_equal(fixture_counts(&fixture), rows[i].counts);
        set_replicas(&fixture, rows[i].type, 1);
        fixture_reconcile(&fixture);
        assert_non_null(strstr(fixture_actions(&fixture), "+pod mnist-"));
        assert_string_equal(fixture_message(&fixture, TRAINING_CREATED), "TFJob mnist is created.");
        fixture_settle(&fixture);
        fixture_change(&fixture, rows[i].running_again);
        fixture_settle(&fixture);
        assert_string_equal(fixture_conditions(&fixture), "Created Running");
        fixture_release(&fixture);
    }
}

/* A helper replica that restarts does not make a job without workers look active. */
static void test_job_without_workers_waits_despite_its_helpers(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 0, PS 1 ExitCode", NULL);
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created");
    assert_non_null(strstr(fixture_message(&fixture, TRAINING_CREATED), "the job waits"));
    fixture_change(&fixture, "ps-0=Failed(137)");
    fixture_reconcile(&fixture);
    assert_non_null(strstr(fixture_events(&fixture), "Warning TFJobRestarting: "));
    assert_string_equal(fixture_conditions(&fixture), "Created");
    fixture_release(&fixture);
}

/* The job was scaled to 0 while it restarted. */
static void test_scaling_to_zero_ends_a_restart(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1 ExitCode", NULL);
    fixture_pods(&fixture, "worker-0=Running");
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Failed(137)");
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Restarting");
    set_replicas(&fixture, "Worker", 0);
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Restarting=False Created");
    fixture_release(&fixture);
}

/* The job is scaled down and up again before the surplus pods are gone. We deleted them ourselves,
 * so they do not count as lost. */
static void test_scale_down_and_up_again(void **state)
{
    struct job_fixture fixture;

    for (int vanished = 0; vanished < 2; vanished++) {
        fixture_init(&fixture, "Worker 1, PS 2", NULL);
        fixture_pods(&fixture, "worker-0=Running ps-0=Running ps-1=Running");
        fixture_settle(&fixture);
        set_replicas(&fixture, "PS", 1);
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), "-pod mnist-ps-1, -svc mnist-ps-1");
        JSON_EACH (annotation, fixture.plan.annotations)
            kube_meta_set_annotation(fixture.arena, fixture.job, annotation->name,
                                     json_text(annotation));
        set_replicas(&fixture, "PS", 2);
        if (vanished) { /* gone before the next pass */
            fixture.gone[fixture.gone_count++] = fixture.pods[--fixture.pod_count];
            assert_string_equal(kube_meta_name(fixture.gone[0]), "mnist-ps-1");
        } else {
            fixture_change(&fixture, "ps-1=Running!");
        }
        fixture_reconcile(&fixture);
        assert_string_equal(fixture_actions(&fixture), vanished ? "+pod mnist-ps-1" : "");
        assert_string_equal(fixture_conditions(&fixture), "Created Running");
        fixture_release(&fixture);
    }
}

static void test_invalid_job_fails_without_pods(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1, Wroker 1", NULL);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_string_equal(fixture_conditions(&fixture), "Created Failed");
    /* Definitions of older operators require this field. */
    assert_non_null(json_get(fixture.plan.status, "replicaStatuses"));
    assert_non_null(
        strstr(fixture_message(&fixture, TRAINING_FAILED), "spec.tfReplicaSpecs[Wroker]"));
    assert_int_equal(fixture.plan.event_count, 1);
    assert_string_equal(fixture.plan.events[0].reason, "FailedValidation");
    assert_true(fixture.plan.events[0].warning);
    fixture_release(&fixture);
}

static void test_job_of_another_manager_is_left_alone(void **state)
{
    static const struct {
        const char *run_policy;
        bool ours, told;
    } rows[] = {
        {"{}", true},
        {"{'managedBy': null}", true},
        {"{'managedBy': 'kubeflow.org/training-operator'}", true},
        {"{'managedBy': 'kueue.x-k8s.io/multikueue'}", false},
        {"{'managedBy': ''}", false, .told = true},
        {"{'managedBy': 'other'}", false, .told = true},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 1", rows[i].run_policy);
        fixture_reconcile(&fixture);
        assert_int_equal(fixture.plan.action_count, rows[i].ours ? 2 : 0);
        assert_int_equal(fixture.plan.status != NULL, rows[i].ours);
        assert_int_equal(strstr(fixture_events(&fixture), "Warning FailedValidation: "
                                                          "spec.runPolicy.managedBy:") != NULL,
                         rows[i].told);
        fixture_release(&fixture);
    }
}

/* The job is given to another manager while it runs. Its pods belong to that manager now. */
static void test_job_given_to_another_manager_is_left_alone(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", "{'managedBy': 'kubeflow.org/training-operator'}");
    fixture_pods(&fixture, "worker-0=Running");
    fixture_settle(&fixture);
    json_set_string(fixture.arena, json_at(fixture.job, "spec", "runPolicy", NULL), "managedBy",
                    "kueue.x-k8s.io/multikueue");
    fixture_change(&fixture, "worker-0=Failed(1)");
    fixture_reconcile(&fixture);
    assert_int_equal(fixture.plan.action_count, 0);
    assert_null(fixture.plan.status);
    fixture_release(&fixture);
}

static void test_job_without_an_ending_replica_is_reported(void **state)
{
    static const struct {
        const char *spec;
        bool told;
    } rows[] = {{"PS 2", true},     {"Evaluator 1", true}, {"PS 1, Evaluator 1", true},
                {"Chief 1", false}, {"Master 1", false},   {"Worker 1, PS 1", false}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, rows[i].spec, NULL);
        fixture_reconcile(&fixture);
        assert_string_equal(
            fixture_events(&fixture),
            rows[i].told ? "Warning NoDecidingReplica: TFJob mnist has neither a Chief, a Master "
                           "nor a Worker: it never becomes Running or Succeeded, and ends "
                           "when a replica fails, a limit is reached or it is deleted"
                         : "");
        if (rows[i].told)
            assert_true(fixture.plan.events[0].once);
        fixture_release(&fixture);
    }
}

/* A program with ParameterServerStrategy hangs if TF_CONFIG lists an evaluator. */
static void test_evaluator_beside_parameter_servers_is_reported(void **state)
{
    static const struct {
        const char *spec, *annotation;
        bool told;
    } rows[] = {
        {"Chief 1, Worker 1, PS 1, Evaluator 1", NULL, true},
        {"Worker 1, PS 1, Evaluator 1", NULL, true},
        {"Chief 1, Worker 1, PS 1, Evaluator 1", "false", false},
        {"Chief 1, Worker 1, PS 1, Evaluator 1", "true", false},
        {"Chief 1, Worker 1, PS 1", NULL, false},
        {"Chief 1, Worker 1, Evaluator 1", NULL, false},
        {"Chief 1, PS 0, Evaluator 1", NULL, false},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, rows[i].spec, NULL);
        if (rows[i].annotation)
            kube_meta_set_annotation(fixture.arena, fixture.job, TRAINING_EVALUATOR_ANNOTATION,
                                     rows[i].annotation);
        fixture_reconcile(&fixture);
        assert_int_equal(
            fixture_has_event(&fixture, "trainyard.dev/tf-config-evaluator: \"false\""),
            rows[i].told);
        if (rows[i].told) {
            assert_string_equal(fixture.plan.events[0].reason, "EvaluatorInTFConfig");
            assert_true(fixture.plan.events[0].warning && fixture.plan.events[0].once);
        }
        fixture_release(&fixture);
    }
}

/* An edit made a running job invalid. The job has failed, so its pods must not run on. */
static void test_running_job_that_becomes_invalid_is_stopped(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2", NULL);
    fixture_pods(&fixture, "worker-0=Running worker-1=Succeeded(0)");
    fixture_settle(&fixture);
    json_set_string(fixture.arena, json_get(fixture.job, "spec"), "successPolicy", "Sometimes");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running=False Failed");
    assert_int_equal(fixture.pod_count, 1);
    assert_string_equal(kube_meta_name(fixture.pods[0]), "mnist-worker-1");
    fixture_release(&fixture);
}

static void test_job_in_deletion_is_left_alone(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", NULL);
    json_set_string(fixture.arena, json_get(fixture.job, "metadata"), "deletionTimestamp",
                    "2026-11-15T02:00:00Z");
    fixture_reconcile(&fixture);
    assert_int_equal(fixture.plan.action_count, 0);
    assert_null(fixture.plan.status);
    fixture_release(&fixture);
}

/* A pod of the same name with another owner is neither counted nor touched. */
static void test_pod_name_in_use_is_reported(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Failed(1)?");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_string_equal(fixture_conditions(&fixture), "Created");
    assert_string_equal(fixture_events(&fixture),
                        "Warning FailedCreatePod: Error creating: pod \"mnist-worker-0\" exists "
                        "and does not belong to this job; delete it, or give the job another name");
    fixture_release(&fixture);
}

static void test_unknown_status_fields_are_kept(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", NULL);
    json_set(fixture.arena, fixture.job, "status",
             read_json(fixture.arena, "{'lastReconcileTime': 'x', 'other': {'a': [1]}}"));
    fixture_reconcile(&fixture);
    assert_string_equal(json_get_string(fixture.plan.status, "lastReconcileTime", ""), "x");
    assert_non_null(json_at(fixture.plan.status, "other", "a", NULL));
    fixture_release(&fixture);
}

static void test_template_restart_policy_is_overridden_with_a_warning(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture,
                 "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'restartPolicy': 'Always', "
                 "'containers': [{'name': 'tensorflow', 'image': 'tf'}]}}}}}",
                 NULL);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_events(&fixture),
                        "Warning SetPodTemplateRestartPolicy: Restart policy in pod template will "
                        "be overwritten by restart policy in replica spec");
    fixture_release(&fixture);
}

static void test_pod_failures_are_reported(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 2", NULL);
    fixture_pods(&fixture, "worker-0=Pending worker-1=Pending");
    json_set(fixture.arena, fixture.pods[0], "status",
             read_json(fixture.arena,
                       "{'phase': 'Pending', 'containerStatuses': [{'name': 'tensorflow', "
                       "'state': {'waiting': {'reason': 'ImagePullBackOff', 'message': 'no "
                       "such image'}}}]}"));
    json_set(fixture.arena, fixture.pods[1], "status",
             read_json(fixture.arena,
                       "{'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': "
                       "'False', 'reason': 'Unschedulable', 'message': '0/1 nodes'}]}"));
    fixture_reconcile(&fixture);
    assert_string_equal(
        fixture_events(&fixture),
        "Warning ImagePullBackOff: Error pod mnist-worker-0 container tensorflow waiting message: "
        "no such image\n"
        "Warning Unschedulable: Error pod mnist-worker-1 condition message: 0/1 nodes");
    assert_true(fixture.plan.events[0].once);
    fixture_release(&fixture);
}

/* A program that could not start, a program killed for its memory, an evicted pod, and a failed
 * init container: the job's message has the cause. */
static void test_cause_of_a_failure_is_reported(void **state)
{
    static const struct {
        const char *phase, *status, *event;
    } rows[] = {
        {"worker-0=Failed(128)",
         "{'phase': 'Failed', 'containerStatuses': [{'name': 'tensorflow', 'state': {'terminated': "
         "{'exitCode': 128, 'reason': 'StartError', 'message': 'no such file'}}}]}",
         "Warning StartError: Error pod mnist-worker-0 container tensorflow exitCode: 128 "
         "terminated message: no such file"},
        {"worker-0=Failed(137)",
         "{'phase': 'Failed', 'containerStatuses': [{'name': 'tensorflow', 'state': {'terminated': "
         "{'exitCode': 137, 'reason': 'OOMKilled'}}}]}",
         "Warning OOMKilled: Error pod mnist-worker-0 container tensorflow exitCode: 137\n"},
        {"worker-0=Failed",
         "{'phase': 'Failed', 'reason': 'Evicted', 'message': 'the node is low on memory'}",
         "Warning Evicted: Error pod mnist-worker-0: the node is low on memory"},
        {"worker-0=Pending",
         "{'phase': 'Pending', 'containerStatuses': [{'name': 'tensorflow', 'state': {'waiting': "
         "{'reason': 'PodInitializing'}}}], 'initContainerStatuses': [{'name': 'fetch', 'state': "
         "{'waiting': {'reason': 'CrashLoopBackOff', 'message': 'back-off 10s'}}}]}",
         "Warning CrashLoopBackOff: Error pod mnist-worker-0 container fetch waiting message: "
         "back-off 10s"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;

        fixture_init(&fixture, "Worker 1", NULL);
        fixture_pods(&fixture, rows[i].phase);
        json_set(fixture.arena, fixture.pods[0], "status",
                 read_json(fixture.arena, rows[i].status));
        fixture_reconcile(&fixture);
        if (!strstr(fixture_events(&fixture), rows[i].event))
            fail_msg("no '%s' in: %s", rows[i].event, fixture_events(&fixture));
        fixture_release(&fixture);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_services_before_pods_in_fixed_order),
        cmocka_unit_test(test_a_single_replica_has_pod_and_service),
        cmocka_unit_test(test_existing_pods_are_not_created_again),
        cmocka_unit_test(test_rejected_pods_fail_the_job),
        cmocka_unit_test(test_rejected_pods_do_not_fail_a_suspended_job),
        cmocka_unit_test(test_permanent_rejections_are_recognized),
        cmocka_unit_test(test_settled_job_has_nothing_to_do),
        cmocka_unit_test(test_success_has_the_message_of_kubeflow),
        cmocka_unit_test(test_scale_up_creates_missing_replicas),
        cmocka_unit_test(test_scale_down_deletes_surplus_replicas),
        cmocka_unit_test(test_job_without_replicas_does_not_succeed),
        cmocka_unit_test(test_job_without_workers_waits_despite_its_helpers),
        cmocka_unit_test(test_scaling_to_zero_ends_a_restart),
        cmocka_unit_test(test_scale_down_and_up_again),
        cmocka_unit_test(test_invalid_job_fails_without_pods),
        cmocka_unit_test(test_job_of_another_manager_is_left_alone),
        cmocka_unit_test(test_job_given_to_another_manager_is_left_alone),
        cmocka_unit_test(test_job_without_an_ending_replica_is_reported),
        cmocka_unit_test(test_evaluator_beside_parameter_servers_is_reported),
        cmocka_unit_test(test_running_job_that_becomes_invalid_is_stopped),
        cmocka_unit_test(test_job_in_deletion_is_left_alone),
        cmocka_unit_test(test_pod_name_in_use_is_reported),
        cmocka_unit_test(test_unknown_status_fields_are_kept),
        cmocka_unit_test(test_template_restart_policy_is_overridden_with_a_warning),
        cmocka_unit_test(test_pod_failures_are_reported),
        cmocka_unit_test(test_cause_of_a_failure_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
