/* Tests pods and nodes on a whole API with its controllers, in virtual time: the order of pods,
 * preemption, and the events about it. */
#include "api.h"

#include "base/str.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PODS "/api/v1/namespaces/default/pods"

static int setup(void **state)
{
    api_controlled_setup(state);
    api_run(*state, 1000);
    return 0;
}

static void post(struct api *api, const char *path, const char *body)
{
    struct answer answer = api_post(api, path, quoted(api->arena, body));
    if (answer.status != 201)
        fail_msg("%s: %s", path, answer.body);
}

static void make_node(struct api *api, const char *name, const char *machine)
{
    post(api, "/api/v1/nodes",
         arena_printf(api->arena,
                      "{'metadata': {'name': '%s', 'labels': {'host': '%s'}}, 'status': "
                      "{'nodeInfo': {'machineID': '%s'}, 'allocatable': {'cpu': '2'}, "
                      "'conditions': [{'type': 'Ready', 'status': 'True'}]}}",
                      name, name, machine));
}

static void make_pod(struct api *api, const char *name, int cpu, const char *more)
{
    post(api, PODS,
         arena_printf(api->arena,
                      "{'metadata': {'name': '%s', 'labels': {'app': '%s'}}, 'spec': "
                      "{'terminationGracePeriodSeconds': 5, 'containers': [{'name': 'm', 'image': "
                      "'i', 'resources': {'requests': {'cpu': '%d'}}}]%s}}",
                      name, name, cpu, more));
}

static const char *pod_at(struct api *api, const char *name, const char *path)
{
    return api_at(api, arena_printf(api->arena, PODS "/%s", name), path);
}

static const char *node_of(struct api *api, const char *name)
{
    return pod_at(api, name, "spec.nodeName");
}

static bool is_leaving(struct api *api, const char *name)
{
    return pod_at(api, name, "metadata.deletionTimestamp")[0] != '\0';
}

static void remove_pod(struct api *api, const char *name)
{
    api_delete(api, arena_printf(api->arena, PODS "/%s", name), "{\"gracePeriodSeconds\":0}");
}

/* Returns the message of the first event with this reason. */
static const char *event(struct api *api, const char *reason)
{
    struct answer events =
        api_get(api, arena_printf(api->arena, "/api/v1/events?fieldSelector=reason%%3D%s", reason));
    return answer_at(api, &events, "items.0.message");
}

static void make_classes(struct api *api)
{
    post(api, "/apis/scheduling.k8s.io/v1/priorityclasses",
         "{'metadata': {'name': 'high'}, 'value': 100}");
    post(api, "/apis/scheduling.k8s.io/v1/priorityclasses",
         "{'metadata': {'name': 'polite'}, 'value': 100, 'preemptionPolicy': 'Never'}");
}

static void test_preemption(void **state)
{
    struct api *api = *state;
    make_classes(api);
    make_node(api, "n1", "");
    make_pod(api, "low", 2, "");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "low"), "n1");
    make_pod(api, "polite", 2, ", 'priorityClassName': 'polite'");
    api_run(api, 1000);
    assert_string_equal(pod_at(api, "polite", "status.conditions.0.message"),
                        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due "
                        "to preemptionPolicy=Never.");
    assert_false(is_leaving(api, "low"));
    make_pod(api, "high", 2, ", 'priorityClassName': 'high'");
    api_run(api, 1000);
    assert_true(is_leaving(api, "low"));
    assert_string_equal(pod_at(api, "low", "metadata.deletionGracePeriodSeconds"), "5");
    assert_string_equal(pod_at(api, "low", "status.conditions.1.type"), "DisruptionTarget");
    assert_string_equal(pod_at(api, "low", "status.conditions.1.reason"), "PreemptionByScheduler");
    assert_string_equal(event(api, "Preempted"), "Preempted by default/high on node n1");
    assert_string_equal(pod_at(api, "high", "status.nominatedNodeName"), "n1");
    /* The freed resources are reserved for the pod. Neither an earlier pod of lower priority nor a
     * pod of the same priority gets them. */
    make_pod(api, "small", 1, "");
    remove_pod(api, "low");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "high"), "n1");
    assert_string_equal(node_of(api, "polite"), "");
    assert_string_equal(node_of(api, "small"), "");
    assert_string_equal(pod_at(api, "high", "status.nominatedNodeName"), "");
}

/* The pod with the highest priority gets free resources first, then the oldest pod. */
static void test_order_of_pods(void **state)
{
    struct api *api = *state;
    make_classes(api);
    make_node(api, "n1", "");
    make_pod(api, "first", 2, ", 'priorityClassName': 'high'");
    api_run(api, 1000);
    make_pod(api, "a", 2, "");
    make_pod(api, "b", 2, ", 'priorityClassName': 'polite'");
    api_run(api, 1000);
    remove_pod(api, "first");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "b"), "n1");
    assert_string_equal(node_of(api, "a"), "");
}

static void taint(struct api *api, const char *taints)
{
    api_merge(api, "/api/v1/nodes/n1",
              quoted(api->arena, arena_printf(api->arena, "{'spec': {'taints': %s}}", taints)));
}

#define DRIVES_AWAY "[{'key': 'k', 'effect': 'NoExecute'}]"

static void test_no_execute(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "");
    make_pod(api, "goes", 0, "");
    make_pod(api, "stays", 0, ", 'tolerations': [{'key': 'k', 'operator': 'Exists'}]");
    make_pod(api, "later", 0,
             ", 'tolerations': [{'key': 'k', 'operator': 'Exists', 'effect': 'NoExecute', "
             "'tolerationSeconds': 60}]");
    make_pod(api, "latest", 0,
             ", 'tolerations': [{'key': 'k', 'operator': 'Exists', 'effect': 'NoExecute', "
             "'tolerationSeconds': 9223372036854775807}]");
    api_run(api, 1000);
    taint(api, DRIVES_AWAY);
    api_run(api, 1000);
    assert_true(is_leaving(api, "goes"));
    assert_string_equal(pod_at(api, "goes", "status.conditions.1.reason"),
                        "DeletionByTaintManager");
    assert_string_equal(event(api, "TaintManagerEviction"),
                        "Marking for deletion Pod default/goes");
    assert_false(is_leaving(api, "stays"));
    api_run(api, 50 * 1000);
    assert_false(is_leaving(api, "later"));
    /* The taint is removed in time. When it is set again, the time starts again. */
    taint(api, "null");
    api_run(api, 20 * 1000);
    assert_false(is_leaving(api, "later"));
    taint(api, DRIVES_AWAY);
    api_run(api, 50 * 1000);
    assert_false(is_leaving(api, "later"));
    api_run(api, 15 * 1000);
    assert_true(is_leaving(api, "later"));
    assert_false(is_leaving(api, "stays"));
    assert_false(is_leaving(api, "latest"));
}

static void test_scheduling_gates(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "");
    make_pod(api, "held", 1, ", 'schedulingGates': [{'name': 'x.org/a'}, {'name': 'x.org/b'}]");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "held"), "");
    assert_string_equal(pod_at(api, "held", "status.conditions.0.reason"), "SchedulingGated");
    struct answer answer =
        api_merge(api, PODS "/held", "{\"spec\":{\"schedulingGates\":[{\"name\":\"x.org/c\"}]}}");
    assert_int_equal(answer.status, 422);
    assert_non_null(strstr(answer.body, "only deletion is allowed, but found new scheduling gate "
                                        "'x.org/c'"));
    api_merge(api, PODS "/held", "{\"spec\":{\"schedulingGates\":[{\"name\":\"x.org/b\"}]}}");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "held"), "");
    api_merge(api, PODS "/held", "{\"spec\":{\"schedulingGates\":null}}");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "held"), "n1");
    assert_string_equal(pod_at(api, "held", "status.conditions.0.status"), "True");
}

/* Each node offers the whole machine. Overcommitment of the machine is reported and delays no pod.
 */
static void test_overcommitment(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "m");
    make_node(api, "n2", "m");
    make_pod(api, "a", 2, "");
    api_run(api, 1000);
    assert_string_equal(event(api, "OverCommitted"), "");
    make_pod(api, "b", 2, "");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "b"), "n2");
    assert_string_equal(event(api, "OverCommitted"),
                        "the nodes of this machine share its resources: their pods request 4 cpu, "
                        "but it has only 2");
    struct answer events = api_get(api, "/api/v1/events?fieldSelector=reason%3DOverCommitted");
    /* that of the pod, and that of the node */
    assert_int_equal(json_count(json_get(events.json, "items")), 2);
    /* A full node rejects pods. */
    make_pod(api, "c", 1, "");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "c"), "");
}

/* A sidecar runs beside the other containers, so the requests of both are used up. */
static void test_sidecar_uses_resources(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "");
    make_pod(api, "a", 1,
             ", 'initContainers': [{'name': 's', 'image': 'i', 'restartPolicy': 'Always', "
             "'resources': {'requests': {'cpu': '1'}}}]");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "a"), "n1");
    make_pod(api, "b", 1, "");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "b"), "");
}

/* A pod that waits for a neighbour is scheduled when the neighbour arrives. */
static void test_pod_waits_for_an_affine_pod(void **state)
{
    struct api *api = *state;
    make_node(api, "n1", "");
    make_pod(api, "a", 0,
             ", 'affinity': {'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "
             "[{'topologyKey': 'host', 'labelSelector': {'matchLabels': {'app': 'b'}}}]}}");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "a"), "");
    make_pod(api, "b", 0, "");
    api_run(api, 1000);
    assert_string_equal(node_of(api, "a"), "n1");
}

/* Each pod of a burst is placed with regard to the pods before it. */
static void test_pods_of_a_burst_are_spread(void **state)
{
    struct api *api = *state;
    static const char apart[] =
        ", 'affinity': {'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "
        "[{'topologyKey': 'host', 'labelSelector': {'matchExpressions': [{'key': 'app', "
        "'operator': 'Exists'}]}}]}}";
    make_node(api, "n1", "");
    make_node(api, "n2", "");
    make_pod(api, "a", 0, apart);
    make_pod(api, "b", 0, apart);
    make_pod(api, "c", 0, apart);
    make_pod(api, "d", 0, "");
    api_run(api, 1000);
    assert_true(node_of(api, "a")[0] && node_of(api, "b")[0]);
    assert_string_not_equal(node_of(api, "a"), node_of(api, "b"));
    assert_string_equal(node_of(api, "c"), "");
    assert_string_equal(pod_at(api, "d", "status.conditions.0.message"),
                        "0/2 nodes are available: 2 node(s) didn't satisfy existing pods "
                        "anti-affinity rules. preemption: 0/2 nodes are available: 2 No preemption "
                        "victims found for incoming pod.");
}

/* A pod that fits on no empty node gets a message with the options of `up` that would help. */
static void test_advice(void **state)
{
    struct api *api = *state;
    make_node(api, "node-1", "m");
    make_pod(api, "large", 4, "");
    post(api, PODS,
         "{'metadata': {'name': 'gpu'}, 'spec': {'containers': [{'name': 'm', 'image': 'i', "
         "'resources': {'limits': {'nvidia.com/gpu': '1'}}}]}}");
    api_run(api, 1000);
    assert_string_equal(pod_at(api, "large", "status.conditions.0.message"),
                        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are "
                        "available: 1 Preemption is not helpful for scheduling. The cluster is too "
                        "small for this even when it is empty: run 'trainyard down', then "
                        "'trainyard up --cpus 4'");
    assert_string_equal(pod_at(api, "gpu", "status.conditions.0.message"),
                        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 "
                        "nodes are available: 1 Preemption is not helpful for scheduling. No node "
                        "has a GPU: run 'trainyard down', then 'trainyard up --fake-gpus 1' "
                        "(--fake-gpus offers GPUs that do not exist, to try jobs out)");
}

/* Two nodes on one machine with two devices. */
static void test_gpus(void **state)
{
    struct api *api = *state;
    static const char *const names[] = {"n1", "n2"};
    for (size_t i = 0; i < 2; i++) {
        make_node(api, names[i], "m");
        api_merge(api, arena_printf(api->arena, "/api/v1/nodes/%s/status", names[i]),
                  "{\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"2\"}}}");
    }
#define GPU_POD(name, init, count)                                                                 \
    "{'metadata': {'name': '" name "'}, 'spec': {" init "'containers': [{'name': 'm', 'image': "   \
    "'i', 'resources': {'limits': {'nvidia.com/gpu': '" count "'}}}, {'name': 'side', 'image': "   \
    "'i'}]}}"
    post(api, PODS, GPU_POD("a", "", "1"));
    post(api, PODS,
         GPU_POD("b",
                 "'initContainers': [{'name': 'first', 'image': 'i', 'resources': {'limits': "
                 "{'nvidia.com/gpu': '1'}}}], ",
                 "1"));
    post(api, PODS, GPU_POD("c", "", "1"));
    api_run(api, 1000);
    assert_string_not_equal(node_of(api, "a"), node_of(api, "b"));
    const char *held[] = {
        json_get_string(json_at(api_get(api, PODS "/a").json, "metadata", "annotations", NULL),
                        "trainyard.dev/gpus", ""),
        json_get_string(json_at(api_get(api, PODS "/b").json, "metadata", "annotations", NULL),
                        "trainyard.dev/gpus", ""),
    };
    assert_string_equal(held[0], "{\"m\":[0]}");
    assert_string_equal(held[1], "{\"first\":[1],\"m\":[1]}");
    assert_string_equal(pod_at(api, "c", "status.conditions.0.message"),
                        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 "
                        "nodes are available: 2 No preemption victims found for incoming pod.");
    /* The next pod gets the free devices, also from a scheduler that knows the others only from
     * their annotations. */
    remove_pod(api, "a");
    api_run(api, 1000);
    assert_string_equal(
        json_get_string(json_at(api_get(api, PODS "/c").json, "metadata", "annotations", NULL),
                        "trainyard.dev/gpus", ""),
        "{\"m\":[0]}");
    struct answer half = api_post(api, PODS, quoted(api->arena, GPU_POD("d", "", "500m")));
    assert_int_equal(half.status, 422);
    assert_non_null(strstr(half.body, "must be an integer"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_preemption, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_order_of_pods, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_no_execute, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_scheduling_gates, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_overcommitment, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_sidecar_uses_resources, setup,
                                        api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_pod_waits_for_an_affine_pod, setup,
                                        api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_pods_of_a_burst_are_spread, setup,
                                        api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_advice, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_gpus, setup, api_controlled_teardown),
    };
    for (api_seed = 1; api_seed <= API_SEEDS; api_seed++) {
        int failed = cmocka_run_group_tests(tests, NULL, NULL);
        if (failed)
            return failed;
    }
    return 0;
}
