/* Tests the environment of PyTorchJobs' replicas: which variables, in which order, with which
 * values. */
#include "job_fixture.h"

#include "operator/kind/training_job.h"
#include "operator/reconcile/pod_template.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct row {
    const char *rule;
    const char *spec;
    const char *more; /* further members of the spec, or NULL */
    enum training_replica_type type;
    int index;
    const char *environment;
};

static const struct row ROWS[] = {
    {"the master", "Master 1, Worker 2", NULL, TRAINING_MASTER, 0,
     "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 MASTER_ADDR=mnist-master-0 "
     "PET_MASTER_ADDR=mnist-master-0 WORLD_SIZE=3 RANK=0 PET_NODE_RANK=0 PET_NPROC_PER_NODE=auto "
     "PET_NNODES=3"},
    {"a worker has the rank after the master's", "Master 1, Worker 2", NULL, TRAINING_WORKER, 1,
     "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 MASTER_ADDR=mnist-master-0 "
     "PET_MASTER_ADDR=mnist-master-0 WORLD_SIZE=3 RANK=2 PET_NODE_RANK=2 PET_NPROC_PER_NODE=auto "
     "PET_NNODES=3"},
    {"processes a node count for the world", "Master 1, Worker 2", "{'nprocPerNode': '4'}",
     TRAINING_WORKER, 0,
     "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 MASTER_ADDR=mnist-master-0 "
     "PET_MASTER_ADDR=mnist-master-0 WORLD_SIZE=12 RANK=1 PET_NODE_RANK=1 PET_NPROC_PER_NODE=4 "
     "PET_NNODES=3"},
    {"a number of processes that is not known yet counts as one", "Master 1",
     "{'nprocPerNode': 'gpu'}", TRAINING_MASTER, 0,
     "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 MASTER_ADDR=mnist-master-0 "
     "PET_MASTER_ADDR=mnist-master-0 WORLD_SIZE=1 RANK=0 PET_NODE_RANK=0 PET_NPROC_PER_NODE=gpu "
     "PET_NNODES=1"},
    {"workers alone", "Worker 2", NULL, TRAINING_WORKER, 1,
     "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_NNODES=2"},
    {"elastic, nothing said", "Worker 3", "{'elasticPolicy': {}}", TRAINING_WORKER, 2,
     "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=mnist-worker-0:23456 "
     "PET_RDZV_BACKEND=c10d PET_NNODES=3:3"},
    {"elastic, one bound gives the other", "Worker 2", "{'elasticPolicy': {'maxReplicas': 2}}",
     TRAINING_WORKER, 0,
     "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=mnist-worker-0:23456 "
     "PET_RDZV_BACKEND=c10d PET_NNODES=2:2"},
    {"elastic, everything said", "Worker 2",
     "{'nprocPerNode': 'cpu', 'elasticPolicy': {'minReplicas': 1, 'maxReplicas': 4, 'rdzvBackend': "
     "'etcd-v2', 'rdzvHost': 'etcd', 'rdzvPort': 2379, 'rdzvId': 'run', 'rdzvConf': [{'key': "
     "'timeout', 'value': '60'}, {'key': 'a', 'value': 'b=c'}], 'standalone': true, 'maxRestarts': "
     "10}}",
     TRAINING_WORKER, 0,
     "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=cpu PET_RDZV_ENDPOINT=etcd:2379 "
     "PET_RDZV_BACKEND=etcd-v2 PET_NNODES=1:4 PET_MAX_RESTARTS=10 PET_RDZV_ID=run "
     "PET_RDZV_CONF=timeout=60,a=b=c PET_STANDALONE=1"},
    {"elastic, the old place of processes a node", "Worker 1",
     "{'elasticPolicy': {'nProcPerNode': 2, 'rdzvConf': [], 'standalone': false}}", TRAINING_WORKER,
     0,
     "PYTHONUNBUFFERED=1 PET_RDZV_ENDPOINT=mnist-worker-0:23456 PET_RDZV_BACKEND=c10d "
     "PET_NNODES=1:1 PET_NPROC_PER_NODE=2"},
    {"elastic with a master has both", "Master 1, Worker 1", "{'elasticPolicy': {}}",
     TRAINING_WORKER, 0,
     "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 MASTER_ADDR=mnist-master-0 "
     "PET_MASTER_ADDR=mnist-master-0 WORLD_SIZE=2 RANK=1 PET_NODE_RANK=1 PET_NPROC_PER_NODE=auto "
     "PET_RDZV_ENDPOINT=mnist-worker-0:23456 PET_RDZV_BACKEND=c10d PET_NNODES=1:1"},
};

static void test_row(void **state)
{
    const struct row *row = *state;
    struct job_fixture fixture;
    struct training_job job;
    struct err err = ERR_INIT;
    const char *text = "";

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, row->spec, NULL);
    fixture_set_spec(&fixture, row->more);
    if (training_job_validate(&TRAINING_PYTORCHJOB, fixture.job, &err) < 0)
        fail_msg("%s", err.message);
    training_job_read(&TRAINING_PYTORCHJOB, fixture.job, &job);
    struct json *pod = training_pod_new(fixture.arena, &job, row->type, row->index, NULL);
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        JSON_EACH (variable, json_get(container, "env"))
            text = arena_printf(fixture.arena, "%s%s%s=%s", text, text[0] ? " " : "",
                                json_get_string(variable, "name", "?"),
                                json_get_string(variable, "value", "?"));
    }
    assert_string_equal(text, row->environment);
    fixture_release(&fixture);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(ROWS)];

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++)
        tests[i] = (struct CMUnitTest){
            .name = ROWS[i].rule, .test_func = test_row, .initial_state = (void *)&ROWS[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
