/* TF_CONFIG, byte for byte. */
#include "job_fixture.h"

#include "operator/tf_config_env.h"

#include "base/mem.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *rule;
    const char *spec;
    const char *more; /* of the spec, or NULL */
    enum training_replica_type type;
    int index;
    const char *domain;
    const char *text; /* NULL: none */
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
    {"sparse: any other knows nobody", "Worker 3, PS 2, Chief 1", "{'enableDynamicWorker': true}",
     TRAINING_CHIEF, 0, NULL,
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

static void test_evaluator_can_be_left_out(void **state)
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

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(ROWS) + 1];

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++)
        tests[i] = (struct CMUnitTest){
            .name = ROWS[i].rule, .test_func = test_row, .initial_state = (void *)&ROWS[i]};
    tests[ARRAY_SIZE(ROWS)] = (struct CMUnitTest)cmocka_unit_test(test_evaluator_can_be_left_out);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
