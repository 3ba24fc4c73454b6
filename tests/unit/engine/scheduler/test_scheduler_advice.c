/* Tests the advice which options of `up` make room for pods that do not fit even on empty nodes,
 * with a table. */
#include "engine/scheduler/advice.h"

#include "base/mem.h"
#include "read_json.h"
#include "tree.h"

/* Makes an empty node with these allocatable resources, such as "'cpu': 2". */
static struct scheduler_node make_node(const char *name, const char *offers, bool ready)
{
    static const struct node_usage nothing = {0};
    struct json *node =
        read_json(arena, arena_printf(arena,
                                      "{'status': {'allocatable': {%s}, 'conditions': "
                                      "[{'type': 'Ready', 'status': '%s'}]}}",
                                      offers, ready ? "True" : "Unknown"));
    return (struct scheduler_node){.name = name, .node = node, .used = &nothing};
}

static struct node_usage usage_of(const struct json *requests)
{
    struct json *pod = read_json(arena, "{'spec': {'containers': [{'resources': {}}]}}");
    struct json *container = json_at(pod, "spec", "containers", NULL)->first;
    json_set(arena, json_get(container, "resources"), "requests", json_clone(arena, requests));
    struct node_usage usage;
    node_usage_of_pod(pod, &usage);
    return usage;
}

#define TOO_SMALL                                                                                  \
    "The cluster is too small for this even when it is empty: run 'trainyard down', then "         \
    "'trainyard up "
#define PRETENDED " (--fake-gpus offers GPUs that do not exist, to try jobs out)"

static void test_advice_for_single_nodes(void **state)
{
    static const struct {
        const char *name; /* name of the only ready node */
        const char *pods; /* the requests of each pod */
        const char *advice;
    } rows[] = {
        {"node-1", "[{}, {}]", NULL},
        {"node-1", "[{'cpu': 2, 'memory': '4Gi'}]", NULL},
        {"node-1", "[{'cpu': 1}, {'cpu': 1}]", NULL},
        /* A pod that is larger than a node. */
        {"node-1", "[{'cpu': '2001m'}]", TOO_SMALL "--cpus 2001m'"},
        {"node-1", "[{'cpu': 4, 'memory': '5Gi'}]", TOO_SMALL "--cpus 4 --memory 5Gi'"},
        /* The pods together are larger than the nodes: more nodes, unless the nodes have custom
         * names. */
        {"node-1", "[{'cpu': 1}, {'cpu': 1}, {'cpu': 1}, {'cpu': 1}]", TOO_SMALL "--nodes 2'"},
        {"node-1", "[{'cpu': 1}, {'cpu': 2}, {'cpu': 1}]", TOO_SMALL "--nodes 2'"},
        {"node-1", "[{'memory': '3Gi'}, {'memory': '3Gi'}, {'memory': '3Gi'}]",
         TOO_SMALL "--nodes 3'"},
        {"node-1", "[{'cpu': 4}, {'cpu': 1}]", TOO_SMALL "--nodes 2 --cpus 4'"},
        {"desk", "[{'cpu': 1}, {'cpu': 1}, {'cpu': 1}, {'cpu': 1}]", TOO_SMALL "--cpus 4'"},
        /* GPUs. */
        {"node-1", "[{'nvidia.com/gpu': 1}, {'nvidia.com/gpu': 2}]",
         "No node has a GPU: run 'trainyard down', then 'trainyard up --fake-gpus 3'" PRETENDED},
        {"node-1", "[{'cpu': 4, 'nvidia.com/gpu': 1}]",
         "The cluster is too small for this even when it is empty, and has no GPU: run 'trainyard "
         "down', then 'trainyard up --cpus 4 --fake-gpus 1'" PRETENDED},
        {"node-1", "[{'nvidia.com/gpu': 17}]", NULL}, /* more than `up` allows */
        {"node-1", "[{'example.com/thing': 1}]", NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct scheduler_node nodes[] = {
            make_node(rows[i].name, "'cpu': 2, 'memory': '4Gi'", true),
            make_node(rows[i].name, "'cpu': 2, 'memory': '4Gi'", false)};
        const struct scheduler_view view = {.nodes = nodes, .count = ARRAY_SIZE(nodes)};
        const struct json *pods = read_json(arena, rows[i].pods);
        struct node_usage asked[4];
        size_t count = 0;
        JSON_EACH (pod, pods)
            asked[count++] = usage_of(pod);
        const char *advice = scheduler_advice(arena, &view, asked, count);
        while (count > 0)
            node_usage_release(&asked[--count]);
        if (rows[i].advice)
            assert_string_equal(advice, rows[i].advice);
        else
            assert_null(advice);
    }
}

/* Nodes with GPUs, nodes without an amount of CPU, and no nodes. */
static void test_other_nodes(void **state)
{
    const struct scheduler_node node = make_node("node-1", "'nvidia.com/gpu': 1", true);
    const struct scheduler_view view = {.nodes = &node, .count = 1}, none = {0};
    struct node_usage asked = usage_of(read_json(arena, "{'cpu': 1000, 'nvidia.com/gpu': 2}"));
    assert_null(scheduler_advice(arena, &view, &asked, 1));
    assert_null(scheduler_advice(arena, &none, &asked, 1));
    node_usage_release(&asked);
}

/* A group that would need more nodes than `up` allows. */
static void test_many_pods(void **state)
{
    enum { PODS = 3000 };
    const struct scheduler_node node = make_node("node-1", "'cpu': 2, 'memory': '1Gi'", true);
    const struct scheduler_view view = {.nodes = &node, .count = 1};
    struct node_usage *asked = ARENA_ARRAY(arena, struct node_usage, PODS);
    for (size_t i = 0; i < PODS; i++)
        asked[i].cpu_milli = 1500;
    assert_string_equal(scheduler_advice(arena, &view, asked, PODS), TOO_SMALL "--cpus 4500'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advice_for_single_nodes),
        cmocka_unit_test(test_other_nodes),
        cmocka_unit_test(test_many_pods),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
