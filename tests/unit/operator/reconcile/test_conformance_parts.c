/* Tests the cases of Kubeflow's training operator about the parts of a job, as rows: the owner of a
 * pod or service, missing and surplus ones, and defaults. tests/conformance/README.md maps rows to
 * cases. */
#include "job_fixture.h"

#include "operator/kind/training_job.h"
#include "operator/reconcile/pod_template.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum whose { OURS, ORPHAN, ANOTHERS };

struct claim {
    const char *rule;
    enum whose whose;
    const char *label, *value; /* a label to set, or NULL */
    bool going;                /* the object is being deleted */
    bool job_going;
    const char *pod_actions, *pod_counts, *pod_events; /* expected if the object is a pod */
    const char *service_actions, *service_events;      /* expected if the object is a service */
};

#define FOREIGN_POD                                                                                \
    "Warning FailedCreatePod: Error creating: pod \"mnist-worker-0\" exists and does not belong "  \
    "to this job; delete it, or give the job another name"
#define FOREIGN_SERVICE                                                                            \
    "Warning FailedCreateService: Error creating: service \"mnist-worker-0\" exists and does not " \
    "belong to this job; delete it, or give the job another name"

static const struct claim CLAIMS[] = {
    {"ours, with our labels", OURS, NULL, NULL, false, false, "", "Worker 1/0/0", "", "", ""},
    {"nobody's: adopted", ORPHAN, NULL, NULL, false, false, "adopt pod mnist-worker-0",
     "Worker 0/0/0", "", "adopt svc mnist-worker-0", ""},
    {"nobody's, and the job is going: left alone", ORPHAN, NULL, NULL, false, true, "", "", "", "",
     ""},
    {"ours, and the job is going: left alone", OURS, NULL, NULL, false, true, "", "", "", "", ""},
    {"another's: waited for and told", ANOTHERS, NULL, NULL, false, false, "", "Worker 0/0/0",
     FOREIGN_POD, "", FOREIGN_SERVICE},
    {"ours, labelled as another type: taken away", OURS, TRAINING_TYPE_LABEL, "ps", false, false,
     "-pod mnist-worker-0, +pod mnist-worker-0", "Worker 0/0/0", "",
     "-svc mnist-worker-0, +svc mnist-worker-0", ""},
    {"ours, without a type: taken away", OURS, TRAINING_TYPE_LABEL, "", false, false,
     "-pod mnist-worker-0, +pod mnist-worker-0", "Worker 0/0/0", "",
     "-svc mnist-worker-0, +svc mnist-worker-0", ""},
    {"ours, without an index: taken away", OURS, TRAINING_INDEX_LABEL, "", false, false,
     "-pod mnist-worker-0, +pod mnist-worker-0", "Worker 0/0/0", "",
     "-svc mnist-worker-0, +svc mnist-worker-0", ""},
    {"nobody's, and going: waited for", ORPHAN, NULL, NULL, true, false, "", "Worker 0/0/0", "", "",
     ""},
};

static void change_owner_and_labels(struct job_fixture *fixture, struct json *object,
                                    const struct claim *claim)
{
    struct json *metadata = json_get(object, "metadata");

    if (claim->whose == ORPHAN)
        json_remove(metadata, "ownerReferences");
    else if (claim->whose == ANOTHERS)
        json_set_string(fixture->arena, json_element(json_get(metadata, "ownerReferences"), 0),
                        "uid", "another-uid");
    if (claim->label)
        kube_meta_set_label(fixture->arena, object, claim->label, claim->value);
    if (claim->going)
        json_set_string(fixture->arena, metadata, "deletionTimestamp", "2026-11-15T02:00:30Z");
    if (claim->job_going)
        json_set_string(fixture->arena, json_get(fixture->job, "metadata"), "deletionTimestamp",
                        "2026-11-15T02:00:00Z");
}

static void test_owner_and_labels(void **state)
{
    const struct claim *claim = *state;
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Running");
    change_owner_and_labels(&fixture, fixture.pods[0], claim);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), claim->pod_actions);
    assert_string_equal(fixture_counts(&fixture), claim->pod_counts);
    assert_string_equal(fixture_events(&fixture), claim->pod_events);
    fixture_release(&fixture);

    fixture_init(&fixture, "Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Running");
    change_owner_and_labels(&fixture, fixture.services[0], claim);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), claim->service_actions);
    assert_string_equal(fixture_events(&fixture), claim->service_events);
    fixture_release(&fixture);
}

struct slice {
    const char *rule;
    const char *spec, *pods;
    const char *actions;
};

static const struct slice SLICES[] = {
    {"3 of 3: nothing", "Worker 3", "worker-0=Running worker-1=Running worker-2=Running", ""},
    {"3 of 4: one is made", "Worker 4", "worker-0=Running worker-1=Running worker-2=Running",
     "+svc mnist-worker-3, +pod mnist-worker-3"},
    {"3 of 2: the last goes", "Worker 2", "worker-0=Running worker-1=Running worker-2=Running",
     "-pod mnist-worker-2, -svc mnist-worker-2"},
    {"a far index of 3: it goes, the gap is not filled", "Worker 3",
     "worker-0=Running worker-1=Running worker-2=Running worker-4=Running",
     "-pod mnist-worker-4, -svc mnist-worker-4"},
    {"a gap is filled", "Worker 3", "worker-0=Running worker-2=Running",
     "+svc mnist-worker-1, +pod mnist-worker-1"},
    {"types do not mix", "Worker 2, PS 1", "worker-0=Running worker-1=Running ps-0=Running", ""},
    {"two parameter servers less", "Worker 1, PS 1",
     "worker-0=Running ps-0=Running ps-1=Running ps-2=Running",
     "-pod mnist-ps-1, -pod mnist-ps-2, -svc mnist-ps-1, -svc mnist-ps-2"},
};

static void test_missing_and_surplus_replicas(void **state)
{
    const struct slice *slice = *state;
    struct job_fixture fixture;

    fixture_init(&fixture, slice->spec, NULL);
    fixture_pods(&fixture, slice->pods);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), slice->actions);
    fixture_release(&fixture);
}

static void test_removed_replica_type_is_deleted(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1, PS 1", NULL);
    fixture_pods(&fixture, "worker-0=Running ps-0=Running");
    fixture_settle(&fixture);
    json_remove(json_at(fixture.job, "spec", "tfReplicaSpecs", NULL), "PS");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "-pod mnist-ps-0, -svc mnist-ps-0");
    fixture_settle(&fixture);
    assert_string_equal(fixture_conditions(&fixture), "Created Running");
    assert_string_equal(fixture_counts(&fixture), "Worker 1/0/0");
    fixture_release(&fixture);
}

struct defaults {
    const char *rule;
    const char *key, *worker; /* entry of tfReplicaSpecs: JSON without the template */
    const char *ports;        /* ports of the container as JSON, or NULL */
    const char *run_policy;   /* JSON, or NULL */
    const char *restart_policy, *made_ports;
    int replicas;
    enum training_clean_policy clean_policy;
    bool suspended;
};

#define OUR_PORT   "[{'name': 'tfjob-port', 'containerPort': 2222}]"
#define OTHER_PORT "[{'name': 'custom', 'containerPort': 1234}]"
#define BOTH_PORTS                                                                                 \
    "[{'name': 'custom', 'containerPort': 1234}, {'name': 'tfjob-port', 'containerPort': 2222}]"

static const struct defaults DEFAULTS[] = {
    {"1 replica", "Worker", "{'restartPolicy': 'Always'}", OUR_PORT, NULL, "Always", OUR_PORT, 1,
     TRAINING_CLEAN_NONE, false},
    {"policy Never", "Worker", "{}", OUR_PORT, NULL, "Never", OUR_PORT, 1, TRAINING_CLEAN_NONE,
     false},
    {"the port, where there is none", "Worker", "{'replicas': 1, 'restartPolicy': 'Always'}", NULL,
     NULL, "Always", OUR_PORT, 1, TRAINING_CLEAN_NONE, false},
    {"the port, beside others", "Worker", "{'replicas': 1, 'restartPolicy': 'Always'}", OTHER_PORT,
     NULL, "Always", BOTH_PORTS, 1, TRAINING_CLEAN_NONE, false},
    {"a clean policy is kept", "Worker", "{'replicas': 1, 'restartPolicy': 'Always'}", OTHER_PORT,
     "{'cleanPodPolicy': 'All'}", "Always", BOTH_PORTS, 1, TRAINING_CLEAN_ALL, false},
    {"WORKER is Worker", "WORKER", "{'replicas': 3}", OUR_PORT, NULL, "Never", OUR_PORT, 3,
     TRAINING_CLEAN_NONE, false},
    {"OnFailure is the node's", "Worker", "{'restartPolicy': 'OnFailure'}", OUR_PORT, NULL,
     "OnFailure", OUR_PORT, 1, TRAINING_CLEAN_NONE, false},
    {"ExitCode is not the node's", "Worker", "{'restartPolicy': 'ExitCode'}", OUR_PORT, NULL,
     "Never", OUR_PORT, 1, TRAINING_CLEAN_NONE, false},
    {"not suspended: suspend missing", "Worker", "{}", OUR_PORT, "{}", "Never", OUR_PORT, 1,
     TRAINING_CLEAN_NONE, false},
    {"not suspended: suspend null", "Worker", "{}", OUR_PORT, "{'suspend': null}", "Never",
     OUR_PORT, 1, TRAINING_CLEAN_NONE, false},
    {"not suspended: suspend false", "Worker", "{}", OUR_PORT, "{'suspend': false}", "Never",
     OUR_PORT, 1, TRAINING_CLEAN_NONE, false},
    {"suspended", "Worker", "{}", OUR_PORT, "{'suspend': true}", "Never", OUR_PORT, 1,
     TRAINING_CLEAN_NONE, true},
};

static void make_spec(struct job_fixture *fixture, const struct defaults *row)
{
    struct arena *arena = fixture->arena;
    struct json *worker = read_json(arena, row->worker);
    struct json *template =
        read_json(arena, "{'spec': {'containers': [{'name': 'tensorflow', 'image': 'tf'}]}}");
    struct json *container = json_element(json_at(template, "spec", "containers", NULL), 0);

    if (row->ports)
        json_set(arena, container, "ports", read_json(arena, row->ports));
    json_set(arena, worker, "template", template);
    json_set(arena, json_at(fixture->job, "spec", "tfReplicaSpecs", NULL), row->key, worker);
}

static void test_defaults(void **state)
{
    const struct defaults *row = *state;
    struct job_fixture fixture;
    struct training_job job;
    const struct json *spec, *ports;

    fixture_init(&fixture, "{'tfReplicaSpecs': {}}", row->run_policy);
    make_spec(&fixture, row);
    training_job_read(&TRAINING_TFJOB, fixture.job, &job);
    assert_int_equal(job.replicas[TRAINING_WORKER].replicas, row->replicas);
    assert_int_equal(job.clean_policy, row->clean_policy);
    assert_int_equal(job.suspend, row->suspended);
    assert_int_equal(job.replicas[TRAINING_WORKER].port, 2222);

    spec = json_get(training_pod_new(fixture.arena, &job, TRAINING_WORKER, 0, NULL), "spec");
    assert_string_equal(json_get_string(spec, "restartPolicy", ""), row->restart_policy);
    ports = json_get(json_element(json_get(spec, "containers"), 0), "ports");
    assert_true(json_equal(ports, read_json(fixture.arena, row->made_ports)));
    fixture_release(&fixture);
}

static void test_chief_or_master(void **state)
{
    static const struct {
        const char *spec;
        bool has;
    } rows[] = {{"Chief 1", true},        {"Master 1", true}, {"master 1", true},
                {"Worker 1", false},      {"PS 1", false},    {"Evaluator 1", false},
                {"Worker 2, PS 1", false}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;
        struct training_job job;

        fixture_init(&fixture, rows[i].spec, NULL);
        training_job_read(&TRAINING_TFJOB, fixture.job, &job);
        assert_int_equal(training_job_has_chief(&job), rows[i].has);
        fixture_release(&fixture);
    }
}

/* A job without a uid could not own anything. */
static void test_job_without_a_uid_is_an_error(void **state)
{
    struct job_fixture fixture;
    struct err err = ERR_INIT;

    fixture_init(&fixture, "Worker 1", NULL);
    json_remove(json_get(fixture.job, "metadata"), "uid");
    struct training_observed observed =
        (struct training_observed){.kind = &TRAINING_TFJOB, .job = fixture.job};
    assert_int_equal(training_reconcile(&observed, fixture.arena, &fixture.plan, &err),
                     -ERR_INTERNAL);
    assert_string_equal(err.message, "the job to reconcile has no name or no uid");
    fixture_release(&fixture);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(CLAIMS) + ARRAY_SIZE(SLICES) + ARRAY_SIZE(DEFAULTS) + 3];
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(CLAIMS); i++)
        tests[count++] = (struct CMUnitTest){.name = CLAIMS[i].rule,
                                             .test_func = test_owner_and_labels,
                                             .initial_state = (void *)&CLAIMS[i]};
    for (size_t i = 0; i < ARRAY_SIZE(SLICES); i++)
        tests[count++] = (struct CMUnitTest){.name = SLICES[i].rule,
                                             .test_func = test_missing_and_surplus_replicas,
                                             .initial_state = (void *)&SLICES[i]};
    for (size_t i = 0; i < ARRAY_SIZE(DEFAULTS); i++)
        tests[count++] = (struct CMUnitTest){.name = DEFAULTS[i].rule,
                                             .test_func = test_defaults,
                                             .initial_state = (void *)&DEFAULTS[i]};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_removed_replica_type_is_deleted);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_chief_or_master);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_job_without_a_uid_is_an_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
