/* Tests progress as one line, which replica is polled for it, and whether a change affects only the
 * progress. */
#include "job_fixture.h"

#include "operator/reconcile/progress_text.h"
#include "operator/reconcile/report_location.h"

#include "base/mem.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *rule, *document, *text; /* text NULL: no progress */
};

static const struct row ROWS[] = {
    {"all of it",
     "{'step':120,'total':1000,'epoch':3,'loss':0.42,'accuracy':0.9123456,'rate':812.3,"
     "'waiting-for':'worker-1'}",
     "step 120/1000, epoch 3, loss 0.42, accuracy 0.9123, 812.3/s, waiting for worker-1"},
    {"steps alone", "{'step':7}", "step 7"},
    {"a total of nothing", "{'step':7,'total':0}", "step 7"},
    {"a total without a step", "{'total':7,'loss':1}", "loss 1"},
    {"large and small numbers", "{'step':1234567890,'loss':1e-9,'rate':123456.7}",
     "step 1234567890, loss 1e-09, 123457/s"},
    {"very large ones", "{'rate':1e300}", "1e+300/s"},
    {"a part of an epoch", "{'epoch':1.25}", "epoch 1.25"},
    {"what is null is not said", "{'step':1,'loss':null,'rate':null,'waiting-for':null}", "step 1"},
    {"what is of another type is not said", "{'step':1,'loss':'low','rate':[1],'waiting-for':1}",
     "step 1"},
    {"nothing is waited for", "{'step':1,'waiting-for':''}", "step 1"},
    {"words are cut",
     "{'waiting-for':'0123456789012345678901234567890123456789012345678901234567890'}",
     "waiting for 012345678901234567890123456789012345678901234567890123456789"},
    {"letters of all languages", "{'waiting-for':'größere Nœuds 训练 🚂 \\u00e9'}",
     "waiting for größere Nœuds 训练 🚂 é"},
    {"a letter of many bytes is one",
     "{'waiting-for':'训练训练训练训练训练训练训练训练训练训练训练训练训练训练训练"
     "训练训练训练训练训练训练训练训练训练训练训练训练训练训练训练!'}",
     "waiting for 训练训练训练训练训练训练训练训练训练训练训练训练训练训练训练"
     "训练训练训练训练训练训练训练训练训练训练训练训练训练训练训练"},
    {"nothing that a terminal would obey",
     "{'waiting-for':'a\\n\\u001b[2J\\u007f\\u009b1m\\u2028\\u202e\\u200f\\u2066\\u061cz'}",
     "waiting for a??[2J??1m?????z"},
    {"unknown members", "{'speed':1}", NULL},
    {"no object", "[1]", NULL},
    {"a string", "'step'", NULL},
    {"no JSON", "step 1", NULL},
    {"nothing", "", NULL},
};

static void test_row(void **state)
{
    const struct row *row = *state;
    struct arena *arena = arena_new();
    char *document = quoted(arena, row->document), *text = NULL;
    struct err err = ERR_INIT;

    int r = training_progress_text(arena, document, strlen(document), &text, &err);
    if (row->text) {
        assert_string_equal(err.message, "");
        assert_int_equal(r, 0);
        assert_string_equal(text, row->text);
    } else {
        assert_true(r < 0);
        assert_string_not_equal(err.message, "");
    }
    arena_free(arena);
}

static void test_too_large_document_is_rejected(void **state)
{
    struct arena *arena = arena_new();
    char *document = arena_zalloc(arena, TRAINING_PROGRESS_DOCUMENT_MAX + 2), *text;

    memset(document, ' ', TRAINING_PROGRESS_DOCUMENT_MAX + 1);
    memcpy(document, "{\"step\":1}", 10);
    assert_int_equal(
        training_progress_text(arena, document, TRAINING_PROGRESS_DOCUMENT_MAX, &text, NULL), 0);
    assert_int_equal(
        training_progress_text(arena, document, TRAINING_PROGRESS_DOCUMENT_MAX + 1, &text, NULL),
        -ERR_TOO_LARGE);
    arena_free(arena);
}

static const struct json *progress_pod(struct job_fixture *fixture, int *ret_port)
{
    return training_progress_pod((const struct json *const *)fixture->pods, fixture->pod_count,
                                 "job-uid", ret_port);
}

static void add_ports(struct job_fixture *fixture, size_t pod, const char *ports)
{
    struct json *container = json_first(json_at(fixture->pods[pod], "spec", "containers", NULL));

    JSON_EACH (port, read_json(fixture->arena, ports))
        json_append(json_get(container, "ports"), json_clone(fixture->arena, port));
}

static void test_chief_with_a_progress_port_is_polled(void **state)
{
    struct job_fixture fixture;
    int port = 0;

    fixture_init(&fixture, "Chief 1, Worker 1", NULL);
    fixture_pods(&fixture, "worker-0=Running chief-0=Running");
    add_ports(&fixture, 0, "[{'name':'progress','containerPort':1}]");
    assert_null(
        progress_pod(&fixture, &port)); /* only the chief is polled, and it has no such port */
    add_ports(&fixture, 1, "[{'name':'metrics','containerPort':9090}]");
    assert_ptr_equal(progress_pod(&fixture, &port), fixture.pods[1]);
    assert_int_equal(port, 9090);
    add_ports(&fixture, 1, "[{'name':'progress','containerPort':8000}]");
    progress_pod(&fixture, &port);
    assert_int_equal(port, 8000);

    fixture_change(&fixture, "chief-0=Pending");
    assert_null(progress_pod(&fixture, &port));
    fixture_change(&fixture, "chief-0=Succeeded(0)");
    assert_null(progress_pod(&fixture, &port));
    fixture_change(&fixture, "chief-0=Running!");
    assert_null(progress_pod(&fixture, &port));
    fixture_release(&fixture);
}

static void set_termination_message(struct job_fixture *fixture, size_t pod, const char *message)
{
    struct json *container =
        json_first(json_at(fixture->pods[pod], "status", "containerStatuses", NULL));

    json_set_string(fixture->arena, json_at(container, "state", "terminated", NULL), "message",
                    message);
}

/* Returns the progress on the job after a pass. */
static const char *annotated_progress(struct job_fixture *fixture)
{
    fixture_reconcile(fixture);
    return json_get_string(fixture->plan.annotations, TRAINING_PROGRESS_ANNOTATION, NULL);
}

/* A chief that has succeeded leaves its last step in its termination message. The job gets it
 * before the job ends. */
static void test_termination_message_has_the_last_progress(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Chief 1, Worker 1", "{'cleanPodPolicy': 'All'}");
    fixture_pods(&fixture, "chief-0=Failed(1) worker-0=Succeeded(0)");
    set_termination_message(&fixture, 0, "{\"step\":3,\"total\":9}");
    set_termination_message(&fixture, 1, "{\"step\":4,\"total\":9}");
    /* The chief has not succeeded, and no other replica is polled. */
    assert_null(annotated_progress(&fixture));
    fixture_release(&fixture);

    fixture_init(&fixture, "Chief 1, Worker 1", "{'cleanPodPolicy': 'All'}");
    fixture_pods(&fixture, "chief-0=Succeeded(0) worker-0=Running");
    assert_null(annotated_progress(&fixture));
    set_termination_message(&fixture, 0, "it is done");
    assert_null(annotated_progress(&fixture));
    set_termination_message(&fixture, 0, "{\"step\":9,\"total\":9,\"loss\":0.5}");
    assert_string_equal(annotated_progress(&fixture), "step 9/9, loss 0.5");
    assert_null(json_get(fixture.plan.annotations, TRAINING_REPORT_ANNOTATION));
    fixture_apply(&fixture);
    assert_null(annotated_progress(&fixture)); /* the job has it already */
    /* Progress that was read before the end may be written after it. */
    kube_meta_set_annotation(fixture.arena, fixture.job, TRAINING_PROGRESS_ANNOTATION, "step 7/9");
    assert_string_equal(annotated_progress(&fixture), "step 9/9, loss 0.5");
    fixture_release(&fixture);
}

/* The termination message also has the path of the report in the container. The job shows it as a
 * path in the volume. */
static void test_report_path_is_shown_in_its_volume(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Chief 1, Worker 1", NULL);
    fixture_pods(&fixture, "chief-0=Succeeded(0) worker-0=Running");
    struct json *spec =
        json_at(fixture.job, "spec", "tfReplicaSpecs", "Chief", "template", "spec", NULL);
    struct json *container = json_first(json_get(spec, "containers"));
    json_set(
        fixture.arena, spec, "volumes",
        read_json(fixture.arena, "[{'name':'v','persistentVolumeClaim':{'claimName':'models'}}]"));
    json_set(fixture.arena, container, "volumeMounts",
             read_json(fixture.arena, "[{'name':'v','mountPath':'/model'}]"));
    set_termination_message(&fixture, 0, "{\"step\":9,\"report\":\"/model/report.html\"}");
    assert_string_equal(annotated_progress(&fixture), "step 9");
    assert_string_equal(json_get_string(fixture.plan.annotations, TRAINING_REPORT_ANNOTATION, ""),
                        "report.html in claim models");
    fixture_release(&fixture);
}

static void test_worker_0_is_polled_without_a_chief(void **state)
{
    struct job_fixture fixture;
    int port = 0;

    fixture_init(&fixture, "Worker 2", NULL);
    fixture_pods(&fixture, "worker-0=Running worker-1=Running");
    add_ports(&fixture, 0, "[{'name':'progress','containerPort':8000}]");
    add_ports(&fixture, 1, "[{'name':'progress','containerPort':8000}]");
    assert_ptr_equal(progress_pod(&fixture, &port), fixture.pods[0]);
    assert_null(training_progress_pod((const struct json *const *)fixture.pods, 2, "other", &port));
    fixture_release(&fixture);
}

#define BEFORE                                                                                     \
    "{'metadata':{'uid':'u','resourceVersion':'1','annotations':{'trainyard.dev/progress':'a',"    \
    "'x':'y'}},'spec':{'a':1},'status':{'b':2}}"

static void test_progress_only_changes_are_detected(void **state)
{
    static const struct {
        const char *rule, *after;
        bool only;
    } rows[] = {
        {"nothing", BEFORE, false},
        {"the progress",
         "{'metadata':{'uid':'u','resourceVersion':'2','annotations':{'trainyard.dev/progress':"
         "'b','x':'y'}},'spec':{'a':1},'status':{'b':2}}",
         true},
        {"the progress goes",
         "{'metadata':{'uid':'u','annotations':{'x':'y'}},'spec':{'a':1},'status':{'b':2}}", true},
        {"another annotation too",
         "{'metadata':{'uid':'u','annotations':{'trainyard.dev/progress':'b','x':'z'}},'spec':{'a'"
         ":1},'status':{'b':2}}",
         false},
        {"one annotation more",
         "{'metadata':{'uid':'u','annotations':{'trainyard.dev/progress':'b','x':'y','w':'w'}},"
         "'spec':{'a':1},'status':{'b':2}}",
         false},
        {"one annotation less",
         "{'metadata':{'uid':'u','annotations':{'trainyard.dev/progress':'b'}},'spec':{'a':1},"
         "'status':{'b':2}}",
         false},
        {"the spec too",
         "{'metadata':{'uid':'u','annotations':{'trainyard.dev/progress':'b','x':'y'}},'spec':{'a'"
         ":2},'status':{'b':2}}",
         false},
        {"the status too",
         "{'metadata':{'uid':'u','annotations':{'trainyard.dev/progress':'b','x':'y'}},'spec':{'a'"
         ":1},'status':{}}",
         false},
        {"it is being deleted",
         "{'metadata':{'uid':'u','deletionTimestamp':'2026-11-15T02:00:00Z','annotations':"
         "{'trainyard.dev/progress':'b','x':'y'}},'spec':{'a':1},'status':{'b':2}}",
         false},
        {"another job of the name",
         "{'metadata':{'uid':'v','annotations':{'trainyard.dev/progress':'b','x':'y'}},'spec':{'a'"
         ":1},'status':{'b':2}}",
         false},
    };
    struct arena *arena = arena_new();

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        bool only = training_progress_is_all_that_changed(read_json(arena, BEFORE),
                                                          read_json(arena, rows[i].after));

        if (only != rows[i].only)
            fail_msg("%s", rows[i].rule);
    }
    arena_free(arena);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_SIZE(ROWS) + 6];
    size_t count = 0;

    for (; count < ARRAY_SIZE(ROWS); count++)
        tests[count] = (struct CMUnitTest){
            .name = ROWS[count].rule, .test_func = test_row, .initial_state = (void *)&ROWS[count]};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_too_large_document_is_rejected);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_chief_with_a_progress_port_is_polled);
    tests[count++] =
        (struct CMUnitTest)cmocka_unit_test(test_termination_message_has_the_last_progress);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_report_path_is_shown_in_its_volume);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_worker_0_is_polled_without_a_chief);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_progress_only_changes_are_detected);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
