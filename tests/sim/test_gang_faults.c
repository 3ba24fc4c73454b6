/* Tests groups of pods that compete for too few nodes, in virtual time on the real API. Faults are
 * drawn from a seed: the scheduler is killed between any two of its calls, calls and answers are
 * lost, and watches end. Members are deleted and created again, or preempted by pods with a higher
 * priority. A member ends only when its whole group has run at the same time, like the members of a
 * training job. So two groups with half of the room each would wait forever. The rules: no node
 * gets more than its capacity, no group begins before enough of its members exist, and every pod
 * ends. TRAINYARD_SIM_SEED runs a single seed. */
#include "sim_cluster.h"
#include "sim_seeds.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/scheduler/gang.h"
#include "fault_transport.h"
#include "kube/client/informer.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "served_kinds.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    SEEDS_DEFAULT = 40,
    NODES = 3,
    CPUS = 3, /* per node */
    GROUPS = 4,
    MEMBERS_MAX = 7,
    SINGLES = 3, /* pods without a group, which wait for free room while faults happen */
    PARTIAL_MS = 5000,
    LIFE_MS = 200, /* interval at which the nodes and the owner of the pods act */
    SLICE_MS = 10 * 1000,
    TROUBLE_MS = 40 * 1000,
    PATIENCE_MS = 2 * 3600 * 1000,
};

struct group {
    char name[16];
    size_t members, min_member;
    bool has_run;       /* enough members have run at the same time */
    int64_t partial_ms; /* time since some, but not enough, members have a node; 0: not the case */
};

struct run {
    struct sim_cluster cluster;
    struct http_transport *faulty; /* the controllers' transport */
    uint64_t seed;
    bool deletes; /* members are deleted by a user, and preempted by pods of higher priority */
    struct group groups[GROUPS];
    size_t singles, singles_gone;            /* number created and number preempted so far */
    struct kube_informer *pods, *pod_groups; /* the auditor's informers, without faults */
    struct loop_timer trouble, life;
};

#define check(run, condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("TRAINYARD_SIM_SEED=%" PRIu64 ": ", (run)->seed);                          \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

static const char *phase_of(const struct kube_object *pod)
{
    return json_get_string(json_get(pod->json, "status"), "phase", "");
}

static const char *node_of(const struct kube_object *pod)
{
    return json_get_string(json_get(pod->json, "spec"), "nodeName", "");
}

static bool has_ended(const struct kube_object *pod)
{
    return str_eq(phase_of(pod), "Succeeded");
}

static bool is_member(const struct kube_object *pod, const struct group *group)
{
    return str_eq(kube_meta_label(pod->json, SCHEDULER_GANG_LABEL), group->name);
}

static struct group *group_of(struct run *run, const struct kube_object *pod)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (is_member(pod, &run->groups[i]))
            return &run->groups[i];
    return NULL;
}

static bool matches_any(const struct kube_object *pod)
{
    return true;
}

static bool is_bound(const struct kube_object *pod)
{
    return node_of(pod)[0] != '\0';
}

static bool has_begun(const struct kube_object *pod)
{
    return str_eq(phase_of(pod), "Running") || has_ended(pod);
}

static size_t count_members(struct run *run, const struct group *group,
                            bool (*counts)(const struct kube_object *pod))
{
    const struct kube_object *pod;
    size_t count = 0;
    for (size_t at = 0; (pod = kube_informer_next(run->pods, NULL, &at));)
        count += is_member(pod, group) && counts(pod);
    return count;
}

static void ignore_answer(void *context, struct json *object, const struct err *err)
{
}

/* ---- The auditor ----------------------------------------------------------------------------- */

static void check_room(struct run *run, const char *node)
{
    const struct kube_object *pod;
    int cpus = 0;
    for (size_t at = 0; (pod = kube_informer_next(run->pods, NULL, &at));)
        cpus += str_eq(node_of(pod), node) && !has_ended(pod);
    check(run, cpus <= CPUS, "%s has %d pods of one cpu each, and %d cpus", node, cpus, CPUS);
}

static void on_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct run *run = context;
    const struct group *group = group_of(run, new_ ? new_ : old);
    if (!new_ && !group)
        run->singles_gone++;
    if (new_ && kube_condition_is_true(new_->json, "DisruptionTarget"))
        check(run, json_get_int(json_get(new_->json, "spec"), "priority", 0) == 0,
              "%s is preempted, but no pod has a higher priority", new_->name);
    if (!new_ || !node_of(new_)[0] || (old && node_of(old)[0]))
        return;
    check_room(run, node_of(new_));
    /* With deletions, the scheduler may still count members that have just been deleted. */
    if (group && !run->deletes)
        check(run, count_members(run, group, matches_any) >= group->min_member,
              "%s begins with %zu of %zu members", group->name,
              count_members(run, group, matches_any), group->min_member);
}

/* A scheduler may die between two bindings; the next scheduler binds the rest. No other pod can
 * take the room in between, so the rest is bound as soon as the new scheduler has its cache. */
static void check_partial_group(struct run *run, struct group *group)
{
    size_t bound = count_members(run, group, is_bound);
    int64_t now_ms = loop_now_ms(run->cluster.loop);
    if (bound == 0 || bound >= group->min_member)
        group->partial_ms = 0;
    else if (group->partial_ms == 0)
        group->partial_ms = now_ms;
    else
        check(run, run->deletes || now_ms - group->partial_ms < PARTIAL_MS,
              "%s has stood with %zu of %zu bound for %" PRId64 " ms", group->name, bound,
              group->min_member, now_ms - group->partial_ms);
}

static void on_group(void *context, struct kube_object *old, struct kube_object *new_)
{
}

/* ---- Nodes and the owner of the pods --------------------------------------------------------- */

static void make_pod(struct run *run, const char *name, const char *group, bool important)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod = kube_object_make(arena, &KUBE_PODS, "default", name);
    struct json *container = json_object(arena), *spec = json_ensure_object(arena, pod, "spec");
    json_set_string(arena, container, "name", "m");
    json_set_string(arena, container, "image", "i");
    struct json *resources = json_ensure_object(arena, container, "resources");
    json_set_string(arena, json_ensure_object(arena, resources, "requests"), "cpu", "1");
    json_append(json_ensure_array(arena, spec, "containers"), container);
    if (important)
        json_set_string(arena, spec, "priorityClassName", "system-cluster-critical");
    if (group)
        kube_meta_set_label(arena, pod, SCHEDULER_GANG_LABEL, group);
    kube_create(run->cluster.client, &KUBE_PODS, "default", pod, ignore_answer, NULL);
}

static void report(struct run *run, const struct kube_object *pod, const char *phase)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *patch = json_object(arena);
    json_set_string(arena, json_ensure_object(arena, patch, "metadata"), "uid", pod->uid);
    json_set_string(arena, json_ensure_object(arena, patch, "status"), "phase", phase);
    kube_patch(run->cluster.client, &KUBE_PODS, "default", pod->name, "status", patch,
               ignore_answer, NULL);
}

/* Creates missing members, a few at a time. */
static void make_members(struct run *run)
{
    for (size_t i = 0; i < GROUPS; i++) {
        for (size_t k = 0; k < run->groups[i].members; k++) {
            char name[32];
            snprintf(name, sizeof(name), "%s-%zu", run->groups[i].name, k);
            if (!kube_informer_get(run->pods, "default", name) &&
                rand_below(run->cluster.rand, 3) == 0)
                make_pod(run, name, run->groups[i].name, false);
        }
    }
}

static void make_singles(struct run *run)
{
    const struct kube_object *pod;
    size_t waiting = 0;
    for (size_t at = 0; (pod = kube_informer_next(run->pods, NULL, &at));)
        waiting += !group_of(run, pod) && !is_bound(pod);
    for (; run->trouble.running && waiting < SINGLES; waiting++) {
        char name[32];
        snprintf(name, sizeof(name), "single-%zu", run->singles++);
        make_pod(run, name, NULL, run->deletes && rand_below(run->cluster.rand, 3) == 0);
    }
}

static void on_tick(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, life);
    struct kube_object *pod;
    make_members(run);
    make_singles(run);
    for (size_t i = 0; i < GROUPS; i++)
        check_partial_group(run, &run->groups[i]);
    for (size_t i = 0; i < GROUPS; i++)
        run->groups[i].has_run |=
            count_members(run, &run->groups[i], has_begun) >= run->groups[i].min_member;
    for (size_t at = 0; (pod = kube_informer_next(run->pods, NULL, &at));) {
        const struct group *group = group_of(run, pod);
        bool lucky = rand_below(run->cluster.rand, group ? 8 : 40) == 0;
        if (!node_of(pod)[0] || has_ended(pod) || !lucky)
            continue;
        if (kube_meta_is_deleting(pod->json)) {
            struct kube_delete_options now = {.grace_period_seconds = 0, .uid = pod->uid};
            kube_delete(run->cluster.client, &KUBE_PODS, "default", pod->name, &now, ignore_answer,
                        NULL);
            continue;
        }
        if (!str_eq(phase_of(pod), "Running"))
            report(run, pod, "Running");
        else if (!group || group->has_run)
            report(run, pod, "Succeeded");
    }
    loop_timer_start(timer, LIFE_MS);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void kill_scheduler(struct run *run)
{
    engine_controllers_free(run->cluster.controllers);
    run->cluster.controllers = engine_controllers_new(run->cluster.loop, run->faulty, SERVED_KINDS);
}

static void delete_random_member(struct run *run)
{
    const struct kube_object *pod;
    struct kube_delete_options options = {.grace_period_seconds = 0};
    for (size_t at = 0; (pod = kube_informer_next(run->pods, NULL, &at));) {
        if (!group_of(run, pod) || has_ended(pod) || rand_below(run->cluster.rand, 8) > 0)
            continue;
        options.uid = pod->uid;
        kube_delete(run->cluster.client, &KUBE_PODS, "default", pod->name, &options, ignore_answer,
                    NULL);
        return;
    }
}

/* Half of the delays are milliseconds, so that faults also happen while the scheduler decides. */
static void on_fault(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, trouble);
    struct rand *rand = run->cluster.rand;
    if (run->deletes && rand_below(rand, 2))
        delete_random_member(run);
    else
        kill_scheduler(run);
    loop_timer_start(timer, 1 + (int64_t)rand_below(rand, rand_below(rand, 2) ? 30 : 3000));
}

/* ---- Setup ----------------------------------------------------------------------------------- */

static void make_nodes(struct run *run)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_client *client = run->cluster.client;
    struct json *cordon = json_object(arena);
    json_set_bool(arena, json_ensure_object(arena, cordon, "spec"), "unschedulable", true);
    kube_patch(client, &KUBE_NODES, NULL, "sim-node", NULL, cordon, ignore_answer, NULL);
    /* The new scheduler has never seen this node schedulable. */
    sim_loop_run_for(run->cluster.loop, 1000);
    kill_scheduler(run);
    for (int i = 0; i < NODES; i++) {
        struct json *node =
            kube_object_make(arena, &KUBE_NODES, NULL, arena_printf(arena, "n%d", i));
        struct json *status = json_ensure_object(arena, node, "status");
        json_set_int(arena, json_ensure_object(arena, status, "allocatable"), "cpu", CPUS);
        struct json *ready = json_object(arena);
        json_set_string(arena, ready, "type", "Ready");
        json_set_string(arena, ready, "status", "True");
        json_append(json_ensure_array(arena, status, "conditions"), ready);
        kube_create(client, &KUBE_NODES, NULL, node, ignore_answer, NULL);
    }
    for (size_t i = 0; i < GROUPS; i++) {
        struct group *group = &run->groups[i];
        snprintf(group->name, sizeof(group->name), "g%zu", i);
        group->members = 1 + rand_below(run->cluster.rand, MEMBERS_MAX);
        group->min_member = group->members - rand_below(run->cluster.rand, 2) *
                                                 rand_below(run->cluster.rand, group->members);
        struct json *object = kube_object_make(arena, &KUBE_PODGROUPS, "default", group->name);
        json_set_int(arena, json_ensure_object(arena, object, "spec"), "minMember",
                     (int64_t)group->min_member);
        kube_create(client, &KUBE_PODGROUPS, "default", object, ignore_answer, NULL);
    }
}

/* Whether all expected pods exist and have ended, and the statuses of the groups say so. */
static bool is_over(struct run *run)
{
    const struct kube_object *pod, *group;
    size_t count = 0, wanted = run->singles - run->singles_gone;
    for (size_t i = 0; i < GROUPS; i++)
        wanted += run->groups[i].members;
    for (size_t at = 0; (pod = kube_informer_next(run->pods, NULL, &at)); count++)
        if (!has_ended(pod))
            return false;
    for (size_t at = 0; (group = kube_informer_next(run->pod_groups, NULL, &at));)
        if (!str_eq(json_get_string(json_get(group->json, "status"), "phase", ""), "Finished"))
            return false;
    return count == wanted;
}

static void fail_stuck(struct run *run)
{
    const struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(run->pods, NULL, &at));)
        if (!has_ended(pod))
            print_error(
                "%s: %s on '%s': %s\n", pod->name, phase_of(pod), node_of(pod),
                json_get_string(kube_condition_get(pod->json, "PodScheduled"), "message", ""));
    check(run, false, "they never end");
}

static void run_seed(uint64_t seed)
{
    static const struct fault_rates rates = {30, 30, 30, 20}, none = {0};
    struct run run = {.seed = seed, .deletes = seed % 2 == 0};
    struct sim_cluster *cluster = &run.cluster;
    sim_cluster_init(cluster, seed);
    run.faulty = fault_transport_new(cluster->loop, cluster->transport, cluster->rand, &rates);
    run.pods = kube_informer_new(cluster->client, &KUBE_PODS, NULL, NULL, on_pod, &run);
    run.pod_groups =
        kube_informer_new(cluster->client, &KUBE_PODGROUPS, NULL, NULL, on_group, &run);
    make_nodes(&run);
    loop_timer_init(cluster->loop, &run.trouble, on_fault);
    loop_timer_init(cluster->loop, &run.life, on_tick);
    loop_timer_start(&run.trouble, 100);
    loop_timer_start(&run.life, LIFE_MS);
    for (int64_t waited = 0; !is_over(&run); waited += SLICE_MS) {
        if (waited == TROUBLE_MS) {
            loop_timer_stop(&run.trouble);
            fault_transport_set(run.faulty, &none);
        }
        if (waited > PATIENCE_MS)
            fail_stuck(&run);
        sim_loop_run_for(cluster->loop, SLICE_MS);
    }
    loop_timer_stop(&run.trouble);
    loop_timer_stop(&run.life);
    kube_informer_free(run.pods);
    kube_informer_free(run.pod_groups);
    cluster->controllers = engine_controllers_free(cluster->controllers);
    http_transport_free(run.faulty);
    sim_cluster_release(cluster);
}

static void test_groups_under_faults(void **state)
{
    sim_seeds_run(sim_seeds_scaled(SEEDS_DEFAULT), run_seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups_under_faults)};
    return cmocka_run_group_tests_name("sim_gang_faults", tests, NULL, NULL);
}
