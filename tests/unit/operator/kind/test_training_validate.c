/* Tests which jobs are rejected, with their messages, and defaults. */
#include "job_fixture.h"

#include "operator/kind/training_job.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct row {
    const char *rule;
    const char *name;    /* NULL: mnist */
    const char *spec;    /* spec of the job */
    const char *policy;  /* runPolicy, or NULL */
    const char *message; /* NULL: valid */
};

#define OK_TEMPLATE "'template': {'spec': {'containers': [{'name': 'tensorflow', 'image': 'tf'}]}}"

static const struct row ROWS[] = {
    {"valid", NULL, "Chief 1 Always, Worker 2 ExitCode, PS 1 OnFailure, Evaluator 1 Never",
     "{'cleanPodPolicy': 'Running', 'backoffLimit': 0, 'activeDeadlineSeconds': 1, "
     "'ttlSecondsAfterFinished': 0, 'suspend': false}",
     NULL},
    {"valid: keys in any case", NULL, "CHIEF 1, worker 2, ps 1", NULL, NULL},
    {"valid: nulls are absent", NULL,
     "{'successPolicy': null, 'tfReplicaSpecs': {'Worker': {'replicas': null, 'restartPolicy': "
     "null, " OK_TEMPLATE "}}}",
     "{'cleanPodPolicy': null, 'backoffLimit': null}", NULL},
    {"name is no DNS-1035 label", "0-test", "Worker 1", NULL,
     "metadata.name: must be a DNS-1035 label (lower case letters, digits and '-', starting with "
     "a letter, at most 63 characters), is \"0-test\""},
    {"name so long that pod names do not fit",
     "a23456789012345678901234567890123456789012345678901234", "Worker 11", NULL,
     "metadata.name: too long: pod 'a23456789012345678901234567890123456789012345678901234-"
     "worker-10' would have 64 characters, at most 63 are allowed; shorten the job's name by 1"},
    {"the same name with fewer workers fits",
     "a23456789012345678901234567890123456789012345678901234", "Worker 10", NULL, NULL},
    {"no replica specs", NULL, "{}", NULL,
     "spec.tfReplicaSpecs: must be specified, with at least one replica type"},
    {"empty replica specs", NULL, "{'tfReplicaSpecs': {}}", NULL,
     "spec.tfReplicaSpecs: must be specified, with at least one replica type"},
    {"null replica spec", NULL, "{'tfReplicaSpecs': {'Worker': null}}", NULL,
     "spec.tfReplicaSpecs[Worker]: must be an object, is null"},
    {"unknown replica type, with a guess", NULL, "Wroker 1", NULL,
     "spec.tfReplicaSpecs[Wroker]: unknown replica type, must be Chief, Master, Worker, PS or "
     "Evaluator; did you mean 'Worker'?"},
    {"unknown replica type, without one", NULL, "Launcher 1", NULL,
     "spec.tfReplicaSpecs[Launcher]: unknown replica type, must be Chief, Master, Worker, PS or "
     "Evaluator"},
    {"one type twice", NULL, "worker 1, Worker 1", NULL,
     "spec.tfReplicaSpecs[Worker]: duplicate replica type, also given as 'worker'"},
    {"negative replicas", NULL, "Worker -1", NULL,
     "spec.tfReplicaSpecs[Worker].replicas: must not be negative, is -1"},
    {"replicas of the wrong type", NULL,
     "{'tfReplicaSpecs': {'Worker': {'replicas': '2', " OK_TEMPLATE "}}}", NULL,
     "spec.tfReplicaSpecs[Worker].replicas: must be an integer, is a string"},
    {"too many replicas in all", NULL, "Worker 6000, PS 6000", NULL,
     "spec.tfReplicaSpecs: at most 10000 replicas in total are supported, but the job has 12000"},
    {"two chiefs", NULL, "Chief 2", NULL,
     "spec.tfReplicaSpecs[Chief].replicas: must not be more than 1, is 2"},
    {"a chief and a master", NULL, "chief 1, Master 1", NULL,
     "spec.tfReplicaSpecs: must not have more than 1 Chief or Master role"},
    {"no containers", NULL,
     "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': []}}}}}", NULL,
     "spec.tfReplicaSpecs[Worker].template.spec.containers: must be specified, as a list with at "
     "least one container"},
    {"empty image", NULL,
     "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [{'name': 'tensorflow', "
     "'image': ''}]}}}}}",
     NULL,
     "spec.tfReplicaSpecs[Worker].template.spec.containers[0].image: must be given, as a string"},
    {"a container that is none", NULL,
     "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [null]}}}}}", NULL,
     "spec.tfReplicaSpecs[Worker].template.spec.containers[0]: must be an object, is null"},
    {"ports that are no list", NULL,
     "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [{'name': 'tensorflow', "
     "'image': 'tf', 'ports': {}}]}}}}}",
     NULL,
     "spec.tfReplicaSpecs[Worker].template.spec.containers[0].ports: must be a list, is an object"},
    {"an environment that is no list", NULL,
     "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [{'name': 'tensorflow', "
     "'image': 'tf', 'env': {'A': 'x'}}]}}}}}",
     NULL,
     "spec.tfReplicaSpecs[Worker].template.spec.containers[0].env: must be a list of names and "
     "values, is an object"},
    {"dynamic workers in quotes", NULL,
     "{'enableDynamicWorker': 'true', 'tfReplicaSpecs': {'Worker': {" OK_TEMPLATE "}}}", NULL,
     "spec.enableDynamicWorker: must be true or false, is a string"},
    {"a success policy of the wrong type", NULL,
     "{'successPolicy': [], 'tfReplicaSpecs': {'Worker': {" OK_TEMPLATE "}}}", NULL,
     "spec.successPolicy: must be \"\" or AllWorkers, is an array"},
    {"no container named tensorflow", NULL,
     "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [{'name': 'main', "
     "'image': 'tf'}]}}}}}",
     NULL,
     "spec.tfReplicaSpecs[Worker].template.spec.containers: must have at least one container with "
     "name tensorflow"},
    {"a port out of range", NULL,
     "{'tfReplicaSpecs': {'Worker': {'template': {'spec': {'containers': [{'name': 'tensorflow', "
     "'image': 'tf', 'ports': [{'containerPort': 65536}]}]}}}}}",
     NULL,
     "spec.tfReplicaSpecs[Worker].template.spec.containers[0].ports[0].containerPort: must be "
     "between 1 and 65535"},
    {"unknown restart policy", NULL, "Worker 1 Sometimes", NULL,
     "spec.tfReplicaSpecs[Worker].restartPolicy: must be Always, OnFailure, Never or ExitCode, is "
     "\"Sometimes\""},
    {"unknown clean policy", NULL, "Worker 1", "{'cleanPodPolicy': 'all'}",
     "spec.runPolicy.cleanPodPolicy: must be None, Running or All, is \"all\""},
    {"negative backoff limit", NULL, "Worker 1", "{'backoffLimit': -1}",
     "spec.runPolicy.backoffLimit: must not be negative, is -1"},
    {"deadline of the wrong type", NULL, "Worker 1", "{'activeDeadlineSeconds': true}",
     "spec.runPolicy.activeDeadlineSeconds: must be an integer, is a boolean"},
    {"suspend of the wrong type", NULL, "Worker 1", "{'suspend': 'yes'}",
     "spec.runPolicy.suspend: must be true or false, is a string"},
    {"a manager that exists", NULL, "Worker 1", "{'managedBy': 'kueue.x-k8s.io/multikueue'}", NULL},
    {"an unknown manager", NULL, "Worker 1", "{'managedBy': 'me'}",
     "spec.runPolicy.managedBy: must be kubeflow.org/training-operator or "
     "kueue.x-k8s.io/multikueue, is \"me\""},
    {"an empty manager", NULL, "Worker 1", "{'managedBy': ''}",
     "spec.runPolicy.managedBy: must be kubeflow.org/training-operator or "
     "kueue.x-k8s.io/multikueue, is \"\""},
    {"a manager of the wrong type", NULL, "Worker 1", "{'managedBy': 1}",
     "spec.runPolicy.managedBy: must be kubeflow.org/training-operator or "
     "kueue.x-k8s.io/multikueue, is an integer"},
    {"limits at the spec, as v1beta1 has them", NULL,
     "{'cleanPodPolicy': 'All', 'ttlSecondsAfterFinished': 1, 'activeDeadlineSeconds': 2, "
     "'backoffLimit': 3, 'tfReplicaSpecs': {'Worker': {" OK_TEMPLATE "}}}",
     NULL, NULL},
    {"an unknown clean policy at the spec", NULL,
     "{'cleanPodPolicy': 'all', 'tfReplicaSpecs': {'Worker': {" OK_TEMPLATE "}}}", NULL,
     "spec.cleanPodPolicy: must be None, Running or All, is \"all\""},
    {"a negative limit at the spec", NULL,
     "{'backoffLimit': -1, 'tfReplicaSpecs': {'Worker': {" OK_TEMPLATE "}}}", NULL,
     "spec.backoffLimit: must not be negative, is -1"},
    {"valid: a scheduling policy", NULL, "Worker 1",
     "{'schedulingPolicy': {'minAvailable': 1, 'queue': 'q', 'minResources': {'cpu': 2, 'memory': "
     "'1Gi'}, 'priorityClass': null, 'scheduleTimeoutSeconds': 0}}",
     NULL},
    {"scheduling policy of the wrong type", NULL, "Worker 1", "{'schedulingPolicy': 3}",
     "spec.runPolicy.schedulingPolicy: must be an object, is an integer"},
    {"negative minAvailable", NULL, "Worker 1", "{'schedulingPolicy': {'minAvailable': -1}}",
     "spec.runPolicy.schedulingPolicy.minAvailable: must not be negative, is -1"},
    {"a timeout of the wrong type", NULL, "Worker 1",
     "{'schedulingPolicy': {'scheduleTimeoutSeconds': '30s'}}",
     "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds: must be an integer, is a string"},
    {"a queue of the wrong type", NULL, "Worker 1", "{'schedulingPolicy': {'queue': 1}}",
     "spec.runPolicy.schedulingPolicy.queue: must be a string, is an integer"},
    {"a priority class of the wrong type", NULL, "Worker 1",
     "{'schedulingPolicy': {'priorityClass': []}}",
     "spec.runPolicy.schedulingPolicy.priorityClass: must be a string, is an array"},
    {"minResources that are no amounts", NULL, "Worker 1",
     "{'schedulingPolicy': {'minResources': {'cpu': '1', 'memory': 'much'}}}",
     "spec.runPolicy.schedulingPolicy.minResources[memory]: 'much' is not a quantity: write "
     "digits, an optional fraction, and optionally one of m k M G T P E Ki Mi Gi Ti Pi Ei or an "
     "exponent like e3"},
    {"minResources below nothing", NULL, "Worker 1",
     "{'schedulingPolicy': {'minResources': {'cpu': '-1'}}}",
     "spec.runPolicy.schedulingPolicy.minResources[cpu]: must not be negative"},
    {"unknown success policy", NULL,
     "{'successPolicy': 'AllWorker', 'tfReplicaSpecs': {'Worker': {" OK_TEMPLATE "}}}", NULL,
     "spec.successPolicy: must be \"\" or AllWorkers, is \"AllWorker\""},
};

static void test_row(void **state)
{
    const struct row *row = *state;
    struct job_fixture fixture;
    struct err err = ERR_INIT;

    fixture_init(&fixture, row->spec, row->policy);
    if (row->name)
        json_set_string(fixture.arena, json_get(fixture.job, "metadata"), "name", row->name);
    int r = training_job_validate(&TRAINING_TFJOB, fixture.job, &err);
    assert_string_equal(err.message, row->message ? row->message : "");
    assert_int_equal(r, row->message ? -ERR_INVALID : 0);

    /* Even an invalid job can be read, because it must be cleaned up. */
    struct training_job job;
    training_job_read(&TRAINING_TFJOB, fixture.job, &job);
    assert_true(training_job_total_replicas(&job) >= 0);
    fixture_release(&fixture);
}

static void test_defaults(void **state)
{
    struct job_fixture fixture;
    struct training_job job;

    fixture_init(&fixture, "{'tfReplicaSpecs': {'WORKER': {" OK_TEMPLATE "}}}", NULL);
    training_job_read(&TRAINING_TFJOB, fixture.job, &job);
    assert_true(job.replicas[TRAINING_WORKER].present);
    assert_false(job.replicas[TRAINING_PS].present);
    assert_int_equal(job.replicas[TRAINING_WORKER].replicas, 1);
    assert_int_equal(job.replicas[TRAINING_WORKER].restart_policy, TRAINING_RESTART_NEVER);
    assert_int_equal(job.replicas[TRAINING_WORKER].port, 2222);
    assert_int_equal(job.clean_policy, TRAINING_CLEAN_NONE);
    assert_int_equal(job.ttl_seconds, -1);
    assert_int_equal(job.deadline_seconds, -1);
    assert_int_equal(job.backoff_limit, -1);
    assert_false(job.suspend);
    assert_int_equal(job.success, TRAINING_SUCCESS_WORKER_0);
    assert_true(job.evaluator_in_cluster);
    fixture_release(&fixture);
}

/* Without conversion the fields of v1beta1 stay in the spec. */
static void test_limits_of_v1beta1(void **state)
{
    struct job_fixture fixture;
    struct training_job job;

    fixture_init(&fixture,
                 "{'cleanPodPolicy': 'All', 'ttlSecondsAfterFinished': 1, 'activeDeadlineSeconds': "
                 "2, 'backoffLimit': 3, 'tfReplicaSpecs': {'Ps': {" OK_TEMPLATE "}}}",
                 "{'backoffLimit': 4, 'activeDeadlineSeconds': null}");
    training_job_read(&TRAINING_TFJOB, fixture.job, &job);
    assert_true(job.replicas[TRAINING_PS].present);
    assert_int_equal(job.clean_policy, TRAINING_CLEAN_ALL);
    assert_int_equal(job.ttl_seconds, 1);
    assert_int_equal(job.deadline_seconds, 2);
    assert_int_equal(job.backoff_limit, 4); /* runPolicy takes precedence */
    fixture_release(&fixture);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(ROWS) + 2];

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++)
        tests[i] = (struct CMUnitTest){
            .name = ROWS[i].rule, .test_func = test_row, .initial_state = (void *)&ROWS[i]};
    tests[ARRAY_SIZE(ROWS)] = (struct CMUnitTest)cmocka_unit_test(test_defaults);
    tests[ARRAY_SIZE(ROWS) + 1] = (struct CMUnitTest)cmocka_unit_test(test_limits_of_v1beta1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
