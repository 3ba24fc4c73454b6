/* Tests the choice of a pod's node by the pods that are placed already, and by its preferences:
 * affinity, spreading, taints. Each case is a pod among others on four nodes in two zones. */
#include "engine/scheduler/overcommit.h"
#include "engine/scheduler/scheduler.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/scheduler/taints.h"
#include "read_json.h"
#include "tree.h"

enum { NODES = 4, PODS_MAX = 8 };

/* a1 and a2 are in zone a; b1 is in zone b; lone has no zone. */
static struct scheduler_node make_node(size_t number)
{
    static const struct {
        const char *name, *rest;
    } rows[NODES] = {
        {"a1", "'zone': 'a', 'cores': '4', 'host': 'a1'"},
        {"a2", "'zone': 'a', 'cores': '16', 'host': 'a2'"},
        {"b1", "'zone': 'b', 'cores': '8', 'host': 'b1'"},
        {"lone", "'host': 'lone'"},
    };
    return (struct scheduler_node){
        .name = rows[number].name,
        .node = read_json(arena, arena_printf(arena, "{'metadata': {'name': '%s', 'labels': {%s}}}",
                                              rows[number].name, rows[number].rest)),
        .used = ARENA_NEW(arena, struct node_usage),
    };
}

static struct json *make_pod(const char *labels, const char *spec)
{
    const char *namespace_ = strstr(labels, "other") ? "far" : "default";
    return read_json(arena, arena_printf(arena,
                                         "{'metadata': {'name': 'p', 'namespace': '%s', 'labels': "
                                         "{%s}}, 'spec': {%s}}",
                                         namespace_, labels, spec));
}

/* Returns the node for the pod. Each element of `others` is "NODE|LABELS|SPEC"; the array ends with
 * NULL. */
static const char *place(const char *labels, const char *spec, const char *const *others)
{
    struct scheduler_node nodes[NODES];
    struct scheduler_placed pods[PODS_MAX];
    struct scheduler_view view = {
        .nodes = nodes,
        .count = NODES,
        .pods = pods,
        .namespaces = read_json(arena, "{'default': {'team': 'x'}, 'far': {'team': 'y'}}"),
    };
    struct scheduler_choice choice;
    for (size_t i = 0; i < NODES; i++)
        nodes[i] = make_node(i);
    for (; *others; others++) {
        size_t count;
        char **parts = str_split(arena, *others, '|', &count);
        size_t node = 0;
        while (!str_eq(nodes[node].name, parts[0]))
            node++;
        ((struct node_usage *)nodes[node].used)->pods++;
        pods[view.pod_count++] = (struct scheduler_placed){
            .pod = make_pod(parts[1], count > 2 ? parts[2] : ""), .node = node};
    }
    scheduler_pick(arena, make_pod(labels, spec), &view, &choice);
    return choice.node ? choice.node : choice.message;
}

#define NEAR(kind, key, more)                                                                      \
    "'affinity': {'" kind "': {'requiredDuringSchedulingIgnoredDuringExecution': "                 \
    "[{'topologyKey': '" key "', 'labelSelector': {'matchLabels': {'app': 'db'}}" more "}]}}"
#define RATHER(kind, key, weight)                                                                  \
    "'affinity': {'" kind                                                                          \
    "': {'preferredDuringSchedulingIgnoredDuringExecution': [{'weight': " weight                   \
    ", 'podAffinityTerm': {'topologyKey': '" key                                                   \
    "', 'labelSelector': {'matchLabels': {'app': 'db'}}}}]}}"
#define SPREAD(key, how, more)                                                                     \
    "'topologySpreadConstraints': [{'maxSkew': 1, 'topologyKey': '" key                            \
    "', 'whenUnsatisfiable': '" how "', 'labelSelector': {'matchLabels': {'app': 'web'}}" more     \
    "}]"
#define LABELS(expression)                                                                         \
    "'affinity': {'nodeAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': "            \
    "[" expression "]}}"

static void test_affinity_and_spreading(void **state)
{
    static const struct {
        const char *labels, *spec, *others[PODS_MAX], *outcome;
    } rows[] = {
        /* Near other pods: in their zone, on the node with fewer pods. */
        {"'app': 'web'", NEAR("podAffinity", "zone", ""), {"a1|'app': 'db'"}, "a2"},
        {"'app': 'web'", NEAR("podAffinity", "host", ""), {"b1|'app': 'db'"}, "b1"},
        {"'app': 'web'",
         NEAR("podAffinity", "zone", ""),
         {NULL},
         "0/4 nodes are available: 4 node(s) didn't match pod affinity rules."},
        {"'app': 'db'", NEAR("podAffinity", "zone", ""), {"b1|'app': 'db'", "b1|"}, "b1"},
        /* The first pod of its kind may be placed anywhere, but still needs a node with the
         * topology label. */
        {"'app': 'db'", NEAR("podAffinity", "zone", ""), {NULL}, "a1"},
        {"'app': 'db'",
         NEAR("podAffinity", "rack", ""),
         {NULL},
         "0/4 nodes are available: 4 node(s) didn't match pod affinity rules."},
        /* Pods of other namespaces count only if the term names their namespace. */
        {"'app': 'web'",
         NEAR("podAffinity", "zone", ""),
         {"a1|'app': 'db', 'other': 'y'"},
         "0/4 nodes are available: 4 node(s) didn't match pod affinity rules."},
        {"'app': 'web'",
         NEAR("podAffinity", "host", ", 'namespaces': ['far']"),
         {"a2|'app': 'db', 'other': 'y'"},
         "a2"},
        {"'app': 'web'",
         NEAR("podAffinity", "host", ", 'namespaceSelector': {'matchLabels': {'team': 'y'}}"),
         {"a2|'app': 'db', 'other': 'y'", "b1|'app': 'db'"},
         "a2"},
        {"'app': 'web'",
         NEAR("podAffinity", "host", ", 'namespaceSelector': {}"),
         {"b1|'app': 'db', 'other': 'y'"},
         "b1"},
        /* matchLabelKeys: only pods of the same revision count, or only pods of others. */
        {"'app': 'web', 'rev': '2'",
         NEAR("podAffinity", "host", ", 'matchLabelKeys': ['rev']"),
         {"a1|'app': 'db', 'rev': '1'", "b1|'app': 'db', 'rev': '2'"},
         "b1"},
        {"'app': 'web', 'rev': '2'",
         NEAR("podAffinity", "host", ", 'mismatchLabelKeys': ['rev']"),
         {"b1|'app': 'db', 'rev': '1'", "a1|'app': 'db', 'rev': '2'"},
         "b1"},
        /* Away from other pods. */
        {"'app': 'web'", NEAR("podAntiAffinity", "zone", ""), {"a1|'app': 'db'", "lone|"}, "b1"},
        {"'app': 'db'",
         NEAR("podAntiAffinity", "host", ""),
         {"a1|'app': 'db'", "a2|'app': 'db'", "b1|'app': 'db'", "lone|'app': 'db'"},
         "0/4 nodes are available: 4 node(s) didn't match pod anti-affinity rules."},
        /* The anti-affinity of placed pods counts, too. */
        {"'app': 'db'", "", {"a1|'app': 'x'|" NEAR("podAntiAffinity", "zone", ""), "lone|"}, "b1"},
        {"'app': 'db'",
         "'nodeSelector': {'zone': 'a'}",
         {"a1|'app': 'x'|" NEAR("podAntiAffinity", "zone", "")},
         "0/4 nodes are available: 2 node(s) didn't match Pod's node affinity/selector (the pod "
         "wants "
         "zone=a), 2 node(s) didn't satisfy existing pods anti-affinity rules."},
        {"'app': 'db'",
         "",
         {"a1|'app': 'x', 'other': 'y'|" NEAR("podAntiAffinity", "zone", "")},
         "a2"},
        /* Preferred affinity and anti-affinity, of the new pod and of placed pods. */
        {"'app': 'web'", RATHER("podAffinity", "zone", "10"), {"b1|'app': 'db'"}, "b1"},
        {"'app': 'web'",
         RATHER("podAntiAffinity", "zone", "10"),
         {"a1|'app': 'db'", "lone|"},
         "b1"},
        {"'app': 'db'",
         "",
         {"a1|'app': 'x'|" RATHER("podAntiAffinity", "zone", "1"), "lone|"},
         "b1"},
        {"'app': 'db'", "", {"b1|'app': 'x'|" RATHER("podAffinity", "host", "5")}, "b1"},
        /* Pods are spread evenly over zones. A node without a zone is rejected. */
        {"'app': 'web'",
         SPREAD("zone", "DoNotSchedule", ""),
         {"a1|'app': 'web'", "b1|", "b1|", "b1|"},
         "b1"},
        {"'app': 'web'",
         SPREAD("zone", "DoNotSchedule", "") ", 'nodeSelector': {'host': 'a2'}",
         {"a1|'app': 'web'", "a1|'app': 'web'"},
         "a2"},
        {"'app': 'web'",
         SPREAD("zone", "DoNotSchedule", ", 'nodeAffinityPolicy': 'Ignore'") ", 'nodeSelector': "
                                                                             "{'zone': 'a'}",
         {"a1|'app': 'web'"},
         "0/4 nodes are available: 2 node(s) didn't match Pod's node affinity/selector (the pod "
         "wants "
         "zone=a), 2 node(s) didn't match pod topology spread constraints."},
        {"'app': 'web'",
         SPREAD("zone", "DoNotSchedule", ", 'minDomains': 3"),
         {"a1|'app': 'web'", "b1|'app': 'web'"},
         "0/4 nodes are available: 1 node(s) didn't match pod topology spread constraints "
         "(missing required label), 3 node(s) didn't match pod topology spread constraints."},
        /* Pods that the selector does not match do not count, nor those of other namespaces. */
        {"'app': 'web'",
         SPREAD("zone", "DoNotSchedule", ""),
         {"b1|'app': 'web'", "a1|'app': 'db'", "a1|'app': 'web', 'other': 'y'"},
         "a2"},
        {"'app': 'web'",
         SPREAD("host", "ScheduleAnyway", ""),
         {"a1|'app': 'web'", "a2|'app': 'web'", "b1|", "b1|", "b1|", "lone|'app': 'web'"},
         "b1"},
        {"'app': 'web'", SPREAD("rack", "ScheduleAnyway", ""), {"a1|"}, "a2"},
        /* Preferred nodes, by weight; numeric operators. */
        {"",
         LABELS("{'weight': 1, 'preference': {'matchExpressions': [{'key': 'host', 'operator': "
                "'In', 'values': ['a1']}]}}, {'weight': 5, 'preference': {'matchExpressions': "
                "[{'key': 'cores', 'operator': 'Gt', 'values': ['8']}]}}"),
         {"a2|", "a2|"},
         "a2"},
        {"",
         LABELS("{'weight': 3, 'preference': {'matchExpressions': [{'key': 'cores', 'operator': "
                "'Lt', 'values': ['16']}]}}, {'weight': 2, 'preference': {'matchFields': [{'key': "
                "'metadata.name', 'operator': 'In', 'values': ['b1']}]}}"),
         {"b1|"},
         "b1"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(place(rows[i].labels, rows[i].spec, rows[i].others), rows[i].outcome);
}

/* A pod that is being deleted does not count for its zone. */
static void test_pods_that_are_being_deleted(void **state)
{
    struct scheduler_node nodes[] = {make_node(0), make_node(2)};
    struct json *leaving = make_pod("'app': 'web'", "");
    json_set_string(arena, json_get(leaving, "metadata"), "deletionTimestamp",
                    "2026-01-01T00:00:00Z");
    struct scheduler_placed pods[] = {{leaving, 0}, {make_pod("'app': 'web'", ""), 1}};
    struct scheduler_view view = {.nodes = nodes, .count = 2, .pods = pods, .pod_count = 2};
    struct scheduler_choice choice;
    scheduler_pick(arena, make_pod("'app': 'web'", SPREAD("zone", "DoNotSchedule", "")), &view,
                   &choice);
    assert_string_equal(choice.node, "a1");
}

/* ---- Taints ---------------------------------------------------------------------------------- */

static void test_prefer_no_schedule(void **state)
{
    struct json *tainted = read_json(arena, "{'spec': {'taints': [{'key': 'k', 'value': 'v', "
                                            "'effect': 'PreferNoSchedule'}]}}");
    struct scheduler_node nodes[] = {make_node(0), make_node(2)};
    json_set(arena, (struct json *)nodes[0].node, "spec",
             json_clone(arena, json_get(tainted, "spec")));
    struct scheduler_view view = {.nodes = nodes, .count = 2};
    struct scheduler_choice choice;
    ((struct node_usage *)nodes[1].used)->pods = 5;
    scheduler_pick(arena, make_pod("", ""), &view, &choice);
    assert_string_equal(choice.node, "b1");
    scheduler_pick(arena, make_pod("", "'tolerations': [{'key': 'k', 'operator': 'Exists'}]"),
                   &view, &choice);
    assert_string_equal(choice.node, "a1");
}

static void test_toleration_seconds(void **state)
{
    static const struct {
        const char *taints, *tolerations;
        int64_t seconds;
    } rows[] = {
        {"", "", TAINTS_FOR_EVER},
        {"{'key': 'k', 'effect': 'NoSchedule'}", "", TAINTS_FOR_EVER},
        {"{'key': 'k', 'effect': 'NoExecute'}", "", 0},
        {"{'key': 'k', 'effect': 'NoExecute'}", "{'key': 'k', 'operator': 'Exists'}",
         TAINTS_FOR_EVER},
        {"{'key': 'k', 'effect': 'NoExecute'}",
         "{'key': 'k', 'operator': 'Exists', 'effect': 'NoSchedule'}", 0},
        {"{'key': 'k', 'effect': 'NoExecute'}",
         "{'key': 'k', 'operator': 'Exists', 'tolerationSeconds': 30}", 30},
        {"{'key': 'k', 'effect': 'NoExecute'}, {'key': 'j', 'effect': 'NoExecute'}",
         "{'operator': 'Exists', 'tolerationSeconds': 30}, {'key': 'j', 'operator': 'Exists'}", 30},
        {"{'key': 'k', 'effect': 'NoExecute'}, {'key': 'j', 'effect': 'NoExecute'}",
         "{'key': 'j', 'operator': 'Exists', 'tolerationSeconds': 7}, "
         "{'key': 'k', 'operator': 'Exists', 'tolerationSeconds': 9}",
         7},
        {"{'key': 'k', 'effect': 'NoExecute'}",
         "{'key': 'k', 'operator': 'Exists', 'tolerationSeconds': -5}", 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct json *node =
            read_json(arena, arena_printf(arena, "{'spec': {'taints': [%s]}}", rows[i].taints));
        struct json *pod = read_json(
            arena, arena_printf(arena, "{'spec': {'tolerations': [%s]}}", rows[i].tolerations));
        assert_int_equal(taints_toleration_s(pod, node), rows[i].seconds);
    }
}

/* ---- More than the machine has --------------------------------------------------------------- */

static void test_overcommit(void **state)
{
    struct json *machine = read_json(arena, "{'status': {'nodeInfo': {'machineID': 'm'}, "
                                            "'allocatable': {'cpu': '4', 'memory': '8Gi'}}}");
    struct json *other = read_json(arena, "{'status': {'nodeInfo': {'machineID': 'n'}, "
                                          "'allocatable': {'cpu': '4', 'memory': '8Gi'}}}");
    struct json *same = json_clone(arena, machine);
    struct node_usage used[] = {{.cpu_milli = 3000}, {.cpu_milli = 1000}, {.cpu_milli = 4000}};
    const struct scheduler_node nodes[] = {
        {"a", machine, &used[0]}, {"b", same, &used[1]}, {"c", other, &used[2]}};
    const struct scheduler_view view = {.nodes = nodes, .count = 3};
    const struct node_usage none = {0}, little = {.cpu_milli = 1},
                            large = {.memory_bytes = (int64_t)9 << 30};
    assert_true(overcommit_is_one_machine(machine, same));
    assert_false(overcommit_is_one_machine(machine, other));
    assert_null(overcommit_message(arena, &view, 0, &none));
    assert_string_equal(overcommit_message(arena, &view, 1, &little),
                        "the nodes of this machine share its resources: their pods request 4001m "
                        "cpu, but it has only 4");
    assert_string_equal(overcommit_message(arena, &view, 0, &large),
                        "the nodes of this machine share its resources: their pods request 9Gi "
                        "memory, but it has only 8Gi");
    /* A node may offer another amount than its machine has. Annotations then have the machine's
     * amount. */
    json_set(arena, machine, "metadata",
             read_json(arena, "{'annotations': {'trainyard.dev/machine-cpu': '5',"
                              "'trainyard.dev/machine-memory': '2Gi'}}"));
    assert_null(overcommit_message(arena, &view, 0, &little));
    assert_string_equal(overcommit_message(arena, &view, 0, &large),
                        "the nodes of this machine share its resources: their pods request 9Gi "
                        "memory, but it has only 2Gi");
    json_remove(machine, "metadata");
    /* A node without a machineID counts as its own machine. */
    json_remove(json_get(machine, "status"), "nodeInfo");
    json_remove(json_get(same, "status"), "nodeInfo");
    assert_null(overcommit_message(arena, &view, 1, &little));
}

/* ---- Resources by name ----------------------------------------------------------------------- */

static void test_extended_resources(void **state)
{
    struct json *node =
        read_json(arena, "{'status': {'allocatable': {'nvidia.com/gpu': '2', 'cpu': '1'}}}");
    struct node_usage used = {0}, asked;
    const struct scheduler_node nodes[] = {{"a", node, &used}};
    const struct scheduler_view view = {.nodes = nodes, .count = 1};
    struct scheduler_choice choice;
#define GPUS(n) "'containers': [{'resources': {'requests': {'nvidia.com/gpu': '" n "'}}}]"
    scheduler_pick(arena, make_pod("", GPUS("2")), &view, &choice);
    assert_string_equal(choice.node, "a");
    node_usage_of_pod(make_pod("", GPUS("1")), &asked);
    node_usage_add(&used, &asked);
    scheduler_pick(arena, make_pod("", GPUS("2")), &view, &choice);
    assert_string_equal(choice.message, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
    assert_false(choice.rejections[0].permanent);
    scheduler_pick(arena, make_pod("", GPUS("3")), &view, &choice);
    assert_true(choice.rejections[0].permanent);
    node_usage_subtract(&used, &asked);
    assert_int_equal(node_usage_extra(&used, "nvidia.com/gpu"), 0);
    scheduler_pick(arena,
                   make_pod("", "'containers': [{'resources': {'requests': {'x.org/y': 1}}}]"),
                   &view, &choice);
    assert_string_equal(choice.message, "0/1 nodes are available: 1 Insufficient x.org/y.");
    node_usage_release(&used);
    node_usage_release(&asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_affinity_and_spreading),
        cmocka_unit_test(test_pods_that_are_being_deleted),
        cmocka_unit_test(test_prefer_no_schedule),
        cmocka_unit_test(test_toleration_seconds),
        cmocka_unit_test(test_overcommit),
        cmocka_unit_test(test_extended_resources),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
