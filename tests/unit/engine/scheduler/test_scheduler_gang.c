/* Tests that a group is scheduled as a whole or not at all: a table of layouts, the messages of a
 * waiting group, and random cases. In each random case the layout fits, and a layout is found if
 * one exists. */
#include "engine/scheduler/gang.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "read_json.h"
#include "tree.h"

#include <inttypes.h>
#include <stdlib.h>

/* Makes a node from {'name', 'cpu', 'memory', 'pods', 'cordoned', 'taint', 'gpu', 'busy'
 * (milli-cpu), 'port'}. */
static struct scheduler_node make_node(const struct json *row)
{
    static const char *const amounts[] = {"cpu", "memory", "pods"};
    struct json *node = json_object(arena), *meta = json_ensure_object(arena, node, "metadata");
    struct json *spec = json_ensure_object(arena, node, "spec");
    struct json *has =
        json_ensure_object(arena, json_ensure_object(arena, node, "status"), "allocatable");
    const char *name = json_get_string(row, "name", "");
    json_set_string(arena, meta, "name", name);
    if (json_get(row, "gpu"))
        json_set_string(arena, json_ensure_object(arena, meta, "labels"), "gpu", "yes");
    json_set_bool(arena, spec, "unschedulable", json_get_bool(row, "cordoned", false));
    if (json_get(row, "taint"))
        json_set(arena, spec, "taints",
                 read_json(arena, "[{'key': 'k', 'value': 'v', 'effect': 'NoSchedule'}]"));
    for (size_t i = 0; i < ARRAY_SIZE(amounts); i++)
        if (json_get(row, amounts[i]))
            json_set(arena, has, amounts[i], json_clone(arena, json_get(row, amounts[i])));
    struct node_usage *used = ARENA_NEW(arena, struct node_usage);
    used->cpu_milli = json_get_int(row, "busy", 0);
    if (json_get(row, "port"))
        vec_push(&used->ports, (uint32_t)json_get_int(row, "port", 0));
    return (struct scheduler_node){.name = name, .node = node, .used = used};
}

/* Makes a pod from {'cpu', 'memory', 'gpu', 'port', 'tolerates'}. */
static struct json *make_pod(const struct json *row)
{
    struct json *pod = json_object(arena), *spec = json_ensure_object(arena, pod, "spec");
    struct json *container = json_object(arena), *port = json_object(arena);
    struct json *requests =
        json_ensure_object(arena, json_ensure_object(arena, container, "resources"), "requests");
    json_append(json_ensure_array(arena, spec, "containers"), container);
    if (json_get(row, "cpu"))
        json_set(arena, requests, "cpu", json_clone(arena, json_get(row, "cpu")));
    if (json_get(row, "memory"))
        json_set(arena, requests, "memory", json_clone(arena, json_get(row, "memory")));
    if (json_get(row, "gpu"))
        json_set_string(arena, json_ensure_object(arena, spec, "nodeSelector"), "gpu", "yes");
    if (json_get(row, "tolerates"))
        json_set(arena, spec, "tolerations",
                 read_json(arena, "[{'key': 'k', 'operator': 'Exists'}]"));
    json_set_int(arena, port, "hostPort", json_get_int(row, "port", 0));
    if (json_get(row, "port"))
        json_append(json_ensure_array(arena, container, "ports"), port);
    return pod;
}

/* Returns the node of each pod, then the message of each waiting pod without repetition: "a b
 * -". */
static const char *outcome(const struct scheduler_gang *gang)
{
    const char *text = "", *said = "";
    bool any = false;
    for (size_t i = 0; i < gang->waiting_count; i++) {
        const struct scheduler_member *member = &gang->waiting[i];
        assert_true(!member->node != !member->message);
        any |= member->node != NULL;
        text = arena_printf(arena, "%s%s%s", text, i ? " " : "", member->node ? member->node : "-");
        if (member->message && !strstr(said, member->message))
            said = arena_printf(arena, "%s%s", said, member->message);
    }
    return !any ? said : !*said ? text : arena_printf(arena, "%s: %s", text, said);
}

static const char *decide(const char *group, size_t placed, const char *node_rows,
                          const char *pod_rows)
{
    const struct json *rows = read_json(arena, node_rows), *pods = read_json(arena, pod_rows);
    struct scheduler_node *nodes = ARENA_ARRAY(arena, struct scheduler_node, json_count(rows) + 1);
    struct scheduler_gang gang = {.name = "g", .placed = placed};
    size_t count = 0;
    JSON_EACH (row, rows)
        nodes[count++] = make_node(row);
    gang.group = group ? tree(arena_printf(arena, "{\"spec\":%s}",
                                           json_to_string(arena, read_json(arena, group))))
                       : NULL;
    gang.waiting = ARENA_ARRAY(arena, struct scheduler_member, json_count(pods) + 1);
    JSON_EACH (row, pods)
        gang.waiting[gang.waiting_count++].pod = make_pod(row);
    const struct scheduler_view view = {.nodes = nodes, .count = count};
    scheduler_gang_decide(arena, &gang, &view);
    for (size_t i = 0; i < count; i++)
        node_usage_release((struct node_usage *)nodes[i].used);
    return outcome(&gang);
}

#define TOO_SMALL                                                                                  \
    " The cluster is too small for this even when it is empty: run 'trainyard down', then "        \
    "'trainyard up "
#define TWO "[{'name': 'a', 'cpu': 2}, {'name': 'b', 'cpu': 2}]"

static void test_layouts(void **state)
{
    static const struct {
        const char *group;
        size_t placed;
        const char *nodes, *pods, *outcome;
    } rows[] = {
        /* The group and enough members must exist first. */
        {NULL, 0, TWO, "[{}]", "pod group \"g\" does not exist"},
        {"{'minMember': 4}", 0, TWO, "[{}, {}]", "pod group \"g\": 2 of 4 members exist"},
        {"{'minMember': 4}", 1, TWO, "[{}, {}]", "pod group \"g\": 3 of 4 members exist"},
        {"{'minMember': 2}", 0, "[]", "[{}, {}]",
         "pod group \"g\" needs 2 pods at once, but none fits: no nodes available to schedule "
         "pods"},
        {"{}", 0, TWO, "[{}]", "a"},
        {"{'minMember': 0}", 0, TWO, "[{}]", "a"},
        {"{'minMember': 2}", 0, TWO, "[]", ""},
        /* Free resources. */
        {"{'minMember': 2}", 0, TWO, "[{'cpu': 2}, {'cpu': 2}]", "a b"},
        {"{'minMember': 4}", 0, TWO, "[{'cpu': 1}, {'cpu': 1}, {'cpu': 1}, {'cpu': 1}]", "a b a b"},
        {"{'minMember': 3}", 0, TWO, "[{'cpu': 2}, {'cpu': 2}, {'cpu': 1}]",
         "pod group \"g\" needs 3 pods at once, but only 2 fit: for the next one 0/2 nodes are "
         "available: 2 Insufficient cpu." TOO_SMALL "--cpus 5'"},
        {"{'minMember': 1}", 0, TWO, "[{'cpu': 3}]",
         "0/2 nodes are available: 2 Insufficient cpu." TOO_SMALL "--cpus 3'"},
        {"{'minMember': 2}", 0, "[{'name': 'a', 'cpu': 2, 'busy': 1500}, {'name': 'b', 'cpu': 1}]",
         "[{'cpu': 1}, {'cpu': 1}]",
         "pod group \"g\" needs 2 pods at once, but only 1 fits: for the next one 0/2 nodes are "
         "available: 2 Insufficient cpu."},
        {"{'minMember': 2}", 0, "[{'name': 'a', 'memory': '3Gi'}]",
         "[{'memory': '2Gi'}, {'memory': '2Gi'}]",
         "pod group \"g\" needs 2 pods at once, but only 1 fits: for the next one 0/1 nodes are "
         "available: 1 Insufficient memory." TOO_SMALL "--memory 4Gi'"},
        {"{'minMember': 3}", 0, "[{'name': 'a', 'pods': 2}]", "[{}, {}, {}]",
         "pod group \"g\" needs 3 pods at once, but only 2 fit: for the next one 0/1 nodes are "
         "available: 1 Too many pods."},
        /* Spread like single pods, these would not fit. */
        {"{'minMember': 3}", 0, TWO, "[{'cpu': 1}, {'cpu': 1}, {'cpu': 2}]", "b b a"},
        {"{'minMember': 4}", 0, "[{'name': 'a', 'cpu': 3}, {'name': 'b', 'cpu': 6}]",
         "[{'cpu': 3}, {'cpu': 2}, {'cpu': 2}, {'cpu': 2}]", "a b b b"},
        /* It fits neither spread nor packed, but only if the small pod is not on its preferred
         * node. */
        {"{'minMember': 3}", 0,
         "[{'name': 'a', 'cpu': 2, 'gpu': 1}, {'name': 'b', 'cpu': 1},"
         "{'name': 'c', 'cpu': 3, 'gpu': 1}]",
         "[{'cpu': 5}, {'cpu': 3}, {'cpu': 2}, {'cpu': 3}, {'cpu': 1, 'gpu': 1}, {'cpu': 2}]",
         "- - a - c c: 0/3 nodes are available: 3 Insufficient cpu."},
        /* Selectors, taints, cordons. */
        {"{'minMember': 2}", 0, "[{'name': 'a', 'cpu': 1}, {'name': 'b', 'cpu': 1, 'gpu': 1}]",
         "[{'cpu': 1}, {'cpu': 1, 'gpu': 1}]", "a b"},
        {"{'minMember': 2}", 0, "[{'name': 'a', 'cpu': 1, 'gpu': 1}, {'name': 'b', 'cpu': 1}]",
         "[{'cpu': 1}, {'cpu': 1, 'gpu': 1}]", "b a"},
        {"{'minMember': 2}", 0, "[{'name': 'a', 'cpu': 1, 'gpu': 1}, {'name': 'b', 'cpu': 1}]",
         "[{'cpu': 1, 'gpu': 1}, {'cpu': 1, 'gpu': 1}]",
         "pod group \"g\" needs 2 pods at once, but only 1 fits: for the next one 0/2 nodes are "
         "available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector (the "
         "pod wants gpu=yes)."},
        {"{'minMember': 2}", 0, "[{'name': 'a', 'taint': 1}, {'name': 'b', 'cordoned': true}]",
         "[{}, {}]",
         "pod group \"g\" needs 2 pods at once, but none fits: 0/2 nodes are available: 1 node(s) "
         "had untolerated taint {k: v}, 1 node(s) were unschedulable."},
        {"{'minMember': 2}", 0, "[{'name': 'a', 'taint': 1}, {'name': 'b', 'pods': 1}]",
         "[{'tolerates': 1}, {}]", "a b"},
        /* Host ports. */
        {"{'minMember': 2}", 0, TWO, "[{'port': 80}, {'port': 80}]", "a b"},
        {"{'minMember': 2}", 0, "[{'name': 'a', 'port': 80}, {'name': 'b'}]",
         "[{'port': 81}, {'port': 80}]", "a b"},
        {"{'minMember': 3}", 0, TWO, "[{'port': 80}, {'port': 80}, {'port': 80}]",
         "pod group \"g\" needs 3 pods at once, but only 2 fit: for the next one 0/2 nodes are "
         "available: 2 node(s) didn't have free ports for the requested pod ports."},
        /* There are more members than minMember: the members that fit start, if they are enough. */
        {"{'minMember': 2}", 0, TWO, "[{'cpu': 2}, {'cpu': 2}, {'cpu': 2}]",
         "a b -: 0/2 nodes are available: 2 Insufficient cpu."},
        {"{'minMember': 2}", 0, "[{'name': 'a', 'cpu': 2}]", "[{'cpu': 2}, {'cpu': 1}, {'cpu': 1}]",
         "- a a: 0/1 nodes are available: 1 Insufficient cpu."},
        /* The rest of a started group follows. Pods beyond minMember are scheduled like single
         * pods. */
        {"{'minMember': 4}", 2, TWO, "[{'cpu': 2}, {'cpu': 2}]", "a b"},
        {"{'minMember': 4}", 3, TWO, "[{'cpu': 3}]",
         "pod group \"g\" needs 4 pods at once, but only 3 fit: for the next one 0/2 nodes are "
         "available: 2 Insufficient cpu."},
        {"{'minMember': 2}", 2, TWO, "[{'cpu': 3}, {'cpu': 1}]",
         "- a: 0/2 nodes are available: 2 Insufficient cpu."},
        {"{'minMember': 2}", 5, TWO, "[{'cpu': 3}]",
         "0/2 nodes are available: 2 Insufficient cpu."},
        /* minResources counts for a group that has not started. */
        {"{'minMember': 1, 'minResources': {'cpu': 4}}", 0, TWO, "[{'cpu': 1}]", "a"},
        {"{'minMember': 1, 'minResources': {'cpu': '4500m'}}", 0, TWO, "[{'cpu': 1}]",
         "pod group \"g\" needs 4500m cpu at once, but only 4 is free"},
        {"{'minMember': 1, 'minResources': {'cpu': 3}}", 0,
         "[{'name': 'a', 'cpu': 2}, {'name': 'b', 'cpu': 2, 'cordoned': true}]", "[{'cpu': 1}]",
         "pod group \"g\" needs 3 cpu at once, but only 2 is free"},
        {"{'minMember': 1, 'minResources': {'memory': '2Gi'}}", 0,
         "[{'name': 'a', 'memory': '1Gi'}]", "[{}]",
         "pod group \"g\" needs 2Gi memory at once, but only 1Gi is free"},
        {"{'minMember': 2, 'minResources': {'cpu': 6}}", 0, TWO, "[{'cpu': 3}, {'cpu': 3}]",
         "pod group \"g\" needs 2 pods at once, but none fits: 0/2 nodes are available: 2 "
         "Insufficient cpu." TOO_SMALL "--cpus 3'"},
        {"{'minMember': 2, 'minResources': {'cpu': 9}}", 1, TWO, "[{'cpu': 1}]", "a"},
        {"{'minMember': 1, 'minResources': {'cpu': 9, 'cats': 3}}", 0, "[{'name': 'a'}]",
         "[{'cpu': 1}]", "a"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_string_equal(decide(rows[i].group, rows[i].placed, rows[i].nodes, rows[i].pods),
                            rows[i].outcome);
}

/* ---- Random cases ---------------------------------------------------------------------------- */

enum { NODES = 3, PODS_MAX = 6, ROUNDS = 4000 };

struct draw {
    int64_t room[NODES], want[PODS_MAX];
    bool gpu_node[NODES], gpu_pod[PODS_MAX];
    size_t pods, min_member;
};

/* Returns the largest number of pods that fit, by trying all layouts. */
static size_t most_that_fit(struct draw *draw, size_t pod)
{
    if (pod == draw->pods)
        return 0;
    size_t most = most_that_fit(draw, pod + 1);
    for (size_t node = 0; node < NODES; node++) {
        if (draw->want[pod] > draw->room[node] || (draw->gpu_pod[pod] && !draw->gpu_node[node]))
            continue;
        draw->room[node] -= draw->want[pod];
        size_t with = 1 + most_that_fit(draw, pod + 1);
        draw->room[node] += draw->want[pod];
        most = with > most ? with : most;
    }
    return most;
}

static void draw_case(struct rand *rand, struct draw *draw)
{
    *draw = (struct draw){.pods = 1 + rand_below(rand, PODS_MAX)};
    draw->min_member = 1 + rand_below(rand, draw->pods);
    for (size_t i = 0; i < NODES; i++) {
        draw->room[i] = (int64_t)rand_below(rand, 10);
        draw->gpu_node[i] = rand_below(rand, 2);
    }
    for (size_t i = 0; i < draw->pods; i++) {
        draw->want[i] = 1 + (int64_t)rand_below(rand, 5);
        draw->gpu_pod[i] = rand_below(rand, 4) == 0;
    }
}

static void check_case(const struct draw *draw, const struct scheduler_gang *gang, size_t most,
                       uint64_t round)
{
    int64_t taken[NODES] = {0};
    size_t placed = 0;
    for (size_t i = 0; i < draw->pods; i++) {
        if (!gang->waiting[i].node)
            continue;
        size_t node = (size_t)(gang->waiting[i].node[0] - 'a');
        taken[node] += draw->want[i];
        placed++;
        assert_true(!draw->gpu_pod[i] || draw->gpu_node[node]);
    }
    for (size_t i = 0; i < NODES; i++)
        assert_true(taken[i] <= draw->room[i]);
    if (most >= draw->min_member && placed < draw->min_member)
        fail_msg("round %" PRIu64 ": %zu would fit, %zu were wanted, none was placed", round, most,
                 draw->min_member);
    if (most < draw->min_member)
        assert_int_equal(placed, 0);
}

static void test_random_layouts(void **state)
{
    struct rand rand;
    rand_init(&rand, 1);
    size_t started = 0;
    for (uint64_t round = 0; round < ROUNDS; round++, arena_reset(arena)) {
        struct draw draw;
        draw_case(&rand, &draw);
        struct scheduler_node nodes[NODES];
        struct scheduler_member members[PODS_MAX] = {0};
        for (size_t i = 0; i < NODES; i++)
            nodes[i] = make_node(read_json(
                arena, arena_printf(arena, "{'name': '%c', 'cpu': %" PRId64 "%s}", (char)('a' + i),
                                    draw.room[i], draw.gpu_node[i] ? ", 'gpu': 1" : "")));
        for (size_t i = 0; i < draw.pods; i++)
            members[i].pod = make_pod(
                read_json(arena, arena_printf(arena, "{'cpu': %" PRId64 "%s}", draw.want[i],
                                              draw.gpu_pod[i] ? ", 'gpu': 1" : "")));
        struct scheduler_gang gang = {
            .name = "g",
            .group = read_json(
                arena, arena_printf(arena, "{'spec': {'minMember': %zu}}", draw.min_member)),
            .waiting = members,
            .waiting_count = draw.pods,
        };
        const struct scheduler_view view = {.nodes = nodes, .count = NODES};
        scheduler_gang_decide(arena, &gang, &view);
        size_t most = most_that_fit(&draw, 0);
        check_case(&draw, &gang, most, round);
        started += most >= draw.min_member;
    }
    assert_true(started > ROUNDS / 10 && started < ROUNDS * 9 / 10); /* both outcomes occurred */
}

/* A large group is decided on in a short time, without a search. */
static void test_large_group(void **state)
{
    enum { MEMBERS = 2000 };
    struct scheduler_node nodes[] = {make_node(read_json(arena, "{'name': 'a', 'cpu': 1000}")),
                                     make_node(read_json(arena, "{'name': 'b', 'cpu': 1000}"))};
    struct scheduler_member *members = ARENA_ARRAY(arena, struct scheduler_member, MEMBERS + 1);
    const struct json *pod = make_pod(read_json(arena, "{'cpu': 1}"));
    for (size_t i = 0; i <= MEMBERS; i++)
        members[i].pod = pod;
    struct scheduler_gang gang = {.name = "g",
                                  .group = read_json(arena, "{'spec': {'minMember': 2000}}"),
                                  .waiting = members,
                                  .waiting_count = MEMBERS};
    const struct scheduler_view view = {.nodes = nodes, .count = 2};
    scheduler_gang_decide(arena, &gang, &view);
    for (size_t i = 0; i < MEMBERS; i++)
        assert_non_null(members[i].node);
    gang.group = read_json(arena, "{'spec': {'minMember': 2001}}");
    gang.waiting_count = MEMBERS + 1;
    scheduler_gang_decide(arena, &gang, &view);
    for (size_t i = 0; i <= MEMBERS; i++)
        assert_null(members[i].node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_random_layouts),
        cmocka_unit_test(test_large_group),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
