/* Tests the reconciliation of Jobs, rule by rule: the input is a job and its pods, the output a
 * plan. */
#include "tree.h"

#include "base/moment.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/controllers/job/indexes.h"
#include "engine/controllers/job/job.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdlib.h>

#define START "2026-01-01T00:00:00Z"

static int64_t at(int64_t seconds) /* seconds after START */
{
    int64_t start = 0;
    assert_int_equal(moment_parse(START, &start, NULL), 0);
    return start + seconds * 1000;
}

static const char *text_at(int64_t seconds)
{
    char *text = arena_alloc(arena, MOMENT_TEXT_MAX);
    moment_format(at(seconds), text);
    return text;
}

static struct json *job(const char *spec, const char *status)
{
    return tree(arena_printf(
        arena,
        "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"namespace\":"
        "\"default\",\"uid\":\"J\"},\"spec\":{%s%s\"template\":{\"metadata\":{\"labels\":{\"a\":"
        "\"b\"}},\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"m\",\"image\":"
        "\"i\"}]}}},\"status\":{%s}}",
        spec, spec[0] ? "," : "", status));
}

/* Makes a pod from "name phase[@end] [index=I] [flags]". The flags are free (no finalizer),
 * stopped, leaving, forced, ready and restarts=N. */
static struct json *pod(const char *text)
{
    size_t count;
    char **words = str_split(arena, text, ' ', &count);
    assert_true(count >= 2);
    struct json *pod = kube_object_make(arena, &KUBE_PODS, "default", words[0]);
    struct json *meta = json_get(pod, "metadata"),
                *status = json_ensure_object(arena, pod, "status");
    char *end = strchr(words[1], '@');
    if (end) {
        *end = '\0';
        struct json *container = json_object(arena);
        json_set_string(
            arena,
            json_ensure_object(arena, json_ensure_object(arena, container, "state"), "terminated"),
            "finishedAt", text_at(atoll(end + 1)));
        json_append(json_ensure_array(arena, status, "containerStatuses"), container);
    }
    json_set_string(arena, status, "phase", words[1]);
    json_set(arena, meta, "uid", json_stringf(arena, "uid-%s", words[0]));
    json_set_string(arena, meta, "creationTimestamp", START);
    kube_meta_add_finalizer(arena, pod, JOB_FINALIZER);
    for (size_t i = 2; i < count; i++) {
        if (str_has_prefix(words[i], "index=")) {
            kube_meta_set_annotation(arena, pod, JOB_INDEX_KEY, words[i] + strlen("index="));
        } else if (str_eq(words[i], "free")) {
            kube_meta_remove_finalizer(pod, JOB_FINALIZER);
        } else if (str_eq(words[i], "stopped")) {
            kube_meta_set_annotation(arena, pod, JOB_STOPPED_ANNOTATION, "true");
        } else if (str_eq(words[i], "leaving") || str_eq(words[i], "forced")) {
            json_set_string(arena, meta, "deletionTimestamp", START);
            json_set_int(arena, meta, "deletionGracePeriodSeconds",
                         str_eq(words[i], "leaving") ? 30 : 0);
        } else if (str_eq(words[i], "ready")) {
            json_append(json_ensure_array(arena, status, "conditions"),
                        tree("{\"type\":\"Ready\",\"status\":\"True\"}"));
        } else if (str_has_prefix(words[i], "restarts=")) {
            json_append(json_ensure_array(arena, status, "containerStatuses"),
                        tree(arena_printf(arena, "{\"restartCount\":%s}", words[i] + 9)));
        } else {
            fail_msg("unknown flag '%s'", words[i]);
        }
    }
    return pod;
}

/* Plans a pass at this time. `pods` are separated by ';'. */
static struct job_plan plan_at(int64_t seconds, const struct json *object, const char *pods)
{
    static struct job_plan plan;
    VEC(const struct json *) list = {0};
    size_t count;
    char **texts = str_split(arena, pods, ';', &count);
    for (size_t i = 0; i < count; i++)
        if (texts[i][0])
            vec_push(&list, pod(texts[i]));
    struct job_observed observed = {
        .job = object, .pods = list.items, .pod_count = list.count, .now_ms = at(seconds)};
    job_reconcile(arena, &observed, &plan);
    vec_release(&list);
    return plan;
}

static const char *describe_action(const struct job_action *action)
{
    static const char *const names[] = {"release", "mark", "delete", "create", "delete-job"};
    const char *subject =
        action->type == JOB_CREATE_POD
            ? json_get_string(json_get(action->object, "metadata"), "generateName", "?")
            : kube_meta_name(action->object);
    return arena_printf(arena, "%s %s", names[action->type], subject);
}

static const char *actions(const struct job_plan *plan)
{
    const char *text = "";
    for (int type = 0; type < JOB_ACTION_TYPES; type++)
        for (size_t i = 0; i < plan->action_count; i++)
            if ((int)plan->actions[i].type == type)
                text = arena_printf(arena, "%s%s%s", text, text[0] ? ", " : "",
                                    describe_action(&plan->actions[i]));
    return text;
}

static const char *number(const struct job_plan *plan, const char *name)
{
    const struct json *value = json_get(plan->status, name);
    return value ? json_to_string(arena, value) : "-";
}

#define RUNNING "\"startTime\":\"" START "\",\"ready\":0,\"uncountedTerminatedPods\":{}"

/* The actions for a given state. */
static void test_actions(void **state)
{
    static const struct {
        const char *name, *spec, *status, *pods, *wanted;
    } rows[] = {
        {"one pod", "\"completions\":1", "", "", "create j-"},
        {"as many as may run", "\"completions\":5,\"parallelism\":2", "", "",
         "create j-, create j-"},
        {"no more than needed", "\"completions\":2,\"parallelism\":5", "", "",
         "create j-, create j-"},
        {"only what is left", "\"completions\":5,\"parallelism\":3", RUNNING ",\"succeeded\":4", "",
         "create j-"},
        {"parallelism 0 waits", "\"completions\":2,\"parallelism\":0", RUNNING, "", ""},
        {"nothing while one runs", "\"completions\":1", RUNNING, "a Running", ""},
        {"a pod on its way out may still run", "\"completions\":1", RUNNING, "a Running leaving",
         ""},
        {"one deleted by force too, for a while", "\"completions\":1", RUNNING, "a Running forced",
         ""},
        {"the least missed goes when parallelism falls", "\"completions\":9,\"parallelism\":1",
         RUNNING, "a Running ready;b Pending;c Running", "mark b, mark c, delete b, delete c"},
        {"what was marked is deleted", "\"completions\":2,\"parallelism\":2", RUNNING,
         "a Running stopped;b Running", "delete a"},
        {"work queue: as many as may run", "\"parallelism\":2", "", "", "create j-, create j-"},
        {"work queue: no new hands once it is empty", "\"parallelism\":3",
         RUNNING ",\"succeeded\":1", "a Running", ""},
        {"indexes in order", "\"completionMode\":\"Indexed\",\"completions\":3,\"parallelism\":2",
         "", "", "create j-0-, create j-1-"},
        {"indexes that are missing",
         "\"completionMode\":\"Indexed\",\"completions\":6,\"parallelism\":4",
         RUNNING ",\"completedIndexes\":\"0,2\"", "a Running index=1;b Running leaving index=3",
         "create j-4-, create j-5-"},
        {"an index twice, one beyond the last, one that is done",
         "\"completionMode\":\"Indexed\",\"completions\":3,\"parallelism\":3",
         RUNNING ",\"completedIndexes\":\"2\"",
         "a Running index=0 ready;b Pending index=0;c Running index=3;d Running index=2",
         "mark d, mark c, mark b, delete d, delete c, delete b"},
        {"an index whose pod is being stopped waits",
         "\"completionMode\":\"Indexed\",\"completions\":3,\"parallelism\":3", RUNNING,
         "a Running index=0 stopped", "delete a, create j-1-, create j-2-"},
        {"suspended: all stop", "\"completions\":2,\"parallelism\":2,\"suspend\":true", RUNNING,
         "a Running;b Succeeded", "release b, mark a, delete a"},
        {"what ended is released", "\"completions\":2", RUNNING, "a Failed", "release a"},
        {"what is in the books is released again", "\"completions\":2",
         "\"startTime\":\"" START
         "\",\"ready\":0,\"uncountedTerminatedPods\":{\"failed\":[\"uid-a\"]}",
         "a Failed", "release a"},
        {"a failed job stops its pods", "\"completions\":3,\"parallelism\":2,\"backoffLimit\":0",
         RUNNING ",\"failed\":1", "a Running;b Pending", "delete a, delete b"},
        {"a finished job frees its pods", "\"completions\":1",
         "\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]", "a Succeeded",
         "release a"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job_plan plan = plan_at(5, job(rows[i].spec, rows[i].status), rows[i].pods);
        if (!str_eq(actions(&plan), rows[i].wanted))
            fail_msg("%s: '%s', not '%s'", rows[i].name, actions(&plan), rows[i].wanted);
    }
}

static void test_counts_once(void **state)
{
    const char *spec = "\"completions\":3,\"parallelism\":3";
    struct job_plan plan = plan_at(1, job(spec, RUNNING), "a Succeeded;b Failed;c Running");
    assert_string_equal(number(&plan, "uncountedTerminatedPods"),
                        "{\"succeeded\":[\"uid-a\"],\"failed\":[\"uid-b\"]}");
    assert_string_equal(number(&plan, "succeeded"), "-");
    assert_string_equal(number(&plan, "active"), "1");
    const char *books = "\"startTime\":\"" START
                        "\",\"ready\":0,\"active\":1,\"uncountedTerminatedPods\":{\"succeeded\":["
                        "\"uid-a\"],\"failed\":[\"uid-b\"]}";
    /* The status does not change while the pods have finalizers. Then one pod is gone, and the
     * other has lost its finalizer. */
    plan = plan_at(1, job(spec, books), "a Succeeded;b Failed;c Running");
    assert_null(plan.status);
    plan = plan_at(1, job(spec, books), "b Failed free;c Running");
    assert_string_equal(number(&plan, "uncountedTerminatedPods"), "{}");
    assert_string_equal(number(&plan, "succeeded"), "1");
    assert_string_equal(number(&plan, "failed"), "1");
    /* The remaining pod is counted already and is ignored. */
    plan = plan_at(1,
                   job(spec, "\"startTime\":\"" START
                             "\",\"ready\":0,\"active\":1,\"succeeded\":1,\"failed\":1,"
                             "\"uncountedTerminatedPods\":{}"),
                   "b Failed free;c Running");
    assert_null(plan.status);
}

static void test_counted_pods(void **state)
{
    static const struct {
        const char *pod, *uncounted;
    } rows[] = {
        {"a Failed", "{\"failed\":[\"uid-a\"]}"},
        {"a Failed stopped", "{}"},
        {"a Succeeded stopped leaving", "{\"succeeded\":[\"uid-a\"]}"},
        {"a Pending forced", "{\"failed\":[\"uid-a\"]}"}, /* never started */
        {"a Running forced", "{}"},                       /* its node may still report its end */
        {"a Running leaving", "{}"},
        {"a Failed free", "{}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job_plan plan = plan_at(5, job("\"completions\":2", ""), rows[i].pod);
        assert_string_equal(number(&plan, "uncountedTerminatedPods"), rows[i].uncounted);
    }
    /* The end of a pod that was deleted by force was never reported. */
    struct job_plan plan = plan_at(11, job("\"completions\":2", ""), "a Running forced");
    assert_string_equal(number(&plan, "uncountedTerminatedPods"), "{\"failed\":[\"uid-a\"]}");
    plan = plan_at(4, job("\"completions\":2", ""), "a Running forced");
    assert_int_equal(plan.requeue_ms, 6000);
}

static void test_backoff(void **state)
{
    static const struct {
        const char *pods;
        int64_t left_s; /* seconds until the next pod, at second 100; 0: a pod is created now */
    } rows[] = {
        {"a Failed@95 free", 5},
        {"a Failed@90 free", 0},
        {"a Failed@85 free;b Failed@95 free", 15},
        {"a Failed@1 free;b Failed@1 free;c Failed@95 free", 35},
        {"a Failed@85 free;b Succeeded@90 free;c Failed@95 free", 5},
        {"a Failed@99 free;b Succeeded@99 free", 0},
        {"a Failed@99 free stopped", 0},
        {"a Failed@1 free;b Failed@1 free;c Failed@1 free;d Failed@1 free;e Failed@1 free;"
         "f Failed@1 free;g Failed@99 free",
         359},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job_plan plan =
            plan_at(100, job("\"completions\":5,\"backoffLimit\":9", RUNNING), rows[i].pods);
        if (rows[i].left_s) {
            assert_string_equal(actions(&plan), "");
            assert_int_equal(plan.requeue_ms, rows[i].left_s * 1000);
        } else {
            assert_string_equal(actions(&plan), "create j-");
        }
    }
}

static const char *condition(const struct job_plan *plan, const char *type)
{
    JSON_EACH (item, json_get(plan->status, "conditions")) {
        if (str_eq(json_get_string(item, "type", ""), type))
            return arena_printf(arena, "%s %s", json_get_string(item, "status", ""),
                                json_get_string(item, "reason", ""));
    }
    return "";
}

static void test_completion(void **state)
{
    struct job_plan plan =
        plan_at(7, job("\"completions\":1", RUNNING ",\"succeeded\":1"), "a Succeeded free");
    assert_string_equal(condition(&plan, "Complete"), "True CompletionsReached");
    assert_string_equal(json_get_string(plan.status, "completionTime", ""), text_at(7));
    assert_string_equal(plan.events[0].reason, "Completed");
    /* The job is complete only when all pods are counted and none runs. */
    plan = plan_at(7, job("\"completions\":1", RUNNING), "a Succeeded");
    assert_string_equal(condition(&plan, "Complete"), "");
    plan = plan_at(7, job("\"completions\":1", RUNNING ",\"succeeded\":1"), "a Running");
    assert_string_equal(condition(&plan, "Complete"), "");
    assert_string_equal(actions(&plan), "mark a, delete a");
    /* A job with 0 completions is complete at once. A work queue is complete when its last pod has
     * ended. */
    plan = plan_at(7, job("\"completions\":0", ""), "");
    assert_string_equal(condition(&plan, "Complete"), "True CompletionsReached");
    plan = plan_at(7, job("\"parallelism\":2", RUNNING ",\"succeeded\":1"), "a Running");
    assert_string_equal(condition(&plan, "Complete"), "");
    plan = plan_at(7, job("\"parallelism\":2", RUNNING ",\"succeeded\":1"), "");
    assert_string_equal(condition(&plan, "Complete"), "True CompletionsReached");
    plan = plan_at(7,
                   job("\"completionMode\":\"Indexed\",\"completions\":3,\"parallelism\":3",
                       RUNNING ",\"completedIndexes\":\"0-1\""),
                   "a Succeeded index=2");
    assert_string_equal(number(&plan, "completedIndexes"), "\"0-2\"");
    assert_string_equal(number(&plan, "succeeded"), "3");
    assert_string_equal(condition(&plan, "Complete"), "True CompletionsReached");
}

static void test_failure(void **state)
{
    struct job_plan plan =
        plan_at(7, job("\"completions\":1,\"backoffLimit\":1", RUNNING ",\"failed\":2"), "");
    assert_string_equal(condition(&plan, "Failed"), "True BackoffLimitExceeded");
    assert_string_equal(plan.events[0].reason, "BackoffLimitExceeded");
    assert_true(plan.events[0].warning);
    plan = plan_at(7, job("\"completions\":1,\"backoffLimit\":2", RUNNING ",\"failed\":2"), "");
    assert_string_equal(condition(&plan, "Failed"), "");
    /* The FailureTarget condition comes first, then the running pods end, then the Failed
     * condition. */
    plan = plan_at(60, job("\"completions\":1,\"activeDeadlineSeconds\":60", RUNNING), "a Running");
    assert_string_equal(condition(&plan, "FailureTarget"), "True DeadlineExceeded");
    assert_string_equal(condition(&plan, "Failed"), "");
    assert_string_equal(actions(&plan), "delete a");
    plan = plan_at(59, job("\"completions\":1,\"activeDeadlineSeconds\":60", RUNNING), "a Running");
    assert_string_equal(condition(&plan, "FailureTarget"), "");
    assert_int_equal(plan.requeue_ms, 1000);
    /* A very long TTL does not overflow into the past. */
    plan =
        plan_at(59, job("\"completions\":1,\"activeDeadlineSeconds\":9223372036854775807", RUNNING),
                "a Running");
    assert_string_equal(condition(&plan, "FailureTarget"), "");
    assert_true(plan.requeue_ms > 0);
    /* FailureTarget stays, even if the pods succeed while they end. */
    plan = plan_at(61,
                   job("\"completions\":1", RUNNING
                       ",\"succeeded\":1,\"conditions\":[{\"type\":\"FailureTarget\",\"status\":"
                       "\"True\",\"reason\":\"DeadlineExceeded\",\"message\":\"m\"}]"),
                   "");
    assert_string_equal(condition(&plan, "Failed"), "True DeadlineExceeded");
    assert_string_equal(condition(&plan, "Complete"), "");
}

static void test_container_restarts_count_as_failures(void **state)
{
    struct json *object = job("\"completions\":1,\"backoffLimit\":3", RUNNING);
    json_set_string(arena, json_at(object, "spec", "template", "spec", NULL), "restartPolicy",
                    "OnFailure");
    struct job_plan plan = plan_at(7, object, "a Running restarts=2");
    assert_string_equal(condition(&plan, "FailureTarget"), "");
    plan = plan_at(7, object, "a Running restarts=3");
    assert_string_equal(condition(&plan, "FailureTarget"), "True BackoffLimitExceeded");
}

static void test_suspension(void **state)
{
    struct job_plan plan = plan_at(
        7, job("\"completions\":1,\"suspend\":true,\"activeDeadlineSeconds\":1", RUNNING), "");
    assert_string_equal(condition(&plan, "Suspended"), "True JobSuspended");
    assert_null(json_get(plan.status, "startTime"));
    assert_string_equal(plan.events[0].reason, "Suspended");
    plan = plan_at(9,
                   job("\"completions\":1,\"suspend\":false",
                       "\"conditions\":[{\"type\":\"Suspended\",\"status\":\"True\"}]"),
                   "");
    assert_string_equal(condition(&plan, "Suspended"), "False JobResumed");
    assert_string_equal(json_get_string(plan.status, "startTime", ""), text_at(9));
    assert_string_equal(actions(&plan), "create j-");
}

static void test_ttl_after_finished(void **state)
{
    const char *ended = "\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\","
                        "\"lastTransitionTime\":\"" START "\"}]";
    struct job_plan plan = plan_at(20, job("\"ttlSecondsAfterFinished\":30", ended), "");
    assert_string_equal(actions(&plan), "");
    assert_int_equal(plan.requeue_ms, 10 * 1000);
    plan = plan_at(30, job("\"ttlSecondsAfterFinished\":30", ended), "");
    assert_string_equal(actions(&plan), "delete-job j");
    plan = plan_at(99, job("", ended), "");
    assert_string_equal(actions(&plan), "");
    assert_int_equal(plan.requeue_ms, -1);
}

static void test_pod_of_an_index(void **state)
{
    struct json *object = job("\"completionMode\":\"Indexed\",\"completions\":4,\"parallelism\":1",
                              RUNNING ",\"completedIndexes\":\"0-2\"");
    json_set_string(arena, json_at(object, "spec", "template", "spec", NULL), "subdomain", "net");
    struct job_plan plan = plan_at(1, object, "");
    const struct json *made = plan.actions[0].object;
    assert_string_equal(json_get_string(json_get(made, "metadata"), "generateName", ""), "j-3-");
    assert_string_equal(json_get_string(json_get(made, "spec"), "hostname", ""), "j-3");
    assert_string_equal(json_get_string(json_get(made, "spec"), "subdomain", ""), "net");
    assert_string_equal(kube_meta_annotation(made, JOB_INDEX_KEY), "3");
    assert_string_equal(kube_meta_label(made, JOB_INDEX_KEY), "3");
    assert_string_equal(kube_meta_label(made, "a"), "b");
    assert_true(kube_meta_is_controlled_by(made, "J"));
    assert_true(kube_meta_has_finalizer(made, JOB_FINALIZER));
    const struct json *variable = json_element(
        json_get(json_element(json_at(made, "spec", "containers", NULL), 0), "env"), 0);
    assert_string_equal(json_to_string(arena, variable),
                        "{\"name\":\"JOB_COMPLETION_INDEX\",\"valueFrom\":{\"fieldRef\":"
                        "{\"fieldPath\":\"metadata.annotations['" JOB_INDEX_KEY "']\"}}}");
}

static void test_completed_indexes(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"0", "0"},
        {"3,1,2", "1-3"},
        {"0,1", "0,1"},
        {"0-2,4", "0-2,4"},
        {"0-2,3", "0-3"},
        {"5-9,1-3,4", "1-9"},
        {"7,x,3-1,-2,8-", "7"},
        {"1-4,2-9,20,12-15", "1-9,12-15,20"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job_indexes set;
        job_indexes_init(&set, arena);
        job_indexes_parse(&set, rows[i][0]);
        assert_string_equal(job_indexes_text(&set), rows[i][1]);
    }
    struct job_indexes set;
    job_indexes_init(&set, arena);
    job_indexes_parse(&set, "0-2,4");
    assert_true(job_indexes_has(&set, 2) && !job_indexes_has(&set, 3) && job_indexes_has(&set, 4));
    assert_int_equal(job_indexes_next_missing(&set, 0), 3);
    assert_int_equal(job_indexes_next_missing(&set, 4), 5);
    assert_int_equal(job_indexes_size(&set, 100), 4);
    assert_int_equal(job_indexes_size(&set, 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_actions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counts_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counted_pods, setup, teardown),
        cmocka_unit_test_setup_teardown(test_backoff, setup, teardown),
        cmocka_unit_test_setup_teardown(test_completion, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_container_restarts_count_as_failures, setup, teardown),
        cmocka_unit_test_setup_teardown(test_suspension, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ttl_after_finished, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pod_of_an_index, setup, teardown),
        cmocka_unit_test_setup_teardown(test_completed_indexes, setup, teardown),
    };
    return cmocka_run_group_tests_name("engine_job", tests, NULL, NULL);
}
