/* Tests the status of a node that the cluster was started without. */
#include "node_test.h"

#include "node/node_retired.h"

#include "kube/condition.h"

#define CONDITIONS                                                                                 \
    "'conditions':[{'type':'DiskPressure','status':'False','reason':'Enough'},"                    \
    "{'type':'Ready','status':'True','lastHeartbeatTime':'t','lastTransitionTime':'t'}]"
#define NODE(name, runtime)                                                                        \
    "{'metadata':{'name':'" name "'},'status':{'nodeInfo':{'containerRuntimeVersion':'" runtime    \
    "'}," CONDITIONS "}}"

static const char *const NAMES[] = {"node-1", "node-2", NULL};

static struct json *patch_of(struct arena *arena, const char *node)
{
    return node_retired_patch(arena, read_json(arena, node), NAMES, 1000);
}

static void other_nodes_are_not_patched(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    assert_null(patch_of(arena, NODE("node-2", "trainyard://0.1.0")));
    assert_null(patch_of(arena, NODE("node-3", "containerd://2.0.0")));
    assert_null(patch_of(arena, "{'metadata':{'name':'node-3'}}"));
}

static void retired_node_is_not_ready(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *node = read_json(arena, NODE("node-3", "trainyard://0.1.0"));
    struct json *patch = node_retired_patch(arena, node, NAMES, 1000);
    assert_non_null(patch);
    const struct json *ready = kube_condition_get(patch, "Ready");
    assert_string_equal(json_get_string(ready, "status", ""), "Unknown");
    assert_string_equal(json_get_string(ready, "reason", ""), "NodeStatusUnknown");
    assert_string_equal(json_get_string(ready, "lastHeartbeatTime", ""), "t");
    assert_string_equal(json_get_string(ready, "lastTransitionTime", ""), "1970-01-01T00:00:01Z");
    assert_non_null(
        strstr(json_get_string(ready, "message", ""),
               "remove the node with 'kubectl drain node-3' and 'kubectl delete node node-3'"));
    assert_string_equal(json_get_string(kube_condition_get(patch, "DiskPressure"), "status", ""),
                        "Unknown");
    /* The status is written once. */
    json_set(arena, json_get(node, "status"), "conditions",
             json_clone(arena, json_at(patch, "status", "conditions", NULL)));
    assert_null(node_retired_patch(arena, node, NAMES, 2000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_nodes_are_not_patched),
        cmocka_unit_test(retired_node_is_not_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
