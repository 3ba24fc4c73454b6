/* Tests PyTorchJobs: how their state follows from their pods, which jobs are rejected, and how they
 * scale. */
#include "job_fixture.h"

#include "operator/kind/training_job.h"

#include "base/mem.h"
#include "base/str.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct status_row {
    const char *rule;
    const char *spec;
    const char *more; /* further members of the spec, or NULL */
    const char *pods;
    const char *conditions, *counts;
    const char *message; /* message of the last condition */
};

static const struct status_row STATUS_ROWS[] = {
    {"master running: job running", "Master 1, Worker 1", NULL, "master-0=Running worker-0=Pending",
     "Created Running", "Master 1/0/0 Worker 0/0/0", "PyTorchJob mnist is running."},
    {"master pending: not running although workers are", "Master 1, Worker 1", NULL,
     "master-0=Pending worker-0=Running", "Created", "Master 0/0/0 Worker 1/0/0",
     "PyTorchJob mnist is created."},
    {"master succeeded: job succeeded", "Master 1, Worker 1", NULL,
     "master-0=Succeeded(0) worker-0=Running", "Created Succeeded", "Master 0/1/0 Worker 1/0/0",
     "PyTorchJob mnist is successfully completed."},
    {"workers succeeded, master not: still running", "Master 1, Worker 1", NULL,
     "master-0=Running worker-0=Succeeded(0)", "Created Running", "Master 1/0/0 Worker 0/1/0",
     "PyTorchJob mnist is running."},
    {"a worker failed: restarted, as is the default", "Master 1, Worker 2", NULL,
     "master-0=Running worker-0=Failed(1) worker-1=Running", "Created Restarting",
     "Master 1/0/0 Worker 1/0/1", "job mnist is restarting because Worker replica(s) failed."},
    {"a worker failed, Never: job failed", "Master 1, Worker 2 Never", NULL,
     "master-0=Running worker-0=Failed(1) worker-1=Failed(1)", "Created Failed",
     "Master 1/0/0 Worker 0/0/2",
     "PyTorchJob mnist is failed because 2 Worker replica(s) failed. "
     "mnist-worker-0 exited with code 1, mnist-worker-1 exited with code 1"},
    {"a worker failed for good by its exit code", "Master 1, Worker 1 ExitCode", NULL,
     "master-0=Running worker-0=Failed(1)", "Created Failed", "Master 1/0/0 Worker 0/0/1",
     "job \"mnist\" is failing because \"Worker\" replica(s) failed. mnist-worker-0 exited with "
     "code 1"},

    {"workers alone: one running", "Worker 2", NULL, "worker-0=Pending worker-1=Running",
     "Created Running", "Worker 1/0/0", "PyTorchJob default/mnist is running."},
    {"workers alone: worker 0 is not enough", "Worker 2", NULL,
     "worker-0=Succeeded(0) worker-1=Running", "Created Running", "Worker 1/1/0",
     "PyTorchJob default/mnist is running."},
    {"workers alone: all succeeded", "Worker 2", NULL,
     "worker-0=Succeeded(0) worker-1=Succeeded(0)", "Created Succeeded", "Worker 0/2/0",
     "PyTorchJob default/mnist successfully completed."},
    {"elastic: any worker is enough", "Worker 3", "{'elasticPolicy': {}}",
     "worker-0=Running worker-1=Succeeded(0) worker-2=Running", "Created Succeeded", "Worker 2/1/0",
     "PyTorchJob default/mnist successfully completed."},
    {"elastic with a master: the master", "Master 1, Worker 1", "{'elasticPolicy': {}}",
     "master-0=Running worker-0=Succeeded(0)", "Created Running", "Master 1/0/0 Worker 0/1/0",
     "PyTorchJob mnist is running."},
};

static const char *last_message(struct job_fixture *fixture)
{
    const struct json *status =
        fixture->plan.status ? fixture->plan.status : json_get(fixture->job, "status");
    const char *message = NULL;

    JSON_EACH (condition, json_get(status, "conditions"))
        message = json_get_string(condition, "message", NULL);
    return message;
}

static void test_status(void **state)
{
    const struct status_row *row = *state;
    struct job_fixture fixture;

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, row->spec, NULL);
    fixture_set_spec(&fixture, row->more);
    fixture_pods(&fixture, row->pods);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), row->conditions);
    assert_string_equal(fixture_counts(&fixture), row->counts);
    assert_string_equal(last_message(&fixture), row->message);
    fixture_release(&fixture);
}

struct refusal_row {
    const char *rule;
    const char *spec;
    const char *more;
    const char *message; /* NULL: valid */
};

static const struct refusal_row REFUSAL_ROWS[] = {
    {"valid", "Master 1, Worker 2", NULL, NULL},
    {"valid: keys in any case", "master 1, WORKER 2", "{'elasticPolicy': {'minReplicas': 2}}",
     NULL},
    {"valid: nulls are absent", "Worker 1",
     "{'nprocPerNode': null, 'elasticPolicy': {'minReplicas': null, 'rdzvConf': null, 'rdzvHost': "
     "null, 'standalone': null, 'metrics': null, 'nProcPerNode': null}}",
     NULL},
    {"two masters", "Master 2", NULL,
     "spec.pytorchReplicaSpecs[Master].replicas: must not be more than 1, is 2"},
    {"no master", "Master 0, Worker 1", NULL,
     "spec.pytorchReplicaSpecs[Master].replicas: must be 1, is 0"},
    {"no worker", "Master 1, Worker 0", NULL,
     "spec.pytorchReplicaSpecs[Worker].replicas: must be at least 1, is 0"},
    {"a type of TFJobs", "PS 1", NULL,
     "spec.pytorchReplicaSpecs[PS]: unknown replica type, must be Master or Worker"},
    {"no container named pytorch",
     "{'pytorchReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [{'name': "
     "'tensorflow', 'image': 'x'}]}}}}}",
     NULL,
     "spec.pytorchReplicaSpecs[Worker].template.spec.containers: must have at least one container "
     "with name pytorch"},
    {"processes as a number", "Worker 1", "{'nprocPerNode': 2}",
     "spec.nprocPerNode: must be a string, is an integer; put it in quotes"},
    {"processes as another word", "Worker 1", "{'nprocPerNode': 'many'}",
     "spec.nprocPerNode: must be auto, cpu, gpu or a positive number, is \"many\""},
    {"no processes", "Worker 1", "{'nprocPerNode': '0'}",
     "spec.nprocPerNode: must be auto, cpu, gpu or a positive number, is \"0\""},
    {"elastic without workers", "Master 1", "{'elasticPolicy': {}}",
     "spec.pytorchReplicaSpecs[Worker]: must be configured if elastic policy is used"},
    {"elastic, no object", "Worker 1", "{'elasticPolicy': 'yes'}",
     "spec.elasticPolicy: must be an object, is a string"},
    {"processes in both places", "Worker 1",
     "{'nprocPerNode': '2', 'elasticPolicy': {'nProcPerNode': 2}}",
     "spec.elasticPolicy.nProcPerNode: must not be used with spec.nprocPerNode"},
    {"bounds the wrong way round", "Worker 2",
     "{'elasticPolicy': {'minReplicas': 3, 'maxReplicas': 2}}",
     "spec.elasticPolicy.minReplicas: must not be more than maxReplicas 2, is 3"},
    {"below the bounds", "Worker 1", "{'elasticPolicy': {'minReplicas': 2, 'maxReplicas': 4}}",
     "spec.pytorchReplicaSpecs[Worker].replicas: must be between elasticPolicy.minReplicas 2 and "
     "maxReplicas 4, is 1"},
    {"above the only bound", "Worker 5", "{'elasticPolicy': {'maxReplicas': 4}}",
     "spec.pytorchReplicaSpecs[Worker].replicas: must be between elasticPolicy.minReplicas 4 and "
     "maxReplicas 4, is 5"},
    {"a bound that is none", "Worker 1", "{'elasticPolicy': {'minReplicas': 0}}",
     "spec.elasticPolicy.minReplicas: must be between 1 and 10000, is 0"},
    {"a port out of range", "Worker 1", "{'elasticPolicy': {'rdzvPort': 65536}}",
     "spec.elasticPolicy.rdzvPort: must be between 1 and 65535, is 65536"},
    {"restarts as text", "Worker 1", "{'elasticPolicy': {'maxRestarts': '3'}}",
     "spec.elasticPolicy.maxRestarts: must be an integer, is a string"},
    {"an empty host", "Worker 1", "{'elasticPolicy': {'rdzvHost': ''}}",
     "spec.elasticPolicy.rdzvHost: must be a string that is not empty"},
    {"standalone as text", "Worker 1", "{'elasticPolicy': {'standalone': 'true'}}",
     "spec.elasticPolicy.standalone: must be true or false, is a string"},
    {"configuration that is no list", "Worker 1", "{'elasticPolicy': {'rdzvConf': {'a': 'b'}}}",
     "spec.elasticPolicy.rdzvConf: must be a list, is an object"},
    {"configuration without a key", "Worker 1",
     "{'elasticPolicy': {'rdzvConf': [{'key': 'a', 'value': 'b'}, {'value': 'b'}]}}",
     "spec.elasticPolicy.rdzvConf[1].key: must be given and must not contain '=' or ','"},
    {"configuration that would become two", "Worker 1",
     "{'elasticPolicy': {'rdzvConf': [{'key': 'a', 'value': 'b,c=d'}]}}",
     "spec.elasticPolicy.rdzvConf[0].value: must be a string without ','"},
    {"metrics that are no list", "Worker 1", "{'elasticPolicy': {'metrics': 'cpu'}}",
     "spec.elasticPolicy.metrics: must be a list, is a string"},
};

static void test_rejection(void **state)
{
    const struct refusal_row *row = *state;
    struct job_fixture fixture;
    struct training_job job;
    struct err err = ERR_INIT;

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, row->spec, NULL);
    fixture_set_spec(&fixture, row->more);
    int r = training_job_validate(&TRAINING_PYTORCHJOB, fixture.job, &err);
    assert_string_equal(err.message, row->message ? row->message : "");
    assert_int_equal(r, row->message ? -ERR_INVALID : 0);

    /* Even an invalid job can be read and reconciled. */
    training_job_read(&TRAINING_PYTORCHJOB, fixture.job, &job);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), row->message ? "Created Failed" : "Created");
    fixture_release(&fixture);
}

static void set_workers(struct job_fixture *fixture, int replicas)
{
    struct json *worker = json_at(fixture->job, "spec", TRAINING_PYTORCHJOB.specs, "Worker", NULL);

    json_set_int(fixture->arena, worker, "replicas", replicas);
    fixture_reconcile(fixture);
}

static void test_scaling(void **state)
{
    struct job_fixture fixture;

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, "Worker 2", NULL);
    fixture_set_spec(&fixture, "{'elasticPolicy': {'minReplicas': 1, 'maxReplicas': 3}}");
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Running worker-1=Running");
    fixture_settle(&fixture);

    set_workers(&fixture, 3);
    assert_string_equal(fixture_actions(&fixture), "+svc mnist-worker-2, +pod mnist-worker-2");
    fixture_settle(&fixture);

    /* A running job is scaled only up to its bounds, and an event says so. */
    set_workers(&fixture, 9);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_string_equal(fixture_events(&fixture),
                        "Warning ReplicasOutOfBounds: spec.pytorchReplicaSpecs[Worker].replicas: "
                        "must be between 1 and 3, is 9; the job goes on with 3");
    set_workers(&fixture, 0);
    assert_string_equal(fixture_actions(&fixture),
                        "-pod mnist-worker-1, -pod mnist-worker-2, -svc mnist-worker-1, -svc "
                        "mnist-worker-2");
    assert_string_equal(fixture_conditions(&fixture), "Created Running");
    fixture_release(&fixture);
}

/* One worker stays, because a job without workers would look like a job whose workers have all
 * succeeded. */
static void test_scaling_to_zero_keeps_one_worker(void **state)
{
    struct job_fixture fixture;

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, "Worker 2", NULL);
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Running worker-1=Running");
    fixture_settle(&fixture);
    set_workers(&fixture, 0);
    assert_string_equal(fixture_conditions(&fixture), "Created Running");
    assert_string_equal(fixture_actions(&fixture), "-pod mnist-worker-1, -svc mnist-worker-1");
    fixture_release(&fixture);
}

static void test_status_has_the_selector(void **state)
{
    struct job_fixture fixture;

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, "Master 1, Worker 2", NULL);
    fixture_settle(&fixture);
    const struct json *worker = json_at(fixture.job, "status", "replicaStatuses", "Worker", NULL);
    assert_string_equal(json_get_string(worker, "selector", ""),
                        "training.kubeflow.org/job-name=mnist,training.kubeflow.org/operator-name="
                        "pytorchjob-controller,training.kubeflow.org/replica-type=worker");
    fixture_release(&fixture);
}

static void test_deprecated_field_is_reported(void **state)
{
    struct job_fixture fixture;

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, "Worker 1", NULL);
    fixture_set_spec(&fixture, "{'elasticPolicy': {'nProcPerNode': 1}}");
    fixture_reconcile(&fixture);
    assert_non_null(strstr(fixture_events(&fixture),
                           "Warning DeprecatedField: spec.elasticPolicy.nProcPerNode is "
                           "deprecated, use spec.nprocPerNode instead"));
    fixture_release(&fixture);
}

static void test_autoscaler_of_an_elastic_job(void **state)
{
    struct job_fixture fixture;

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, "Worker 2", NULL);
    fixture_reconcile(&fixture);
    assert_null(fixture.plan.autoscaler);
    assert_false(fixture.plan.delete_autoscaler);

    fixture_set_spec(&fixture, "{'elasticPolicy': {'minReplicas': 1, 'maxReplicas': 3, 'metrics': "
                               "[{'type': 'Resource', 'resource': {'name': 'cpu'}}]}}");
    fixture_settle(&fixture);
    assert_string_equal(
        json_to_string(fixture.arena, fixture.plan.autoscaler),
        "{\"kind\":\"HorizontalPodAutoscaler\",\"metadata\":{\"name\":\"mnist\","
        "\"namespace\":\"default\",\"labels\":{\"training.kubeflow.org/operator-name\":"
        "\"pytorchjob-controller\",\"training.kubeflow.org/job-name\":\"mnist\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"PyTorchJob\","
        "\"name\":\"mnist\",\"uid\":\"job-uid\",\"controller\":true,"
        "\"blockOwnerDeletion\":true}]},\"spec\":{\"scaleTargetRef\":{\"apiVersion\":"
        "\"kubeflow.org/v1\",\"kind\":\"PyTorchJob\",\"name\":\"mnist\"},\"minReplicas\":1,"
        "\"maxReplicas\":3,\"metrics\":[{\"type\":\"Resource\",\"resource\":{\"name\":"
        "\"cpu\"}}]}}");

    /* A job that does not run is not scaled. */
    json_set(fixture.arena, json_get(fixture.job, "spec"), "runPolicy",
             read_json(fixture.arena, "{'suspend': true}"));
    fixture_settle(&fixture);
    assert_null(fixture.plan.autoscaler);
    assert_true(fixture.plan.delete_autoscaler);
    fixture_release(&fixture);
}

static void test_autoscaler_of_a_finished_job(void **state)
{
    struct job_fixture fixture;

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, "Worker 1", NULL);
    fixture_set_spec(&fixture, "{'elasticPolicy': {'metrics': [{'type': 'Resource'}]}}");
    fixture_pods(&fixture, "worker-0=Succeeded(0)");
    fixture_settle(&fixture);
    assert_null(fixture.plan.autoscaler);
    assert_true(fixture.plan.delete_autoscaler);
    fixture_release(&fixture);
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_scaling_to_zero_keeps_one_worker),
        cmocka_unit_test(test_status_has_the_selector),
        cmocka_unit_test(test_deprecated_field_is_reported),
        cmocka_unit_test(test_autoscaler_of_an_elastic_job),
        cmocka_unit_test(test_autoscaler_of_a_finished_job),
    };
    struct CMUnitTest
        tests[ARRAY_SIZE(STATUS_ROWS) + ARRAY_SIZE(REFUSAL_ROWS) + ARRAY_SIZE(others)];
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(STATUS_ROWS); i++)
        tests[count++] = (struct CMUnitTest){.name = STATUS_ROWS[i].rule,
                                             .test_func = test_status,
                                             .initial_state = (void *)&STATUS_ROWS[i]};
    for (size_t i = 0; i < ARRAY_SIZE(REFUSAL_ROWS); i++)
        tests[count++] = (struct CMUnitTest){.name = REFUSAL_ROWS[i].rule,
                                             .test_func = test_rejection,
                                             .initial_state = (void *)&REFUSAL_ROWS[i]};
    memcpy(tests + count, others, sizeof(others));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
