/* Tests a scheduler that died between two bindings of a group. Its successor must finish that group
 * before it gives room to other pods, even to further members of a group that has enough. */
#include "read_json.h"
#include "sim_cluster.h"

#include "base/mem.h"
#include "engine/engine.h"
#include "engine/scheduler/gang.h"
#include "kube/client/informer.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "served_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SEED = 1, SETTLED_MS = 5000 };

static void create_object(struct sim_cluster *cluster, const struct kube_resource *resource,
                          const char *namespace_, const char *text)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    kube_create(cluster->client, resource, namespace_, read_json(arena, text), sim_must_succeed,
                NULL);
    sim_loop_run_for(cluster->loop, 100);
}

static void make_pod(struct sim_cluster *cluster, const char *group, const char *name,
                     const char *node)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    create_object(cluster, &KUBE_PODS, "default",
                  arena_printf(arena,
                               "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s-%s',"
                               " 'labels': {'" SCHEDULER_GANG_LABEL "': '%s'}}, 'spec': {%s%s%s"
                               " 'containers': [{'name': 'm', 'image': 'i',"
                               " 'resources': {'requests': {'cpu': '1'}}}]}}",
                               group, name, group, node ? "'nodeName': '" : "", node ? node : "",
                               node ? "'," : ""));
}

static void make_group(struct sim_cluster *cluster, const char *name, int min_member)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    create_object(cluster, &KUBE_PODGROUPS, "default",
                  arena_printf(arena,
                               "{'apiVersion': 'scheduling.x-k8s.io/v1alpha1', 'kind': 'PodGroup',"
                               " 'metadata': {'name': '%s'}, 'spec': {'minMember': %d}}",
                               name, min_member));
    make_pod(cluster, name, "bound", "n");
    make_pod(cluster, name, "waiting", NULL);
}

static void ignore_change(void *context, struct kube_object *old, struct kube_object *new_)
{
}

static const char *node_of(struct kube_informer *pods, const char *name)
{
    struct kube_object *pod = kube_informer_get(pods, "default", name);
    assert_non_null(pod);
    return json_get_string(json_get(pod->json, "spec"), "nodeName", "");
}

/* There is room for one of the two waiting pods. Group `half` needs one more member, `whole` does
 * not. */
static void check_group_is_completed_first(const char *half, const char *whole)
{
    struct sim_cluster cluster;
    sim_cluster_init(&cluster, SEED);
    sim_loop_run_for(cluster.loop, SETTLED_MS);
    cluster.controllers = engine_controllers_free(cluster.controllers);
    create_object(&cluster, &KUBE_NODES, NULL,
                  "{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'n'}, 'status':"
                  " {'allocatable': {'cpu': '3', 'pods': '10'},"
                  " 'conditions': [{'type': 'Ready', 'status': 'True'}]}}");
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *cordon = read_json(arena, "{'spec': {'unschedulable': true}}");
    kube_patch(cluster.client, &KUBE_NODES, NULL, "sim-node", NULL, cordon, sim_must_succeed, NULL);
    make_group(&cluster, half, 2);
    make_group(&cluster, whole, 1);
    struct kube_informer *pods =
        kube_informer_new(cluster.client, &KUBE_PODS, NULL, NULL, ignore_change, NULL);
    cluster.controllers = engine_controllers_new(cluster.loop, cluster.transport, SERVED_KINDS);
    sim_loop_run_for(cluster.loop, SETTLED_MS);
    assert_string_equal(node_of(pods, arena_printf(arena, "%s-waiting", half)), "n");
    assert_string_equal(node_of(pods, arena_printf(arena, "%s-waiting", whole)), "");
    kube_informer_free(pods);
    sim_cluster_release(&cluster);
}

static void partially_bound_group_is_completed_first(void **state)
{
    check_group_is_completed_first("a", "b");
    check_group_is_completed_first("b", "a"); /* in the other order of names */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(partially_bound_group_is_completed_first)};
    return cmocka_run_group_tests_name("sim_gang_resume", tests, NULL, NULL);
}
