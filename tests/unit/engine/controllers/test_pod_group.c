/* Tests PodGroups on a whole API, in virtual time: when pods start, which messages are written, and
 * what happens to a group when the scheduler dies while it starts the group. */
#include "api.h"

#include "base/str.h"
#include "engine/controllers/pod_group_status.h"
#include "kube/client/client.h"
#include "kube/object.h"
#include "read_json.h"
#include "served_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PODS   "/api/v1/namespaces/default/pods"
#define GROUPS "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
#define EVENTS "/api/v1/namespaces/default/events"

static struct answer post(struct api *api, const char *path, const char *text)
{
    struct answer answer = api_post(api, path, quoted(api->arena, text));
    assert_int_equal(answer.status, 201);
    return answer;
}

static void make_node(struct api *api, const char *name, const char *cpu)
{
    post(api, "/api/v1/nodes",
         arena_printf(api->arena,
                      "{'metadata': {'name': '%s'}, 'status': {'allocatable': {'cpu': "
                      "'%s'}, 'conditions': [{'type': 'Ready', 'status': 'True'}]}}",
                      name, cpu));
}

static void make_group(struct api *api, const char *name, const char *spec)
{
    post(api, GROUPS,
         arena_printf(api->arena, "{'metadata': {'name': '%s'}, 'spec': {%s}}", name, spec));
}

/* `group` NULL: a single pod. */
static void make_pod(struct api *api, const char *name, const char *group, const char *cpu)
{
    const char *label =
        group
            ? arena_printf(api->arena, "'labels': {'scheduling.x-k8s.io/pod-group': '%s'},", group)
            : "";
    post(api, PODS,
         arena_printf(api->arena,
                      "{'metadata': {%s 'name': '%s'}, 'spec': {'schedulerName': '%s',"
                      "'containers': [{'name': 'm', 'image': 'i', 'resources': {'requests': {'cpu':"
                      "'%s'}}}]}}",
                      label, name, group ? "scheduler-plugins-scheduler" : "default-scheduler",
                      cpu));
}

static const char *node_of(struct api *api, const char *pod)
{
    return api_at(api, arena_printf(api->arena, PODS "/%s", pod), "spec.nodeName");
}

static const char *waits_for(struct api *api, const char *pod)
{
    const char *path = arena_printf(api->arena, PODS "/%s", pod);
    assert_string_equal(api_at(api, path, "status.conditions.0.status"), "False");
    assert_string_equal(api_at(api, path, "status.conditions.0.reason"), "Unschedulable");
    return api_at(api, path, "status.conditions.0.message");
}

static const char *phase_of(struct api *api, const char *group)
{
    return api_at(api, arena_printf(api->arena, GROUPS "/%s", group), "status.phase");
}

static void set_phase(struct api *api, const char *pod, const char *phase)
{
    api_merge(api, arena_printf(api->arena, PODS "/%s/status", pod),
              arena_printf(api->arena, "{\"status\":{\"phase\":\"%s\"}}", phase));
}

static size_t count_events(struct api *api, const char *reason)
{
    struct answer answer =
        api_get(api, arena_printf(api->arena, EVENTS "?fieldSelector=reason%%3D%s", reason));
    return json_count(json_get(answer.json, "items"));
}

/* Goes from no pods to the whole group, and checks the messages on the way. */
static void test_whole_group_starts(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "1");
    make_pod(api, "a", "g", "1");
    api_run(api, 2000);
    assert_string_equal(waits_for(api, "a"), "pod group \"g\" does not exist");
    make_group(api, "g", "'minMember': 3");
    api_run(api, 2000);
    assert_string_equal(waits_for(api, "a"), "pod group \"g\": 1 of 3 members exist");
    assert_string_equal(phase_of(api, "g"), "Pending");
    make_pod(api, "b", "g", "1");
    make_pod(api, "c", "g", "1");
    api_run(api, 2000);
    assert_string_equal(waits_for(api, "c"),
                        "pod group \"g\" needs 3 pods at once, but only 1 fits: for the next one "
                        "0/1 nodes are available: 1 Insufficient cpu. The cluster is too small for "
                        "this even when it is empty: run 'trainyard down', then 'trainyard up "
                        "--cpus 3'");
    assert_string_equal(phase_of(api, "g"), "Scheduling");
    assert_string_equal(node_of(api, "a"), "");
    make_node(api, "n2", "1");
    api_run(api, 2000);
    assert_string_equal(node_of(api, "a"), "");
    make_node(api, "n3", "1");
    api_run(api, 2000);
    assert_string_equal(node_of(api, "a"), "n1");
    assert_string_equal(node_of(api, "b"), "n2");
    assert_string_equal(node_of(api, "c"), "n3");
    assert_string_equal(phase_of(api, "g"), "Scheduled");
    assert_string_equal(api_at(api, GROUPS "/g", "status.scheduled"), "3");
    struct answer answer = api_get(api, EVENTS "?fieldSelector=reason%3DScheduled");
    assert_string_equal(answer_at(api, &answer, "items.0.source.component"),
                        "scheduler-plugins-scheduler");
}

/* Only the second member has a rule about pods outside of the group. */
static void test_rules_of_a_later_member(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "8");
    api_merge(api, "/api/v1/nodes/n1", "{\"metadata\":{\"labels\":{\"host\":\"n1\"}}}");
    make_pod(api, "outside", NULL, "1");
    api_merge(api, PODS "/outside", "{\"metadata\":{\"labels\":{\"app\":\"x\"}}}");
    api_run(api, 2000);
    assert_string_equal(node_of(api, "outside"), "n1");
    make_group(api, "g", "'minMember': 2");
    make_pod(api, "a", "g", "1");
    post(api, PODS,
         "{'metadata': {'name': 'b', 'labels': {'scheduling.x-k8s.io/pod-group': 'g'}}, 'spec': "
         "{'containers': [{'name': 'm', 'image': 'i'}], 'affinity': {'podAntiAffinity': "
         "{'requiredDuringSchedulingIgnoredDuringExecution': [{'topologyKey': 'host', "
         "'labelSelector': {'matchLabels': {'app': 'x'}}}]}}}}");
    api_run(api, 2000);
    assert_string_equal(node_of(api, "a"), "");
    assert_string_equal(node_of(api, "b"), "");
    assert_non_null(strstr(waits_for(api, "b"), "didn't match pod anti-affinity rules"));
}

static void ignore(void *context, struct json *object, const struct err *err)
{
}

/* While a group is being created, its message is not written once per pod. */
static void test_reason_is_written_once(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "1");
    make_group(api, "g", "'minMember': 30");
    struct kube_client *client = kube_client_new(api->loop, api->transport, "test");
    for (int i = 0; i < 29; i++) {
        /* api_post() would run the loop, and so a scheduler pass per pod. */
        struct json *pod =
            kube_object_make(api->arena, &KUBE_PODS, "default", arena_printf(api->arena, "p%d", i));
        struct json *container = json_object(api->arena);
        json_set_string(api->arena, container, "name", "m");
        json_set_string(api->arena, container, "image", "i");
        json_append(json_ensure_array(api->arena, json_ensure_object(api->arena, pod, "spec"),
                                      "containers"),
                    container);
        kube_meta_set_label(api->arena, pod, "scheduling.x-k8s.io/pod-group", "g");
        kube_create(client, &KUBE_PODS, "default", pod, ignore, NULL);
        api_run(api, 10);
    }
    api_run(api, 5000);
    kube_client_free(client);
    assert_string_equal(waits_for(api, "p0"), "pod group \"g\": 29 of 30 members exist");
    assert_int_equal(count_events(api, "FailedScheduling"), 29);
}

/* There are resources for one group of two pods. One group starts as a whole, and the other starts
 * when the first has ended. */
static void test_two_groups(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "2");
    make_group(api, "g", "'minMember': 2");
    make_group(api, "h", "'minMember': 2");
    make_pod(api, "g1", "g", "1");
    make_pod(api, "h1", "h", "1");
    make_pod(api, "g2", "g", "1");
    make_pod(api, "h2", "h", "1");
    api_run(api, 2000);
    bool first = *node_of(api, "g1");
    const char *running = first ? "g" : "h", *waiting = first ? "h" : "g";
    for (int i = 1; i <= 2; i++) {
        assert_string_equal(node_of(api, arena_printf(api->arena, "%s%d", running, i)), "n1");
        assert_string_equal(node_of(api, arena_printf(api->arena, "%s%d", waiting, i)), "");
    }
    set_phase(api, arena_printf(api->arena, "%s1", running), "Succeeded");
    api_run(api, 2000);
    assert_string_equal(node_of(api, arena_printf(api->arena, "%s1", waiting)), "");
    set_phase(api, arena_printf(api->arena, "%s2", running), "Succeeded");
    api_run(api, 2000);
    for (int i = 1; i <= 2; i++)
        assert_string_equal(node_of(api, arena_printf(api->arena, "%s%d", waiting, i)), "n1");
    assert_string_equal(phase_of(api, running), "Finished");
    assert_string_equal(phase_of(api, waiting), "Scheduled");
}

/* A replaced member joins the others, and so do members beyond minMember. */
static void test_replaced_and_additional_members(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "4");
    make_group(api, "g", "'minMember': 2");
    make_pod(api, "a", "g", "1");
    make_pod(api, "b", "g", "1");
    make_pod(api, "c", "g", "1");
    api_run(api, 2000);
    assert_string_equal(node_of(api, "c"), "n1");
    set_phase(api, "a", "Running");
    set_phase(api, "b", "Running");
    api_run(api, 2000);
    assert_string_equal(phase_of(api, "g"), "Running");
    api_delete(api, PODS "/a", "{\"gracePeriodSeconds\":0}");
    make_pod(api, "d", "g", "9");
    api_run(api, 2000);
    assert_string_equal(waits_for(api, "d"), "0/1 nodes are available: 1 Insufficient cpu.");
    make_pod(api, "a", "g", "1");
    api_run(api, 2000);
    assert_string_equal(node_of(api, "a"), "n1");
    set_phase(api, "a", "Succeeded");
    set_phase(api, "b", "Succeeded");
    api_run(api, 2000);
    assert_string_equal(phase_of(api, "g"), "Finished");
}

/* All pods of a group failed: their replacements start together again. */
static void test_failed_group_restarts_together(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "2");
    make_group(api, "g", "'minMember': 2");
    make_pod(api, "a", "g", "1");
    make_pod(api, "b", "g", "1");
    api_run(api, 2000);
    set_phase(api, "a", "Failed");
    set_phase(api, "b", "Failed");
    make_pod(api, "c", "g", "1");
    api_run(api, 2000);
    assert_string_equal(phase_of(api, "g"), "Failed");
    assert_string_equal(waits_for(api, "c"), "pod group \"g\": 1 of 2 members exist");
    make_pod(api, "d", "g", "1");
    api_run(api, 2000);
    assert_string_equal(node_of(api, "c"), "n1");
    assert_string_equal(node_of(api, "d"), "n1");
}

/* The scheduler died between two bindings. The next one reserves resources for the rest before any
 * other pod gets them, even if others have waited longer. */
static void test_new_scheduler_completes_a_started_group(void **state)
{
    struct api_controlled *fixture = *state;
    struct api *api = &fixture->api;
    make_node(api, "n1", "4");
    api_run(api, 1000); /* until the taint not-ready is gone */
    engine_controllers_free(fixture->controllers);
    make_pod(api, "single1", NULL, "1");
    make_pod(api, "single2", NULL, "1");
    make_group(api, "h", "'minMember': 2");
    make_pod(api, "h1", "h", "1");
    make_pod(api, "h2", "h", "1");
    make_group(api, "g", "'minMember': 4");
    for (int i = 1; i <= 4; i++)
        make_pod(api, arena_printf(api->arena, "g%d", i), "g", "1");
    api_post(api, PODS "/g2/binding", "{\"target\":{\"name\":\"n1\"}}");
    fixture->controllers = engine_controllers_new(api->loop, api->transport, SERVED_KINDS);
    api_run(api, 2000);
    for (int i = 1; i <= 4; i++)
        assert_string_equal(node_of(api, arena_printf(api->arena, "g%d", i)), "n1");
    assert_string_equal(node_of(api, "single1"), "");
    assert_string_equal(node_of(api, "h1"), "");
}

static void test_timeout(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "1");
    make_group(api, "g", "'minMember': 2, 'scheduleTimeoutSeconds': 30");
    make_pod(api, "a", "g", "1");
    make_pod(api, "b", "g", "1");
    api_run(api, 25 * 1000);
    assert_int_equal(count_events(api, "ScheduleTimeout"), 0);
    api_run(api, 10 * 1000);
    struct answer answer = api_get(api, EVENTS "?fieldSelector=reason%3DScheduleTimeout");
    assert_string_equal(answer_at(api, &answer, "items.0.involvedObject.kind"), "PodGroup");
    assert_string_equal(
        answer_at(api, &answer, "items.0.message"),
        "not scheduled within 30 s, trying again: pod group \"g\" needs 2 pods at once, but only 1 "
        "fits: for the next one 0/1 nodes are available: 1 Insufficient cpu. The cluster is too "
        "small for this even when it is empty: run 'trainyard down', then 'trainyard up --cpus "
        "2'");
    api_run(api, 30 * 1000);
    assert_string_equal(
        api_at(api, EVENTS "?fieldSelector=reason%3DScheduleTimeout", "items.0.count"), "2");
    make_node(api, "n2", "1");
    api_run(api, 2000);
    assert_string_equal(node_of(api, "b"), "n2");
}

/* A pod of a group that names another scheduler is neither bound nor counted. */
static void test_other_scheduler(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "4");
    make_group(api, "g", "'minMember': 1");
    post(api, PODS,
         "{'metadata': {'name': 'v', 'labels': {'scheduling.x-k8s.io/pod-group': 'g'}}, 'spec':"
         "{'schedulerName': 'volcano', 'containers': [{'name': 'm', 'image': 'i'}]}}");
    api_run(api, 2000);
    assert_string_equal(node_of(api, "v"), "");
    assert_string_equal(api_at(api, PODS "/v", "status.conditions"), "");
}

/* A binding with the uid of another pod is rejected. */
static void test_binding_uid(void **state)
{
    struct api_controlled *fixture = *state;
    struct api *api = &fixture->api;
    make_pod(api, "a", NULL, "1");
    struct answer answer = api_post(
        api, PODS "/a/binding", "{\"metadata\":{\"uid\":\"other\"},\"target\":{\"name\":\"n1\"}}");
    assert_int_equal(answer.status, 409);
    assert_string_equal(node_of(api, "a"), "");
}

/* ---- The status alone ------------------------------------------------------------------------ */

static void test_phases(void **state)
{
    /* One letter per pod: w waits, b bound, r runs, s succeeded, f failed, d runs and is being
     * deleted. */
    static const struct {
        const char *pods;
        const char *before, *phase;
    } rows[] = {
        {"", "", "Pending"},           {"w", "", "Pending"},           {"ww", "", "Scheduling"},
        {"wb", "", "Scheduling"},      {"bb", "", "Scheduled"},        {"br", "", "Scheduled"},
        {"rr", "", "Running"},         {"rrw", "", "Running"},         {"rs", "", "Running"},
        {"ss", "Running", "Finished"}, {"rf", "", "Failed"},           {"fb", "", "Pending"},
        {"fbb", "", "Scheduled"},      {"", "Finished", "Finished"},   {"", "Failed", "Failed"},
        {"", "Running", "Pending"},    {"ww", "Failed", "Scheduling"}, {"dw", "", "Pending"},
    };
    static const struct {
        char letter;
        const char *pod;
    } pods[] = {
        {'w', "{\"status\":{\"phase\":\"Pending\"}}"},
        {'b', "{\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Pending\"}}"},
        {'r', "{\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Running\"}}"},
        {'s', "{\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Succeeded\"}}"},
        {'f', "{\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Failed\"}}"},
        {'d', "{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":{"
              "\"nodeName\":\"n\"},\"status\":{\"phase\":\"Running\"}}"},
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct json *list[8];
        struct json *group = json_object(arena), *pod;
        json_set_int(arena, json_ensure_object(arena, group, "spec"), "minMember", 2);
        if (rows[i].before[0])
            json_set_string(arena, json_ensure_object(arena, group, "status"), "phase",
                            rows[i].before);
        size_t count = 0;
        for (const char *c = rows[i].pods; *c; c++)
            for (size_t k = 0; k < sizeof(pods) / sizeof(pods[0]); k++)
                if (pods[k].letter == *c) {
                    assert_int_equal(
                        json_parse(arena, pods[k].pod, strlen(pods[k].pod), NULL, &pod, NULL), 0);
                    list[count++] = pod;
                }
        const struct json *status = pod_group_status(arena, group, list, count, 1000);
        if (!str_eq(json_get_string(status, "phase", ""), rows[i].phase))
            fail_msg("'%s' after '%s' is %s", rows[i].pods, rows[i].before,
                     json_to_string(arena, status));
    }
    arena_free(arena);
}

int main(void)
{
#define FIXTURE_TEST(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, api_controlled_setup, api_controlled_teardown)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_whole_group_starts),
        FIXTURE_TEST(test_rules_of_a_later_member),
        FIXTURE_TEST(test_reason_is_written_once),
        FIXTURE_TEST(test_two_groups),
        FIXTURE_TEST(test_replaced_and_additional_members),
        FIXTURE_TEST(test_failed_group_restarts_together),
        FIXTURE_TEST(test_new_scheduler_completes_a_started_group),
        FIXTURE_TEST(test_timeout),
        FIXTURE_TEST(test_other_scheduler),
        FIXTURE_TEST(test_binding_uid),
        cmocka_unit_test(test_phases),
    };
    int failed = 0;
    for (api_seed = 1; api_seed <= API_SEEDS && failed == 0; api_seed++)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
