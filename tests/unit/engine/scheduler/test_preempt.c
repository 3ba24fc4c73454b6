/* Tests the choice of preemption victims, with a table. */
#include "engine/scheduler/preempt.h"

#include "base/mem.h"
#include "base/str.h"
#include "read_json.h"
#include "tree.h"

enum { NODES_MAX = 3, PODS_MAX = 8 };

static struct json *make_pod(const struct json *row)
{
    struct json *pod = read_json(arena, "{'metadata': {}, 'spec': {}, 'status': {}}");
    struct json *spec = json_get(pod, "spec");
    json_set_string(arena, json_get(pod, "metadata"), "name", json_get_string(row, "name", "p"));
    json_set_int(arena, spec, "priority", json_get_int(row, "priority", 0));
    json_set_string(arena, spec, "preemptionPolicy", json_get_string(row, "policy", ""));
    json_set_string(arena, json_get(pod, "status"), "startTime", json_get_string(row, "start", ""));
    if (json_get(row, "leaving"))
        json_set_string(arena, json_get(pod, "metadata"), "deletionTimestamp",
                        "2026-01-01T00:00:00Z");
    if (json_get(row, "label"))
        json_set(arena, json_get(pod, "metadata"), "labels", read_json(arena, "{'app': 'db'}"));
    if (json_get(row, "alone"))
        json_set(arena, spec, "affinity",
                 read_json(arena, "{'podAntiAffinity': {"
                                  "'requiredDuringSchedulingIgnoredDuringExecution': [{"
                                  "'topologyKey': 'host', 'labelSelector': {'matchLabels': {'app': "
                                  "'db'}}}]}}"));
    json_set(arena, spec, "containers",
             read_json(arena, arena_printf(arena, "[{'resources': {'requests': {'cpu': '%d'}}}]",
                                           (int)json_get_int(row, "cpu", 1))));
    return pod;
}

/* Returns "node: victim victim", or the message. Nodes are n1, n2 …, with these numbers of CPUs. */
static const char *preempt(const char *cpus, const char *pods, const char *pod)
{
    struct scheduler_node nodes[NODES_MAX];
    struct scheduler_placed placed[PODS_MAX];
    struct scheduler_view view = {.nodes = nodes, .pods = placed};
    JSON_EACH (row, read_json(arena, cpus)) {
        const char *name = arena_printf(arena, "n%zu", view.count + 1);
        nodes[view.count++] = (struct scheduler_node){
            .name = name,
            .node = read_json(
                arena,
                arena_printf(arena,
                             "{'metadata': {'labels': {'host': '%s'}}, 'spec': "
                             "{'unschedulable': %s}, 'status': {'allocatable': {'cpu': "
                             "%d}}}",
                             name, row->integer < 0 ? "true" : "false", (int)llabs(row->integer))),
            .used = ARENA_NEW(arena, struct node_usage),
        };
    }
    JSON_EACH (row, read_json(arena, pods)) {
        struct node_usage usage;
        size_t node = (size_t)json_get_int(row, "node", 1) - 1;
        placed[view.pod_count++] = (struct scheduler_placed){make_pod(row), node};
        node_usage_of_pod(placed[view.pod_count - 1].pod, &usage);
        node_usage_add((struct node_usage *)nodes[node].used, &usage);
        node_usage_release(&usage);
    }
    struct scheduler_choice choice;
    struct scheduler_preemption preemption;
    struct json *incoming = make_pod(read_json(arena, pod));
    scheduler_pick(arena, incoming, &view, &choice);
    assert_null(choice.node);
    scheduler_preempt(arena, incoming, &view, choice.rejections, &preemption);
    if (!preemption.node)
        return preemption.message;
    const char *text = arena_printf(arena, "%s:", preemption.node);
    for (size_t i = 0; i < preemption.count; i++)
        text =
            arena_printf(arena, "%s %s", text,
                         json_get_string(json_get(preemption.victims[i], "metadata"), "name", ""));
    return text;
}

static void test_victims(void **state)
{
    static const struct {
        const char *cpus, *pods, *pod, *outcome;
    } rows[] = {
        {"[2]", "[{'name': 'a', 'cpu': 2}]", "{'priority': 5}", "n1: a"},
        /* As few victims as possible, with the lowest priority. */
        {"[2]", "[{'name': 'a'}, {'name': 'b', 'priority': 1}]", "{'priority': 5}", "n1: a"},
        {"[3]", "[{'name': 'a', 'priority': 2}, {'name': 'b'}, {'name': 'c', 'priority': 1}]",
         "{'priority': 5, 'cpu': 2}", "n1: c b"},
        /* The youngest of equal pods. */
        {"[2]",
         "[{'name': 'a', 'start': '2026-01-01T01:00:00Z'}, {'name': 'b', 'start': "
         "'2026-01-01T00:00:00Z'}]",
         "{'priority': 5}", "n1: a"},
        /* The node whose victims have the lowest priority, then the node with the fewest
         * victims. */
        {"[1, 1]", "[{'name': 'a', 'priority': 3}, {'name': 'b', 'priority': 2, 'node': 2}]",
         "{'priority': 5}", "n2: b"},
        {"[2, 2]", "[{'name': 'a'}, {'name': 'b'}, {'name': 'c', 'cpu': 2, 'node': 2}]",
         "{'priority': 5, 'cpu': 2}", "n2: c"},
        /* A pod that is being deleted is waited for. */
        {"[1, 1]", "[{'name': 'a', 'node': 1}, {'name': 'b', 'node': 2, 'leaving': 1}]",
         "{'priority': 5}", "n2:"},
        /* A pod of the same priority is no victim. */
        {"[1]", "[{'name': 'a', 'priority': 5}]", "{'priority': 5}",
         "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."},
        {"[2]", "[{'name': 'a', 'priority': 9}, {'name': 'b', 'priority': 1}]",
         "{'priority': 5, 'cpu': 2}", "preemption: 0/1 nodes are available: 1 Insufficient cpu."},
        /* There are no victims on a node that would not fit anyway. */
        {"[-1, 1, 1]",
         "[{'name': 'a', 'node': 1}, {'name': 'b', 'node': 2, 'priority': 7}, {'name': 'c', "
         "'node': "
         "3, 'priority': 7}]",
         "{'priority': 5}",
         "preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No "
         "preemption victims found for incoming pod."},
        {"[1]", "[{'name': 'a'}]", "{'priority': 5, 'cpu': 2}",
         "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
        {"[1]", "[{'name': 'a'}]", "{'priority': 5, 'policy': 'Never'}",
         "preemption: not eligible due to preemptionPolicy=Never."},
        /* The victim is a pod that the new pod's anti-affinity excludes. */
        {"[9]", "[{'name': 'a', 'label': 1}, {'name': 'b'}]", "{'priority': 5, 'alone': 1}",
         "n1: a"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(preempt(rows[i].cpus, rows[i].pods, rows[i].pod), rows[i].outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_victims),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
