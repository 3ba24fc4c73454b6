/* Tests the cases of Kubeflow's training operator that cover whole jobs, as rows: what exists after
 * a few passes over a job in some state. tests/conformance/README.md maps rows to cases. */
#include "job_fixture.h"

#include "operator/reconcile/conditions.h"

#include "base/mem.h"
#include "base/moment.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PASSES = 4, NO_MATTER = -2, NEVER = -1 };

struct row {
    const char *rule;
    const char *spec, *run_policy;
    const char *status; /* the job's status so far, as JSON; NULL: none */
    const char *pods;
    const char *conditions; /* after the passes */
    int pods_left, services_left;
    bool removed;       /* the job is deleted */
    int64_t requeue_ms; /* result of the first pass */
};

/* the fixture's time is 2026-11-15T02:00:00Z */
#define BEFORE(seconds) "2026-11-15T01:59:" seconds "Z"
#define SUCCEEDED       "'conditions': [{'type': 'Succeeded', 'status': 'True'}]"
#define FAILED          "'conditions': [{'type': 'Failed', 'status': 'True'}]"
#define COMPLETED       "'completionTime': '2026-11-15T02:00:00Z'"
#define FOUR_TWO        "Worker 4 OnFailure, PS 2 OnFailure"
#define ALL_ACTIVE                                                                                 \
    "worker-0=Running worker-1=Running worker-2=Running worker-3=Running ps-0=Running "            \
    "ps-1=Running"
#define ALL_SUCCEEDED                                                                              \
    "worker-0=Succeeded(0) worker-1=Succeeded(0) worker-2=Succeeded(0) worker-3=Succeeded(0) "     \
    "ps-0=Succeeded(0) ps-1=Succeeded(0)"
#define ONE_OF_EACH "worker-0=Succeeded worker-1=Running"

static const struct row ROWS[] = {
    /* Deleting pods and services. */
    {"succeeded, Running: what runs goes", "Worker 2", "{'cleanPodPolicy': 'Running'}",
     "{" SUCCEEDED ", " COMPLETED "}", ONE_OF_EACH, "Succeeded", 1, 1, false, NEVER},
    {"suspended, Running: everything goes", "Worker 2",
     "{'cleanPodPolicy': 'Running', 'suspend': true}", NULL, ONE_OF_EACH, "Created Suspended", 0, 0,
     false, NEVER},
    {"finished, All: everything goes", "Worker 2", "{'cleanPodPolicy': 'All'}",
     "{" SUCCEEDED ", " COMPLETED "}", ONE_OF_EACH, "Succeeded", 0, 0, false, NEVER},
    {"finished, None: everything stays", "Worker 2", "{'cleanPodPolicy': 'None'}",
     "{" FAILED ", " COMPLETED "}", ONE_OF_EACH, "Failed", 2, 2, false, NEVER},
    {"suspended, None: everything goes", "Worker 2", "{'cleanPodPolicy': 'None', 'suspend': true}",
     NULL, ONE_OF_EACH, "Created Suspended", 0, 0, false, NEVER},
    {"failed by a limit, None: what runs goes, what finished stays", "Worker 2 OnFailure",
     "{'cleanPodPolicy': 'None', 'backoffLimit': 1}", NULL,
     "worker-0=Running*1 worker-1=Succeeded(0)", "Created Failed", 1, 1, false, NO_MATTER},
    {"4 workers and 2 ps running, All", FOUR_TWO, "{'cleanPodPolicy': 'All'}",
     "{" SUCCEEDED ", " COMPLETED "}", ALL_ACTIVE, "Succeeded", 0, 0, false, NEVER},
    {"4 workers and 2 ps running, Running", FOUR_TWO, "{'cleanPodPolicy': 'Running'}",
     "{" SUCCEEDED ", " COMPLETED "}", ALL_ACTIVE, "Succeeded", 0, 0, false, NEVER},
    {"4 workers and 2 ps succeeded, Running", FOUR_TWO, "{'cleanPodPolicy': 'Running'}",
     "{" SUCCEEDED ", " COMPLETED "}", ALL_SUCCEEDED, "Succeeded", 6, 6, false, NEVER},
    {"4 workers and 2 ps succeeded, None", FOUR_TWO, "{'cleanPodPolicy': 'None'}",
     "{" SUCCEEDED ", " COMPLETED "}", ALL_SUCCEEDED, "Succeeded", 6, 6, false, NEVER},

    /* Limits. */
    {"backoffLimit 0 and no restart: it goes on", "Worker 2 OnFailure", "{'backoffLimit': 0}", NULL,
     "worker-0=Running worker-1=Succeeded", "Created Running", 2, 2, false, NEVER},
    {"backoffLimit 3 and 3 restarts in place: failed", "Worker 3 OnFailure",
     "{'backoffLimit': 3, 'cleanPodPolicy': 'All'}", NULL,
     "worker-0=Running worker-1=Succeeded(0) worker-2=Running*3", "Created Failed", 0, 0, false,
     NO_MATTER},
    {"backoffLimit 4 and 1 restart in each of 4 workers: failed", FOUR_TWO,
     "{'backoffLimit': 4, 'cleanPodPolicy': 'All'}", NULL,
     "worker-0=Running*1 worker-1=Running*1 worker-2=Running*1 worker-3=Running*1 ps-0=Running "
     "ps-1=Running",
     "Created Failed", 0, 0, false, NO_MATTER},
    {"past backoffLimit, None: what runs goes", "Master 1 OnFailure, Worker 1 OnFailure",
     "{'backoffLimit': 3, 'cleanPodPolicy': 'None'}", NULL, "master-0=Running*3 worker-0=Running",
     "Created Failed", 0, 0, false, NO_MATTER},
    {"past backoffLimit, All: everything goes", "Master 1 OnFailure, Worker 1 OnFailure",
     "{'backoffLimit': 3, 'cleanPodPolicy': 'All'}", NULL, "master-0=Running*3 worker-0=Running",
     "Created Failed", 0, 0, false, NO_MATTER},
    {"past backoffLimit, Running: what runs goes", "Master 1 OnFailure, Worker 1 OnFailure",
     "{'backoffLimit': 3, 'cleanPodPolicy': 'Running'}", NULL,
     "master-0=Running*3 worker-0=Running", "Created Failed", 0, 0, false, NO_MATTER},
    {"activeDeadlineSeconds unset: it goes on", FOUR_TWO, "{'cleanPodPolicy': 'All'}",
     "{'startTime': '2026-11-14T02:00:00Z'}", ALL_ACTIVE, "Created Running", 6, 6, false, NEVER},
    {"activeDeadlineSeconds 0: failed at once", "Worker 1",
     "{'activeDeadlineSeconds': 0, 'cleanPodPolicy': 'All'}", NULL, "worker-0=Running",
     "Created Failed", 0, 0, false, NO_MATTER},
    {"activeDeadlineSeconds 2, just started: looked at again in 2 s", "Worker 1",
     "{'activeDeadlineSeconds': 2, 'cleanPodPolicy': 'All'}", NULL, "worker-0=Running",
     "Created Running", 1, 1, false, 2000},
    {"activeDeadlineSeconds 2, started 2 s ago: failed", FOUR_TWO,
     "{'activeDeadlineSeconds': 2, 'cleanPodPolicy': 'All'}", "{'startTime': '" BEFORE("58") "'}",
     ALL_ACTIVE, "Created Failed", 0, 0, false, NO_MATTER},

    /* ttlSecondsAfterFinished. */
    {"running: no expiry", "Worker 1", "{}", NULL, "worker-0=Running", "Created Running", 1, 1,
     false, NEVER},
    {"succeeded, 1 s left", "Worker 1", "{'ttlSecondsAfterFinished': 5}",
     "{" SUCCEEDED ", 'completionTime': '" BEFORE("56") "'}", "", "Succeeded", 0, 0, false, 1000},
    {"failed, 1 s left", "Worker 1", "{'ttlSecondsAfterFinished': 5}",
     "{" FAILED ", 'completionTime': '" BEFORE("56") "'}", "", "Failed", 0, 0, false, 1000},
    {"succeeded, no TTL", "Worker 1", "{}", "{" SUCCEEDED ", 'completionTime': '" BEFORE("56") "'}",
     "", "Succeeded", 0, 0, false, NEVER},
    {"succeeded, no time left", "Worker 1", "{'ttlSecondsAfterFinished': 5}",
     "{" SUCCEEDED ", 'completionTime': '" BEFORE("54") "'}", "", "Succeeded", 0, 0, true,
     NO_MATTER},
    {"succeeded without a completion time: it is set, and the TTL counts from it", "Worker 1",
     "{'ttlSecondsAfterFinished': 5}", "{" SUCCEEDED "}", "", "Succeeded", 0, 0, false, 5000},
    {"succeeded 3 s ago with TTL 3", "Worker 1", "{'ttlSecondsAfterFinished': 3}",
     "{" SUCCEEDED ", 'completionTime': '" BEFORE("57") "'}", "worker-0=Succeeded(0)", "Succeeded",
     1, 1, true, NO_MATTER},
    {"failed 3 s ago with TTL 3", "Worker 1", "{'ttlSecondsAfterFinished': 3}",
     "{" FAILED ", 'completionTime': '" BEFORE("57") "'}", "worker-0=Failed(1)", "Failed", 1, 1,
     true, NO_MATTER},
    {"finished yesterday with TTL 180", "Worker 2, Chief 1", "{'ttlSecondsAfterFinished': 180}",
     "{" SUCCEEDED ", 'completionTime': '2026-11-14T02:00:00Z'}", "", "Succeeded", 0, 0, true,
     NO_MATTER},
    {"finished now with TTL 0", "Worker 2, Chief 1", "{'ttlSecondsAfterFinished': 0}",
     "{" SUCCEEDED ", " COMPLETED "}", "", "Succeeded", 0, 0, true, NO_MATTER},
    {"suspended without TTL and completion time", "Worker 2, Chief 1", "{'suspend': true}", "{}",
     "", "Created Suspended", 0, 0, false, NEVER},
    {"suspended with TTL and no completion time", "Worker 2, Chief 1",
     "{'suspend': true, 'ttlSecondsAfterFinished': 10}", "{}", "", "Created Suspended", 0, 0, false,
     NEVER},
    {"finished, then suspended: it stays", "Worker 1",
     "{'suspend': true, 'ttlSecondsAfterFinished': 0}", "{" SUCCEEDED ", " COMPLETED "}", "",
     "Succeeded", 0, 0, false, NEVER},
};

static void test_row(void **state)
{
    const struct row *row = *state;
    struct job_fixture fixture;
    bool removed = false;

    fixture_init(&fixture, row->spec, row->run_policy);
    if (row->status)
        json_set(fixture.arena, fixture.job, "status", read_json(fixture.arena, row->status));
    fixture_pods(&fixture, row->pods);
    for (int pass = 0; pass < PASSES; pass++) {
        fixture_reconcile(&fixture);
        if (pass == 0 && row->requeue_ms != NO_MATTER)
            assert_int_equal(fixture.plan.requeue_ms, row->requeue_ms);
        for (size_t i = 0; i < fixture.plan.action_count; i++)
            removed |= fixture.plan.actions[i].type == TRAINING_DELETE_JOB;
        fixture_apply(&fixture);
    }
    assert_string_equal(fixture_conditions(&fixture), row->conditions);
    assert_int_equal(fixture.pod_count, row->pods_left);
    assert_int_equal(fixture.service_count, row->services_left);
    assert_int_equal(removed, row->removed);
    if (training_is_finished(json_get(fixture.job, "status")))
        assert_non_null(json_at(fixture.job, "status", "completionTime", NULL));
    fixture_release(&fixture);
}

/* The normal course: the result of one pass over pods in these states. */
struct step {
    const char *rule;
    const char *spec, *pods;
    int made; /* number of pods created, and as many services */
    const char *conditions, *counts;
};

static const struct step STEPS[] = {
    {"a local job is made", "Worker 1", "", 1, "Created", "Worker 0/0/0"},
    {"4 workers and 2 ps are made", "Worker 4, PS 2", "", 6, "Created", "Worker 0/0/0 PS 0/0/0"},
    {"all are pending", "Worker 4, PS 2",
     "worker-0=Pending worker-1=Pending worker-2=Pending worker-3=Pending ps-0=Pending "
     "ps-1=Pending",
     0, "Created", "Worker 0/0/0 PS 0/0/0"},
    {"all are running", "Worker 4, PS 2", ALL_ACTIVE, 0, "Created Running",
     "Worker 4/0/0 PS 2/0/0"},
    {"2 workers and 1 ps are pending: 3 are made", "Worker 4, PS 2",
     "worker-0=Pending worker-1=Pending ps-0=Pending", 3, "Created", "Worker 0/0/0 PS 0/0/0"},
    {"1 worker runs, 2 and 1 ps are pending: 2 are made", "Worker 4, PS 2",
     "worker-0=Pending worker-1=Pending worker-2=Running ps-0=Pending", 2, "Created Running",
     "Worker 1/0/0 PS 0/0/0"},
    {"1 worker succeeded, 2 and 1 ps are pending: 2 are made", "Worker 4, PS 2",
     "worker-0=Pending worker-1=Pending worker-2=Succeeded(0) ps-0=Pending", 2, "Created",
     "Worker 0/1/0 PS 0/0/0"},
    {"all succeeded", "Worker 4, PS 2", ALL_SUCCEEDED, 0, "Created Succeeded",
     "Worker 0/4/0 PS 0/2/0"},
};

static void test_one_pass(void **state)
{
    const struct step *step = *state;
    struct job_fixture fixture;
    int pods = 0, services = 0;

    fixture_init(&fixture, step->spec, NULL);
    fixture_pods(&fixture, step->pods);
    fixture_reconcile(&fixture);
    for (size_t i = 0; i < fixture.plan.action_count; i++) {
        pods += fixture.plan.actions[i].type == TRAINING_CREATE_POD;
        services += fixture.plan.actions[i].type == TRAINING_CREATE_SERVICE;
    }
    assert_int_equal(pods, step->made);
    assert_int_equal(services, step->made);
    assert_int_equal(fixture.plan.action_count, 2 * step->made);
    assert_string_equal(fixture_conditions(&fixture), step->conditions);
    assert_string_equal(fixture_counts(&fixture), step->counts);
    assert_string_equal(json_get_string(fixture.plan.status, "startTime", ""),
                        "2026-11-15T02:00:00Z");
    fixture_release(&fixture);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(ROWS) + ARRAY_SIZE(STEPS)];

    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++)
        tests[i] = (struct CMUnitTest){
            .name = ROWS[i].rule, .test_func = test_row, .initial_state = (void *)&ROWS[i]};
    for (size_t i = 0; i < ARRAY_SIZE(STEPS); i++)
        tests[ARRAY_SIZE(ROWS) + i] = (struct CMUnitTest){
            .name = STEPS[i].rule, .test_func = test_one_pass, .initial_state = (void *)&STEPS[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
