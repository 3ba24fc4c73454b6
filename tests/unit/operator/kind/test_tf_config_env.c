/* Tests TF_CONFIG, byte by byte. */
#include "job_fixture.h"

#include "operator/kind/tf_config_env.h"
#include "operator/reconcile/conditions.h"

#include "base/mem.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct row {
    const char *rule;
    const char *spec;
    const char *more; /* further members of the spec, or NULL */
    enum training_replica_type type;
    int index;
    const char *domain;
    const char *text; /* NULL: no TF_CONFIG */
};

#define PORT_5000                                                                                  \
    "{'tfReplicaSpecs': {'worker': {'replicas': 2, 'template': {'spec': {'containers': "           \
    "[{'name': 'tensorflow', 'image': 'tf', 'ports': [{'name': 'tfjob-port', 'containerPort': "    \
    "5000}]}]}}}, 'ps': {'template': {'spec': {'containers': [{'name': 'tensorflow', 'image': "    \
    "'tf'}]}}}}}"

static const struct row ROWS[] = {
    {"a job of one worker gets none", "Worker 1", NULL, TRAINING_WORKER, 0, NULL, NULL},
    {"a job of one chief gets none", "Chief 1, Worker 0", NULL, TRAINING_CHIEF, 0, NULL, NULL},
    {"a job of one parameter server gets none", "Worker 0, PS 1", NULL, TRAINING_PS, 0, NULL, NULL},
    {"a job of one gets none, whatever the domain", "Worker 1", NULL, TRAINING_WORKER, 0,
     "tf.training.com", NULL},
    {"chief and worker", "Chief 1, Worker 1", NULL, TRAINING_WORKER, 0, NULL,
     "{\"cluster\":{\"chief\":[\"mnist-chief-0.default.svc:2222\"],"
     "\"worker\":[\"mnist-worker-0.default.svc:2222\"]},"
     "\"task\":{\"type\":\"worker\",\"index\":0},\"environment\":\"cloud\"}"},
    {"evaluator and cluster domain", "Worker 1, PS 1, Evaluator 1", NULL, TRAINING_WORKER, 0,
     "tf.training.io",
     "{\"cluster\":{\"evaluator\":[\"mnist-evaluator-0.default.svc.tf.training.io:2222\"],"
     "\"ps\":[\"mnist-ps-0.default.svc.tf.training.io:2222\"],"
     "\"worker\":[\"mnist-worker-0.default.svc.tf.training.io:2222\"]},"
     "\"task\":{\"type\":\"worker\",\"index\":0},\"environment\":\"cloud\"}"},
    {"worker and parameter server", "Worker 1, PS 1", NULL, TRAINING_WORKER, 0, NULL,
     "{\"cluster\":{\"ps\":[\"mnist-ps-0.default.svc:2222\"],"
     "\"worker\":[\"mnist-worker-0.default.svc:2222\"]},"
     "\"task\":{\"type\":\"worker\",\"index\":0},\"environment\":\"cloud\"}"},
    {"all types sorted, evaluator included", "Worker 2, PS 1, Chief 1, Evaluator 1", NULL,
     TRAINING_EVALUATOR, 0, NULL,
     "{\"cluster\":{\"chief\":[\"mnist-chief-0.default.svc:2222\"],"
     "\"evaluator\":[\"mnist-evaluator-0.default.svc:2222\"],"
     "\"ps\":[\"mnist-ps-0.default.svc:2222\"],"
     "\"worker\":[\"mnist-worker-0.default.svc:2222\",\"mnist-worker-1.default.svc:2222\"]},"
     "\"task\":{\"type\":\"evaluator\",\"index\":0},\"environment\":\"cloud\"}"},
    {"master is called master", "Master 1, Worker 1", NULL, TRAINING_MASTER, 0, NULL,
     "{\"cluster\":{\"master\":[\"mnist-master-0.default.svc:2222\"],"
     "\"worker\":[\"mnist-worker-0.default.svc:2222\"]},"
     "\"task\":{\"type\":\"master\",\"index\":0},\"environment\":\"cloud\"}"},
    {"a type of no replicas is an empty list", "Worker 2, PS 0", NULL, TRAINING_WORKER, 1, NULL,
     "{\"cluster\":{\"ps\":[],"
     "\"worker\":[\"mnist-worker-0.default.svc:2222\",\"mnist-worker-1.default.svc:2222\"]},"
     "\"task\":{\"type\":\"worker\",\"index\":1},\"environment\":\"cloud\"}"},
    {"cluster domain", "Worker 1, PS 1", NULL, TRAINING_PS, 0, "tf.training.com",
     "{\"cluster\":{\"ps\":[\"mnist-ps-0.default.svc.tf.training.com:2222\"],"
     "\"worker\":[\"mnist-worker-0.default.svc.tf.training.com:2222\"]},"
     "\"task\":{\"type\":\"ps\",\"index\":0},\"environment\":\"cloud\"}"},
    {"a port of its own for each type, keys in any case", PORT_5000, NULL, TRAINING_PS, 0, NULL,
     "{\"cluster\":{\"ps\":[\"mnist-ps-0.default.svc:2222\"],"
     "\"worker\":[\"mnist-worker-0.default.svc:5000\",\"mnist-worker-1.default.svc:5000\"]},"
     "\"task\":{\"type\":\"ps\",\"index\":0},\"environment\":\"cloud\"}"},
    {"sparse: a worker knows itself and all parameter servers", "Worker 3, PS 2",
     "{'enableDynamicWorker': true}", TRAINING_WORKER, 1, NULL,
     "{\"cluster\":{\"worker\":{\"1\":\"mnist-worker-1.default.svc:2222\"},"
     "\"ps\":[\"mnist-ps-0.default.svc:2222\",\"mnist-ps-1.default.svc:2222\"]},"
     "\"task\":{\"type\":\"worker\",\"index\":1}}"},
    {"sparse: a parameter server knows itself", "Worker 3, PS 2", "{'enableDynamicWorker': true}",
     TRAINING_PS, 1, NULL,
     "{\"cluster\":{\"worker\":{},\"ps\":[\"mnist-ps-1.default.svc:2222\"]},"
     "\"task\":{\"type\":\"ps\",\"index\":1}}"},
    {"sparse: any other task knows no address", "Worker 3, PS 2, Chief 1",
     "{'enableDynamicWorker': true}", TRAINING_CHIEF, 0, NULL,
     "{\"cluster\":{\"worker\":{},\"ps\":[]},\"task\":{\"type\":\"chief\",\"index\":0}}"},
    {"sparse: no parameter servers at all", "Worker 2", "{'enableDynamicWorker': true}",
     TRAINING_WORKER, 0, NULL,
     "{\"cluster\":{\"worker\":{\"0\":\"mnist-worker-0.default.svc:2222\"},\"ps\":null},"
     "\"task\":{\"type\":\"worker\",\"index\":0}}"},
};

static void test_row(void **state)
{
    const struct row *row = *state;
    struct job_fixture fixture;
    struct training_job job;
    char *text;

    fixture_init(&fixture, row->spec, NULL);
    if (row->more) {
        JSON_EACH (member, read_json(fixture.arena, row->more))
            json_set(fixture.arena, json_get(fixture.job, "spec"), member->name,
                     json_clone(fixture.arena, member));
    }
    training_job_read(&TRAINING_TFJOB, fixture.job, &job);
    for (int prepared = 0; prepared < 2; prepared++) {
        if (prepared)
            training_tf_config_prepare(fixture.arena, &job, row->domain);
        text = training_tf_config(fixture.arena, &job, row->type, row->index, row->domain);
        if (row->text)
            assert_string_equal(text, row->text);
        else
            assert_null(text);
    }
    fixture_release(&fixture);
}

static void test_annotation_removes_the_evaluator(void **state)
{
    struct job_fixture fixture;
    struct training_job job;

    fixture_init(&fixture, "Worker 1, Evaluator 1", NULL);
    kube_meta_set_annotation(fixture.arena, fixture.job, TRAINING_EVALUATOR_ANNOTATION, "false");
    training_job_read(&TRAINING_TFJOB, fixture.job, &job);
    assert_string_equal(training_tf_config(fixture.arena, &job, TRAINING_EVALUATOR, 0, NULL),
                        "{\"cluster\":{\"worker\":[\"mnist-worker-0.default.svc:2222\"]},"
                        "\"task\":{\"type\":\"evaluator\",\"index\":0},"
                        "\"environment\":\"cloud\"}");
    fixture_release(&fixture);
}

static const char *tf_config_of(struct job_fixture *fixture, int replicas, const char *domain,
                                struct err *ret_err)
{
    struct training_job job;

    fixture_set_replicas(fixture, "Worker", replicas);
    training_job_read(&TRAINING_TFJOB, fixture->job, &job);
    err_clear(ret_err);
    (void)training_tf_config_check(fixture->arena, &job, domain, ret_err);
    return training_tf_config(fixture->arena, &job, TRAINING_WORKER, replicas - 1, domain);
}

/* Whether the kernel starts a program with this variable. */
static bool is_startable(struct arena *arena, const char *tf_config)
{
    char *arguments[] = {(char *)"true", NULL};
    char *environment[] = {arena_printf(arena, "TF_CONFIG=%s", tf_config), NULL};
    pid_t pid;

    if (posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environment) != 0)
        return false;
    waitpid(pid, NULL, 0);
    return true;
}

static void test_too_long_tf_config_is_rejected(void **state)
{
    static const char *const DOMAINS[] = {NULL, "cluster.local"};

    for (size_t i = 0; i < ARRAY_SIZE(DOMAINS); i++) {
        struct job_fixture fixture;
        struct err err = ERR_INIT;
        int fits = 1, large = 10000;

        fixture_init(&fixture, "Worker 1, PS 3", NULL);
        while (large - fits > 1) {
            int middle = (fits + large) / 2;
            bool refused = (tf_config_of(&fixture, middle, DOMAINS[i], &err), err.code != 0);
            *(refused ? &large : &fits) = middle;
        }
        assert_true(fits > 2000 && fits < 4000);
        if (sysconf(_SC_PAGESIZE) == 4096) {
            assert_true(
                is_startable(fixture.arena, tf_config_of(&fixture, fits, DOMAINS[i], &err)));
            assert_false(
                is_startable(fixture.arena, tf_config_of(&fixture, large, DOMAINS[i], &err)));
        }
        fixture_release(&fixture);
    }
}

/* The job fails before any pod is created. */
static void test_too_large_job_fails_before_any_pod(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 6000", NULL);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    assert_string_equal(fixture_conditions(&fixture), "Created Failed");
    assert_string_equal(
        fixture_message(&fixture, TRAINING_FAILED),
        "TFJob default/mnist is not valid: spec.tfReplicaSpecs: 6000 replicas are too many: "
        "TF_CONFIG would have 220985 bytes, and Linux allows 131072 bytes per environment "
        "variable; use fewer replicas, shorter names of the job and its namespace, or "
        "enableDynamicWorker");
    fixture_release(&fixture);
    fixture_init(&fixture, "Worker 6000", NULL);
    fixture_set_spec(&fixture, "{'enableDynamicWorker': true}");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created");
    fixture_release(&fixture);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(ROWS) + 3];

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++)
        tests[i] = (struct CMUnitTest){
            .name = ROWS[i].rule, .test_func = test_row, .initial_state = (void *)&ROWS[i]};
    tests[ARRAY_SIZE(ROWS)] =
        (struct CMUnitTest)cmocka_unit_test(test_annotation_removes_the_evaluator);
    tests[ARRAY_SIZE(ROWS) + 1] =
        (struct CMUnitTest)cmocka_unit_test(test_too_long_tf_config_is_rejected);
    tests[ARRAY_SIZE(ROWS) + 2] =
        (struct CMUnitTest)cmocka_unit_test(test_too_large_job_fails_before_any_pod);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
