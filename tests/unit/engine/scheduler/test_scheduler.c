/* Tests the choice of a node, and the message if there is none. */
#include "engine/scheduler/scheduler.h"

#include "base/str.h"
#include "tree.h"

static struct scheduler_node node(const char *name, const char *more, size_t pods)
{
    const char *text = arena_printf(
        arena, "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"n\":\"%s\"}}%s}", name, name, more);
    struct node_usage *used = ARENA_NEW(arena, struct node_usage);
    used->pods = pods;
    return (struct scheduler_node){.name = name, .node = tree(text), .used = used};
}

static void set_pods(struct scheduler_node *target, size_t pods)
{
    struct node_usage *used = ARENA_NEW(arena, struct node_usage);
    used->pods = pods;
    target->used = used;
}

/* Returns the chosen node, or the message. */
static const char *pick(const char *spec, const struct scheduler_node *nodes, size_t count)
{
    struct scheduler_choice choice;
    struct json *pod = tree(arena_printf(arena, "{\"spec\":%s}", spec));
    const struct scheduler_view view = {.nodes = nodes, .count = count};
    scheduler_pick(arena, pod, &view, &choice);
    return choice.node ? choice.node : choice.message;
}

static void test_pods_are_spread(void **state)
{
    struct scheduler_node nodes[] = {node("b", "", 1), node("a", "", 1), node("c", "", 2)};
    assert_string_equal(pick("{}", nodes, 3), "a");
    set_pods(&nodes[1], 2);
    assert_string_equal(pick("{}", nodes, 3), "b");
    set_pods(&nodes[0], 3);
    assert_string_equal(pick("{}", nodes, 3), "a");
}

static void test_selector(void **state)
{
    struct scheduler_node nodes[] = {node("a", "", 0), node("b", "", 9)};
    assert_string_equal(pick("{\"nodeSelector\":{\"n\":\"b\"}}", nodes, 2), "b");
    assert_string_equal(pick("{\"nodeSelector\":{\"gpu\":\"yes\"}}", nodes, 2),
                        "0/2 nodes are available: 2 node(s) didn't match Pod's node "
                        "affinity/selector (the pod wants gpu=yes).");
    assert_string_equal(
        pick("{\"nodeSelector\":{\"n\":\"a\",\"disk\":\"ssd\"}}", nodes, 2),
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector (the pod "
        "wants disk=ssd), 1 node(s) didn't match Pod's node affinity/selector (the pod wants n=a, "
        "disk=ssd).");
    assert_string_equal(pick("{}", nodes, 0), "no nodes available to schedule pods");
}

static void test_affinity(void **state)
{
    struct scheduler_node nodes[] = {node("a", "", 0), node("b", "", 0), node("c", "", 0)};
#define REQUIRED(terms)                                                                            \
    "{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"        \
    "\"nodeSelectorTerms\":[" terms "]}}}}"
    assert_string_equal(
        pick(REQUIRED("{\"matchExpressions\":[{\"key\":\"n\",\"operator\":\"NotIn\",\"values\":"
                      "[\"a\",\"b\"]}]}"),
             nodes, 3),
        "c");
    /* Terms are alternatives. */
    assert_string_equal(
        pick(REQUIRED("{\"matchExpressions\":[{\"key\":\"x\",\"operator\":\"Exists\"}]},"
                      "{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
                      "\"values\":[\"b\"]}]}"),
             nodes, 3),
        "b");
    assert_string_equal(
        pick(REQUIRED("{\"matchExpressions\":[{\"key\":\"n\",\"operator\":\"Exists\"},"
                      "{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"x\",\"y\"]}]},"
                      "{\"matchExpressions\":[{\"key\":\"n\",\"operator\":\"DoesNotExist\"}]},"
                      "{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
                      "\"values\":[\"d\"]}]}"),
             nodes, 3),
        "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector (the pod "
        "wants zone in (x,y) or !n or metadata.name=d).");
    assert_true(str_has_prefix(pick(REQUIRED("{}"), nodes, 3), "0/3 nodes"));
}

static void test_cordon_taints_ready(void **state)
{
    struct scheduler_node nodes[] = {
        node("a", ",\"spec\":{\"unschedulable\":true}", 0),
        node("b",
             ",\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]}",
             0),
        node("c", ",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}", 0),
    };
    assert_string_equal(pick("{}", nodes, 3),
                        "0/3 nodes are available: 1 node(s) had untolerated taint {k: v}, 1 "
                        "node(s) were not ready, 1 node(s) were unschedulable.");
    assert_string_equal(
        pick("{\"tolerations\":[{\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\"}]}", nodes,
             3),
        "b");
    assert_string_equal(pick("{\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\",\"effect\":"
                             "\"NoSchedule\"}]}",
                             nodes, 3),
                        "b");
    assert_true(str_has_prefix(
        pick("{\"tolerations\":[{\"key\":\"k\",\"value\":\"other\"}]}", nodes, 3), "0/3"));
    /* A pod that tolerates everything fits on a cordoned node, too. */
    assert_string_equal(pick("{\"tolerations\":[{\"operator\":\"Exists\"}]}", nodes, 3), "a");
}

/* Pods on the host network share the ports of the machine, on all of its nodes. */
static void test_shared_ports(void **state)
{
#define MACHINE(status)                                                                            \
    ",\"status\":{\"nodeInfo\":{\"machineID\":\"m\"},\"conditions\":[{\"type\":"                   \
    "\"trainyard.dev/Namespaces\",\"status\":\"" status "\"}]}"
#define LISTENS "{\"containers\":[{\"ports\":[{\"containerPort\":8080}]}]}"
    struct scheduler_node plain[] = {node("a", MACHINE("False"), 1),
                                     node("b", MACHINE("False"), 0)};
    struct scheduler_node apart[] = {node("a", MACHINE("True"), 1), node("b", MACHINE("True"), 0)};
    struct node_usage used;
    node_usage_of_pod(tree("{\"spec\":" LISTENS "}"), &used);
    plain[0].used = apart[0].used = &used;
    assert_string_equal(
        pick(LISTENS, plain, 2),
        "0/2 nodes are available: 2 node(s) didn't have free ports for the "
        "requested pod ports (pods share the ports of this machine, because it forbids network "
        "namespaces).");
    assert_string_equal(pick("{}", plain, 2), "b");
    assert_string_equal(pick(LISTENS, apart, 2), "b");
    node_usage_release(&used);
}

static void test_resources(void **state)
{
    struct scheduler_node nodes[] = {node(
        "a", ",\"status\":{\"allocatable\":{\"cpu\":\"2\",\"memory\":\"1Gi\",\"pods\":\"3\"}}", 2)};
    struct node_usage used = {.pods = 2, .cpu_milli = 1500, .memory_bytes = 0};
    vec_push(&used.ports, 2222);
    nodes[0].used = &used;
#define ASKS(requests) "{\"containers\":[{\"resources\":{\"requests\":{" requests "}}}]}"
    assert_string_equal(pick(ASKS("\"cpu\":\"500m\""), nodes, 1), "a");
    assert_string_equal(pick(ASKS("\"cpu\":\"501m\""), nodes, 1),
                        "0/1 nodes are available: 1 Insufficient cpu.");
    assert_string_equal(pick(ASKS("\"memory\":\"1025Mi\""), nodes, 1),
                        "0/1 nodes are available: 1 Insufficient memory.");
    /* Huge sums are still too large and do not overflow. */
#define HUGE "{\"resources\":{\"requests\":{\"memory\":\"8Ei\",\"cpu\":\"9E\"}}}"
    assert_string_equal(pick("{\"containers\":[" HUGE "," HUGE "]}", nodes, 1),
                        "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.");
    assert_string_equal(pick("{\"containers\":[" HUGE "," HUGE "," HUGE "]}", nodes, 1),
                        "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.");
    assert_string_equal(pick("{\"containers\":[{\"ports\":[{\"hostPort\":2222}]}]}", nodes, 1),
                        "0/1 nodes are available: 1 node(s) didn't have free ports for the "
                        "requested pod ports.");
    assert_string_equal(pick("{\"containers\":[{\"ports\":[{\"hostPort\":2223}]}]}", nodes, 1),
                        "a");
    /* Init containers run before the other containers, not at the same time. */
    assert_string_equal(pick("{\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":"
                             "\"400m\"}}}],\"containers\":[{\"resources\":{\"requests\":{"
                             "\"cpu\":\"300m\"}}}]}",
                             nodes, 1),
                        "a");
    /* A sidecar runs at the same time as all later containers: 400m and 300m are too much. */
#define SIDECAR(cpu)                                                                               \
    "{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"" cpu "\"}}}"
#define INIT(cpu) "{\"resources\":{\"requests\":{\"cpu\":\"" cpu "\"}}}"
    assert_string_equal(
        pick("{\"initContainers\":[" SIDECAR("400m") "],\"containers\":[" INIT("300m") "]}", nodes,
             1),
        "0/1 nodes are available: 1 Insufficient cpu.");
    assert_string_equal(
        pick("{\"initContainers\":[" SIDECAR("200m") "," INIT("300m") "]}", nodes, 1), "a");
    assert_string_equal(
        pick("{\"initContainers\":[" SIDECAR("200m") "," INIT("301m") "]}", nodes, 1),
        "0/1 nodes are available: 1 Insufficient cpu.");
    assert_string_equal(
        pick("{\"initContainers\":[" INIT("301m") "," SIDECAR("200m") "]}", nodes, 1), "a");
    struct node_usage more;
    node_usage_of_pod(tree("{\"spec\":" ASKS("\"cpu\":1") "}"), &more);
    node_usage_add(&used, &more);
    assert_string_equal(pick("{}", nodes, 1), "0/1 nodes are available: 1 Too many pods.");
    node_usage_subtract(&used, &more);
    assert_string_equal(pick("{}", nodes, 1), "a");
    node_usage_release(&more);
    node_usage_release(&used);
}

static void test_is_responsible(void **state)
{
    assert_true(scheduler_is_responsible(tree("{\"spec\":{}}")));
    assert_false(scheduler_is_responsible(tree("{\"spec\":{\"nodeName\":\"a\"}}")));
    assert_true(scheduler_is_responsible(
        tree("{\"spec\":{\"schedulerName\":\"scheduler-plugins-scheduler\"}}")));
    assert_false(scheduler_is_responsible(tree("{\"spec\":{\"schedulerName\":\"volcano\"}}")));
    assert_false(scheduler_is_responsible(tree("{\"spec\":{},\"status\":{\"phase\":\"Failed\"}}")));
    assert_false(scheduler_is_responsible(
        tree("{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":{}}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pods_are_spread), cmocka_unit_test(test_selector),
        cmocka_unit_test(test_affinity),        cmocka_unit_test(test_cordon_taints_ready),
        cmocka_unit_test(test_shared_ports),    cmocka_unit_test(test_resources),
        cmocka_unit_test(test_is_responsible),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
