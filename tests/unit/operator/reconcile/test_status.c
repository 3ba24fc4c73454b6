/* Tests how a job's state follows from its pods. Each row is a rule. */
#include "job_fixture.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct row {
    const char *rule;
    const char *spec;
    const char *more; /* further members of the spec, or NULL */
    const char *pods;
    const char *conditions, *counts;
};

static const struct row ROWS[] = {
    {"chief succeeded: job succeeded", "Chief 1, Worker 2", NULL,
     "chief-0=Succeeded(0) worker-0=Running worker-1=Running", "Created Succeeded",
     "Chief 0/1/0 Worker 2/0/0"},
    {"master counts as chief", "Master 1, Worker 1", NULL, "master-0=Succeeded(0) worker-0=Running",
     "Created Succeeded", "Master 0/1/0 Worker 1/0/0"},
    {"chief running: job running", "Chief 1, Worker 2", NULL,
     "chief-0=Running worker-0=Pending worker-1=Pending", "Created Running",
     "Chief 1/0/0 Worker 0/0/0"},
    {"chief pending: job not running although workers are", "Chief 1, Worker 1", NULL,
     "chief-0=Pending worker-0=Running", "Created", "Chief 0/0/0 Worker 1/0/0"},
    {"chief failed: job failed", "Chief 1, Worker 1", NULL, "chief-0=Failed(1) worker-0=Running",
     "Created Failed", "Chief 0/0/1 Worker 1/0/0"},
    {"chief running, all workers succeeded: still running", "Chief 1, Worker 2", NULL,
     "chief-0=Running worker-0=Succeeded(0) worker-1=Succeeded(0)", "Created Running",
     "Chief 1/0/0 Worker 0/2/0"},
    {"chief running, a worker failed: job failed", "Chief 1, Worker 2", NULL,
     "chief-0=Running worker-0=Failed(1) worker-1=Running", "Created Failed",
     "Chief 1/0/0 Worker 1/0/1"},
    {"chief running, a parameter server failed: job failed", "Chief 1, PS 2", NULL,
     "chief-0=Running ps-0=Failed(1) ps-1=Running", "Created Failed", "Chief 1/0/0 PS 1/0/1"},
    {"chief failed, workers succeeded: job failed", "Chief 1, Worker 1", NULL,
     "chief-0=Failed(1) worker-0=Succeeded(0)", "Created Failed", "Chief 0/0/1 Worker 0/1/0"},
    {"chief succeeded, a worker failed: succeeded, and only that", "Chief 1, Worker 1", NULL,
     "chief-0=Succeeded(0) worker-0=Failed(1)", "Created Succeeded", "Chief 0/1/0 Worker 0/0/1"},
    {"chief failed and restarted: restarting", "Chief 1 OnFailure, Worker 1", NULL,
     "chief-0=Failed(1) worker-0=Running", "Created Restarting", "Chief 0/0/1 Worker 1/0/0"},

    {"a worker running: job running", "Worker 4", NULL,
     "worker-0=Running worker-1=Pending worker-2=Pending worker-3=Pending", "Created Running",
     "Worker 1/0/0"},
    {"workers pending: job created", "Worker 2", NULL, "worker-0=Pending worker-1=Pending",
     "Created", "Worker 0/0/0"},
    {"all workers succeeded: job succeeded", "Worker 2", NULL,
     "worker-0=Succeeded(0) worker-1=Succeeded(0)", "Created Succeeded", "Worker 0/2/0"},
    {"some workers succeeded: job running", "Worker 4", NULL,
     "worker-0=Running worker-1=Running worker-2=Succeeded(0) worker-3=Succeeded(0)",
     "Created Running", "Worker 2/2/0"},
    {"some workers failed: job failed", "Worker 4", NULL,
     "worker-0=Running worker-1=Running worker-2=Failed(1) worker-3=Failed(1)", "Created Failed",
     "Worker 2/0/2"},
    {"some succeeded, some failed: job failed", "Worker 4", NULL,
     "worker-0=Failed(1) worker-1=Failed(1) worker-2=Succeeded(0) worker-3=Succeeded(0)",
     "Created Failed", "Worker 0/2/2"},
    {"worker 0 succeeded: job succeeded", "Worker 4, PS 1", NULL,
     "worker-0=Succeeded(0) worker-1=Running worker-2=Running worker-3=Running ps-0=Running",
     "Created Succeeded", "Worker 3/1/0 PS 1/0/0"},
    {"worker 0 without an exit code is not done", "Worker 2", NULL,
     "worker-0=Succeeded worker-1=Running", "Created Running", "Worker 1/1/0"},
    {"AllWorkers: worker 0 alone is not enough", "Worker 4", "{'successPolicy': 'AllWorkers'}",
     "worker-0=Succeeded(0) worker-1=Running worker-2=Running worker-3=Running", "Created Running",
     "Worker 3/1/0"},
    {"AllWorkers: all succeeded", "Worker 2", "{'successPolicy': 'AllWorkers'}",
     "worker-0=Succeeded(0) worker-1=Succeeded(0)", "Created Succeeded", "Worker 0/2/0"},
    {"AllWorkers: one failed", "Worker 2", "{'successPolicy': 'AllWorkers'}",
     "worker-0=Succeeded(0) worker-1=Failed(1)", "Created Failed", "Worker 0/1/1"},
    {"no worker asked for: nothing has succeeded", "Worker 0", NULL, "", "Created", "Worker 0/0/0"},
    {"parameter servers finishing have no effect", "Worker 1, PS 1", NULL,
     "worker-0=Running ps-0=Succeeded(0)", "Created Running", "Worker 1/0/0 PS 0/1/0"},
    {"an evaluator that fails fails the job", "Worker 1, Evaluator 1", NULL,
     "worker-0=Running evaluator-0=Failed(2)", "Created Failed", "Worker 1/0/0 Evaluator 0/0/1"},
    {"parameter servers alone neither run nor end", "PS 1", NULL, "ps-0=Running", "Created",
     "PS 1/0/0"},
    {"an evaluator alone neither runs nor ends", "Evaluator 1", NULL, "evaluator-0=Succeeded(0)",
     "Created", "Evaluator 0/1/0"},
    {"worker 0 succeeded, another failed: succeeded, and only that", "Worker 2", NULL,
     "worker-0=Succeeded(0) worker-1=Failed(1)", "Created Succeeded", "Worker 0/1/1"},
    {"worker 0 failed, another running: job failed", "Worker 2", NULL,
     "worker-0=Failed(1) worker-1=Running", "Created Failed", "Worker 1/0/1"},
    {"a master alone: it decides", "Master 1", NULL, "master-0=Running", "Created Running",
     "Master 1/0/0"},
    {"a chief alone: it decides", "Chief 1", NULL, "chief-0=Succeeded(0)", "Created Succeeded",
     "Chief 0/1/0"},
    {"chief, workers and all failed with codes to retry: restarting",
     "Chief 1 ExitCode, Worker 2 ExitCode, PS 1 ExitCode", NULL,
     "chief-0=Failed(130) worker-0=Failed(130) worker-1=Failed(130) ps-0=Running",
     "Created Restarting", "Chief 0/0/1 Worker 0/0/2 PS 1/0/0"},
    {"a running pod that is going counts as failed", "Worker 2 OnFailure", NULL,
     "worker-0=Running worker-1=Running!", "Created Restarting", "Worker 1/0/1"},
    {"dynamic workers may fail", "Worker 2, PS 1", "{'enableDynamicWorker': true}",
     "worker-0=Running worker-1=Failed(1) ps-0=Running", "Created Running",
     "Worker 1/0/1 PS 1/0/0"},
    {"dynamic workers may not all fail", "Worker 2, PS 1", "{'enableDynamicWorker': true}",
     "worker-0=Failed(1) worker-1=Failed(1) ps-0=Running", "Created Failed",
     "Worker 0/0/2 PS 1/0/0"},
    {"dynamic workers may all fail where a chief goes on", "Chief 1, Worker 2",
     "{'enableDynamicWorker': true}", "chief-0=Running worker-0=Failed(1) worker-1=Failed(1)",
     "Created Running", "Chief 1/0/0 Worker 0/0/2"},
};

static void test_row(void **state)
{
    const struct row *row = *state;
    struct job_fixture fixture;

    fixture_init(&fixture, row->spec, NULL);
    fixture_set_spec(&fixture, row->more);
    fixture_pods(&fixture, row->pods);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), row->conditions);
    assert_string_equal(fixture_counts(&fixture), row->counts);

    /* A terminal condition is final: later passes do not change it. */
    fixture_apply(&fixture);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_conditions(&fixture), row->conditions);
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
