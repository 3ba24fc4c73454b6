/* Tests rollouts with random faults. Templates change in the middle of a rollout, deployments are
 * scaled, and the statuses of sets are old. Pods become available late, break or never start. At
 * every step the sum of the sizes stays within replicas + maxSurge, and no step removes pods that
 * are needed for replicas - maxUnavailable. In the end the newest template has all replicas. */
#include "tree.h"

#include "base/rand.h"
#include "base/str.h"
#include "engine/controllers/deployment/deployment.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEDS = 600, STEPS = 300, SETTLE = 2000, SETS_MAX = 64, PODS_MAX = 256 };

/* A set in the API, and the pods that it really has. */
struct thing {
    struct json *json;
    int64_t total, available;
};

struct world {
    struct rand rand;
    uint64_t seed;
    int64_t now_ms;
    struct json *deployment;
    struct thing things[SETS_MAX];
    size_t count;
    int64_t largest; /* the largest sum of sizes that was allowed so far */
    int template_, made;
    bool recreate;
};

#define EXPECT(world, holds, ...)                                                                  \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            printf("seed %" PRIu64 ": %s\n", (world)->seed, arena_printf(arena, __VA_ARGS__));     \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

static bool chance(struct world *world, unsigned percent)
{
    return rand_below(&world->rand, 100) < percent;
}

static int64_t spec_number(const struct json *object, const char *name)
{
    return json_get_int(json_get(object, "spec"), name, 0);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- The deployment -------------------------------------------------------------------------- */

static int64_t rolling_number(const struct world *world, const char *name)
{
    return json_get_int(json_at(world->deployment, "spec", "strategy", "rollingUpdate", NULL), name,
                        0);
}

static int64_t most_pods(const struct world *world)
{
    return spec_number(world->deployment, "replicas") + rolling_number(world, "maxSurge");
}

static void bump(struct world *world)
{
    struct json *meta = json_get(world->deployment, "metadata");
    json_set_int(arena, meta, "generation", json_get_int(meta, "generation", 0) + 1);
}

static void set_template(struct world *world, int number)
{
    struct json *template_ = json_get(json_get(world->deployment, "spec"), "template");
    struct json *annotations =
        json_ensure_object(arena, json_get(template_, "metadata"), "annotations");
    world->template_ = number;
    json_set(arena, annotations, "number", json_stringf(arena, "%d", number));
    bump(world);
}

static void make_deployment(struct world *world)
{
    int64_t surge = (int64_t)rand_below(&world->rand, 4);
    int64_t unavailable = (int64_t)rand_below(&world->rand, 4);
    world->recreate = chance(world, 20);
    world->deployment = tree("{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":"
                             "{\"name\":\"d\",\"namespace\":\"n\",\"uid\":\"u\",\"generation\":1},"
                             "\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":"
                             "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{}}}}");
    struct json *spec = json_get(world->deployment, "spec");
    struct json *strategy = json_ensure_object(arena, spec, "strategy");
    json_set_int(arena, spec, "replicas", (int64_t)rand_below(&world->rand, 10));
    json_set_int(arena, spec, "revisionHistoryLimit", (int64_t)rand_below(&world->rand, 4));
    json_set_string(arena, strategy, "type", world->recreate ? "Recreate" : "RollingUpdate");
    if (!world->recreate) {
        struct json *rolling = json_ensure_object(arena, strategy, "rollingUpdate");
        json_set_int(arena, rolling, "maxSurge", surge);
        json_set_int(arena, rolling, "maxUnavailable", surge || unavailable ? unavailable : 1);
    }
    set_template(world, 0);
    world->largest = most_pods(world);
}

static void change_deployment(struct world *world)
{
    struct json *spec = json_get(world->deployment, "spec");
    if (chance(world, 50))
        set_template(world, (int)rand_below(&world->rand, 5)); /* sometimes an old template again */
    if (chance(world, 30)) {
        json_set_int(arena, spec, "replicas", (int64_t)rand_below(&world->rand, 10));
        bump(world);
    }
    if (most_pods(world) > world->largest)
        world->largest = most_pods(world);
}

/* ---- The sets -------------------------------------------------------------------------------- */

static void update_set_status(struct thing *thing)
{
    struct json *status = json_ensure_object(arena, thing->json, "status");
    json_set_int(arena, status, "replicas", thing->total);
    json_set_int(arena, status, "readyReplicas", thing->available);
    json_set_int(arena, status, "availableReplicas", thing->available);
    json_set_int(arena, status, "observedGeneration", kube_meta_generation(thing->json));
}

/* Lets a set delete pods: first those that are not available, like the set's own controller. */
static void run_set_controller(struct world *world, struct thing *thing, bool calm)
{
    int64_t size = spec_number(thing->json, "replicas");
    if (thing->total < size)
        thing->total += (int64_t)rand_below(&world->rand, (uint64_t)(size - thing->total) + 1);
    if (thing->total > size) {
        thing->total = size;
        thing->available = least(thing->available, size);
    }
    if (thing->available < thing->total && chance(world, 70))
        thing->available++;
    else if (!calm && thing->available > 0 && chance(world, 10))
        thing->available--;
    if (calm || chance(world, 60))
        update_set_status(thing);
}

/* ---- The controller -------------------------------------------------------------------------- */

static struct thing *thing_of(struct world *world, const struct json *set)
{
    for (size_t i = 0; i < world->count; i++)
        if (str_eq(kube_meta_name(world->things[i].json), kube_meta_name(set)))
            return &world->things[i];
    return NULL;
}

static void merge(struct json *target, const struct json *patch)
{
    JSON_EACH (member, patch) {
        if (member->type == JSON_OBJECT)
            merge(json_ensure_object(arena, target, member->name), member);
        else if (!str_eq(member->name, "resourceVersion"))
            json_set(arena, target, member->name, json_clone(arena, member));
    }
}

static int64_t sum_of_sizes(const struct world *world)
{
    int64_t sum = 0;
    for (size_t i = 0; i < world->count; i++)
        sum += spec_number(world->things[i].json, "replicas");
    return sum;
}

/* Returns the number of pods that are available and stay so, whichever pods the sets delete. */
static int64_t count_stable_pods(const struct world *world)
{
    int64_t sum = 0;
    for (size_t i = 0; i < world->count; i++) {
        const struct json *set = world->things[i].json;
        sum += least(json_get_int(json_get(set, "status"), "availableReplicas", 0),
                     spec_number(set, "replicas"));
    }
    return sum;
}

static void act(struct world *world, const struct deployment_action *action)
{
    struct thing *thing = thing_of(world, action->set);
    switch (action->type) {
    case DEPLOYMENT_CREATE_SET:
        EXPECT(world, !thing, "%s is made twice", kube_meta_name(action->set));
        EXPECT(world, world->count < SETS_MAX, "too many sets");
        thing = &world->things[world->count++];
        *thing = (struct thing){.json = json_clone(arena, action->set)};
        json_set(arena, json_get(thing->json, "metadata"), "uid",
                 json_stringf(arena, "s%d", ++world->made));
        json_set_int(arena, json_get(thing->json, "metadata"), "generation", 1);
        break;
    case DEPLOYMENT_PATCH_SET:
        merge(thing->json, action->patch);
        json_set_int(arena, json_get(thing->json, "metadata"), "generation",
                     kube_meta_generation(thing->json) + (json_get(action->patch, "spec") != NULL));
        break;
    case DEPLOYMENT_DELETE_SET:
        EXPECT(world, thing->total == 0 && spec_number(thing->json, "replicas") == 0,
               "%s is forgotten with pods", kube_meta_name(action->set));
        *thing = world->things[--world->count];
        break;
    case DEPLOYMENT_ADOPT:
    case DEPLOYMENT_RELEASE:
    case DEPLOYMENT_ACTION_TYPES:
        EXPECT(world, false, "a set is adopted or released, although there is only one owner");
    }
}

/* Returns the pods of all sets. */
static const struct json **pods_of(const struct world *world, size_t *ret_count)
{
    const struct json **pods = ARENA_ARRAY(arena, const struct json *, PODS_MAX);
    *ret_count = 0;
    for (size_t i = 0; i < world->count; i++) {
        for (int64_t pod = 0; pod < world->things[i].total && *ret_count < PODS_MAX; pod++) {
            struct json *made = json_object(arena);
            kube_meta_add_owner(arena, made,
                                kube_owner_reference_new(arena, world->things[i].json, true));
            pods[(*ret_count)++] = made;
        }
    }
    return pods;
}

/* Returns true if there was an action. */
static bool reconcile(struct world *world)
{
    const struct json *sets[SETS_MAX];
    struct deployment_plan plan;
    int64_t sizes = sum_of_sizes(world), serving = count_stable_pods(world);
    bool scaling = false;
    for (size_t i = 0; i < world->count; i++) {
        const char *desired = kube_meta_annotation(world->things[i].json, DEPLOYMENT_DESIRED);
        sets[i] = world->things[i].json;
        scaling |= desired && atoll(desired) != spec_number(world->deployment, "replicas");
    }
    struct deployment_observed observed = {
        .deployment = world->deployment,
        .sets = sets,
        .set_count = world->count,
        .now_ms = world->now_ms,
    };
    observed.pods = pods_of(world, &observed.pod_count);
    deployment_reconcile(arena, &observed, &plan);
    for (size_t i = 0; i < plan.action_count; i++)
        act(world, &plan.actions[i]);
    int64_t most = most_pods(world), now = sum_of_sizes(world);
    int64_t needed =
        spec_number(world->deployment, "replicas") - rolling_number(world, "maxUnavailable");
    EXPECT(world, now <= (most > sizes ? most : sizes), "%" PRId64 " pods, allowed are %" PRId64,
           now, most);
    if (!scaling && !world->recreate)
        EXPECT(world, count_stable_pods(world) >= least(serving, needed),
               "%" PRId64 " pods serve, needed are %" PRId64 ", there were %" PRId64,
               count_stable_pods(world), needed, serving);
    if (plan.status)
        json_set(arena, world->deployment, "status", plan.status);
    if (plan.revision)
        kube_meta_set_annotation(arena, world->deployment, DEPLOYMENT_REVISION, plan.revision);
    return plan.action_count > 0;
}

/* Checks that all old pods end before new ones start. */
static void expect_no_mixture(struct world *world)
{
    const struct thing *running = NULL;
    for (size_t i = 0; i < world->count; i++) {
        if (world->things[i].total == 0)
            continue;
        EXPECT(world, !running, "pods of two templates run");
        running = &world->things[i];
    }
}

static void expect_done(struct world *world)
{
    const struct json *status = json_get(world->deployment, "status");
    int64_t replicas = spec_number(world->deployment, "replicas");
    EXPECT(world, sum_of_sizes(world) == replicas, "%" PRId64 " of %" PRId64 " pods",
           sum_of_sizes(world), replicas);
    EXPECT(world, json_get_int(status, "updatedReplicas", 0) == replicas, "not all are updated");
    EXPECT(world, json_get_int(status, "availableReplicas", 0) == replicas, "not all available");
    EXPECT(world,
           (int64_t)world->count <= 1 + spec_number(world->deployment, "revisionHistoryLimit"),
           "%zu sets are kept", world->count);
}

static void rollouts_complete_despite_faults(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world world = {.seed = seed, .now_ms = 1000 * 1000};
        rand_init(&world.rand, seed);
        arena_reset(arena);
        make_deployment(&world);
        for (int step = 0; step < STEPS; step++) {
            world.now_ms += 1000;
            if (chance(&world, 5))
                change_deployment(&world);
            if (world.count)
                run_set_controller(&world, &world.things[rand_below(&world.rand, world.count)],
                                   false);
            reconcile(&world);
            if (world.recreate)
                expect_no_mixture(&world);
        }
        for (int step = 0; step < SETTLE; step++) {
            bool all = true;
            world.now_ms += 1000;
            for (size_t i = 0; i < world.count; i++) {
                struct thing *thing = &world.things[i];
                run_set_controller(&world, thing, true);
                all &= thing->available == spec_number(thing->json, "replicas");
            }
            if (!reconcile(&world) && all)
                break;
        }
        reconcile(&world);
        expect_done(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rollouts_complete_despite_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
