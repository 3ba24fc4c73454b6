/* Tests Jobs with random faults. Pods start, succeed or fail, are deleted gracefully and by force,
 * and lose their node, and the controller dies after any of its steps. There are never more pods
 * than may run. No index runs twice at the same time, or again after it succeeded. In the end every
 * pod has been counted once. */
#include "test_scale.h"
#include "tree.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/controllers/job/job.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEDS = 3000, STEPS_MAX = 20000, PODS_MAX = 1024, INDEXES_MAX = 16 };

/* A pod: its real state, and its object in the API. */
struct thing {
    struct json *json;
    bool alive;  /* its processes may run */
    bool exists; /* its object is in the API */
    int index;
};

struct world {
    struct rand rand;
    uint64_t seed;
    int64_t now_ms;
    struct json *job;
    struct thing things[PODS_MAX];
    size_t count;
    bool done[INDEXES_MAX]; /* indexes that succeeded */
    int64_t succeeded, failed;
    uint64_t version;
    unsigned luck; /* percent of pods that succeed */
};

static uint64_t below(struct world *world, uint64_t limit)
{
    return rand_below(&world->rand, limit);
}

static bool chance(struct world *world, unsigned percent)
{
    return below(world, 100) < percent;
}

static bool is_indexed(const struct world *world)
{
    return str_eq(json_get_string(json_get(world->job, "spec"), "completionMode", ""), "Indexed");
}

static int64_t spec_number(const struct world *world, const char *name)
{
    return json_get_int(json_get(world->job, "spec"), name, -1);
}

#define EXPECT(world, holds, ...)                                                                  \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            printf("seed %" PRIu64 ": %s\n", (world)->seed, arena_printf(arena, __VA_ARGS__));     \
            printf("%s\n", json_to_string(arena, (world)->job));                                   \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* ---- The pods -------------------------------------------------------------------------------- */

static const char *phase_of(const struct thing *thing)
{
    return json_get_string(json_get(thing->json, "status"), "phase", "");
}

static void set_changed(struct world *world, struct thing *thing)
{
    json_set(arena, json_get(thing->json, "metadata"), "resourceVersion",
             json_stringf(arena, "%" PRIu64, ++world->version));
}

static void set_phase(struct thing *thing, const char *phase)
{
    json_set_string(arena, json_ensure_object(arena, thing->json, "status"), "phase", phase);
}

/* Ends the pod's processes. The end must be counted later. */
static void end(struct world *world, struct thing *thing, bool well)
{
    EXPECT(world, thing->alive, "it ended twice");
    thing->alive = false;
    if (well && is_indexed(world))
        world->done[thing->index] = true;
    if (well)
        world->succeeded++;
    else if (!kube_meta_annotation(thing->json, JOB_STOPPED_ANNOTATION))
        world->failed++;
}

static void remove_if_free(struct thing *thing)
{
    const struct json *meta = json_get(thing->json, "metadata");
    if (kube_meta_is_deleting(thing->json) &&
        json_get_int(meta, "deletionGracePeriodSeconds", 0) == 0 &&
        json_count(json_get(meta, "finalizers")) == 0)
        thing->exists = false;
}

static void mark_deleted(struct world *world, struct thing *thing, int64_t grace)
{
    struct json *meta = json_get(thing->json, "metadata");
    bool started = str_eq(phase_of(thing), "Running");
    if (!started)
        grace = 0; /* there is no process to end */
    if (kube_meta_is_deleting(thing->json)) {
        if (grace < json_get_int(meta, "deletionGracePeriodSeconds", 0))
            json_set_int(arena, meta, "deletionGracePeriodSeconds", grace);
    } else {
        char text[MOMENT_TEXT_MAX];
        moment_format(world->now_ms + grace * 1000, text);
        json_set_string(arena, meta, "deletionTimestamp", text);
        json_set_int(arena, meta, "deletionGracePeriodSeconds", grace);
    }
    if (!started && thing->alive)
        end(world, thing, false);
    set_changed(world, thing);
    remove_if_free(thing);
}

/* Plays the node, which reports the end before it confirms the deletion. */
static void finish(struct world *world, struct thing *thing, bool well)
{
    end(world, thing, well);
    set_phase(thing, well ? "Succeeded" : "Failed");
    set_changed(world, thing);
    if (kube_meta_is_deleting(thing->json)) {
        json_set_int(arena, json_get(thing->json, "metadata"), "deletionGracePeriodSeconds", 0);
        remove_if_free(thing);
    }
}

/* Ends a pod that was deleted by force. Its node ends it within seconds, unless the node is
 * gone. */
static void end_forced(struct world *world)
{
    for (size_t i = 0; i < world->count; i++) {
        struct thing *thing = &world->things[i];
        if (thing->alive && kube_meta_is_deleting(thing->json) &&
            json_get_int(json_get(thing->json, "metadata"), "deletionGracePeriodSeconds", 0) == 0 &&
            world->now_ms >= kube_meta_deleting_ms(thing->json) + 9000) {
            if (chance(world, 50))
                finish(world, thing, chance(world, world->luck));
            else
                end(world, thing, false);
        }
    }
}

static void do_random_pod_step(struct world *world)
{
    if (world->count == 0)
        return;
    struct thing *thing = &world->things[below(world, world->count)];
    if (!thing->exists)
        return;
    bool deleting = kube_meta_is_deleting(thing->json);
    if (thing->alive && str_eq(phase_of(thing), "Pending") && !deleting) {
        set_phase(thing, "Running");
        set_changed(world, thing);
        return;
    }
    if (thing->alive && str_eq(phase_of(thing), "Running") && (deleting || chance(world, 60))) {
        finish(world, thing, chance(world, world->luck));
        return;
    }
    switch (below(world, 8)) {
    case 0: /* kubectl delete pod */
        mark_deleted(world, thing, 30);
        break;
    case 1: /* kubectl delete pod --force */
        mark_deleted(world, thing, 0);
        break;
    default:
        break;
    }
}

/* ---- The controller -------------------------------------------------------------------------- */

static void check_new(struct world *world, const struct thing *made)
{
    int64_t alive = 0;
    for (size_t i = 0; i < world->count; i++) {
        const struct thing *thing = &world->things[i];
        alive += thing->alive;
        EXPECT(world,
               !is_indexed(world) || thing == made || !thing->alive || thing->index != made->index,
               "index %d runs twice", made->index);
    }
    EXPECT(world, alive <= spec_number(world, "parallelism"), "%" PRId64 " pods run", alive);
    EXPECT(world, !is_indexed(world) || !world->done[made->index], "index %d runs again",
           made->index);
}

static void create(struct world *world, const struct json *pod)
{
    EXPECT(world, world->count < PODS_MAX, "it makes pods without end");
    struct thing *thing = &world->things[world->count];
    const char *index = kube_meta_annotation(pod, JOB_INDEX_KEY);
    char now[MOMENT_TEXT_MAX];
    *thing = (struct thing){.json = json_clone(arena, pod), .alive = true, .exists = true};
    thing->index = index ? atoi(index) : -1;
    moment_format(world->now_ms, now);
    struct json *meta = json_get(thing->json, "metadata");
    json_set_string(arena, meta, "creationTimestamp", now);
    json_set(arena, meta, "name", json_stringf(arena, "p%zu", world->count));
    json_set(arena, meta, "uid", json_stringf(arena, "u%zu", world->count));
    set_phase(thing, "Pending");
    set_changed(world, thing);
    world->count++;
    check_new(world, thing);
}

static struct thing *find(struct world *world, const struct json *pod)
{
    for (size_t i = 0; i < world->count; i++)
        if (world->things[i].exists &&
            str_eq(kube_meta_uid(world->things[i].json), kube_meta_uid(pod)))
            return &world->things[i];
    return NULL;
}

/* A patch of a pod that has changed since it was read is rejected. */
static bool is_current(const struct thing *thing, const struct json *seen)
{
    return str_eq(kube_meta_resource_version(thing->json), kube_meta_resource_version(seen));
}

/* Returns false if the rest of the plan must be dropped. */
static bool act(struct world *world, const struct job_action *action)
{
    struct thing *thing = action->type == JOB_CREATE_POD ? NULL : find(world, action->object);
    if (action->type == JOB_CREATE_POD) {
        create(world, action->object);
    } else if (thing && action->type == JOB_DELETE_POD) {
        mark_deleted(world, thing, 30);
    } else if (thing && action->type == JOB_MARK_POD) {
        if (!is_current(thing, action->object))
            return false;
        kube_meta_set_annotation(arena, thing->json, JOB_STOPPED_ANNOTATION, "true");
        set_changed(world, thing);
    } else if (thing && action->type == JOB_RELEASE_POD && is_current(thing, action->object)) {
        kube_meta_remove_finalizer(thing->json, JOB_FINALIZER);
        set_changed(world, thing);
        remove_if_free(thing);
    }
    return true;
}

/* Runs one pass on fresh data, while pods change. With `crash`, the pass ends after any of its
 * steps. Returns how long the controller may wait. */
static int64_t pass(struct world *world, bool crash)
{
    const struct json *pods[PODS_MAX];
    struct job_plan plan;
    size_t count = 0;
    for (size_t i = 0; i < world->count; i++)
        if (world->things[i].exists)
            pods[count++] = json_clone(arena, world->things[i].json);
    struct job_observed observed = {
        .job = world->job, .pods = pods, .pod_count = count, .now_ms = world->now_ms};
    job_reconcile(arena, &observed, &plan);
    uint64_t steps_left = crash ? below(world, plan.action_count + 2) : UINT64_MAX;
    if (plan.status) {
        if (steps_left-- == 0)
            return 0;
        json_set(arena, world->job, "status", json_clone(arena, plan.status));
    }
    for (int type = 0; type < JOB_ACTION_TYPES; type++) {
        for (size_t i = 0; i < plan.action_count; i++) {
            if ((int)plan.actions[i].type != type)
                continue;
            if (chance(world, 20))
                do_random_pod_step(world);
            if (steps_left-- == 0 || !act(world, &plan.actions[i]))
                return 0;
        }
    }
    return plan.requeue_ms;
}

static bool has_ended(const struct world *world)
{
    return kube_condition_is_true(world->job, "Complete") ||
           kube_condition_is_true(world->job, "Failed");
}

/* ---- */

static struct json *draw_job(struct world *world)
{
    int64_t completions = (int64_t)below(world, INDEXES_MAX);
    bool queue = chance(world, 15), indexed = !queue && chance(world, 60);
    return tree(arena_printf(
        arena,
        "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"uid\":\"J\"},"
        "\"spec\":{%s\"parallelism\":%" PRIu64 ",\"backoffLimit\":%" PRIu64
        ",\"completionMode\":\"%s\",\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
        "\"containers\":[{\"name\":\"m\"}]}}},\"status\":{}}",
        queue ? "" : arena_printf(arena, "\"completions\":%" PRId64 ",", completions),
        1 + below(world, 6), below(world, 12), indexed ? "Indexed" : "NonIndexed"));
}

/* Changes a running job like a user. */
static void change_job_as_user(struct world *world)
{
    struct json *spec = json_get(world->job, "spec");
    if (chance(world, 50))
        json_set_int(arena, spec, "parallelism", 1 + (int64_t)below(world, 6));
    else
        json_set_bool(arena, spec, "suspend", chance(world, 50));
}

static void check_end(struct world *world)
{
    const struct json *status = json_get(world->job, "status");
    int64_t completions = spec_number(world, "completions");
    for (size_t i = 0; i < world->count; i++)
        EXPECT(world, !world->things[i].alive, "a pod outlives its job");
    EXPECT(world, json_get_int(status, "succeeded", 0) == world->succeeded, "%" PRId64 " succeeded",
           world->succeeded);
    EXPECT(world, json_get_int(status, "failed", 0) == world->failed, "%" PRId64 " failed",
           world->failed);
    EXPECT(world, json_count(json_get(status, "uncountedTerminatedPods")) == 0, "the books");
    if (kube_condition_is_true(world->job, "Complete"))
        EXPECT(world, completions < 0 ? world->succeeded > 0 : world->succeeded >= completions,
               "it is complete too early");
    else
        EXPECT(world, world->failed > spec_number(world, "backoffLimit"), "it failed too early");
}

static void run(uint64_t seed)
{
    static struct world world;
    world = (struct world){.seed = seed, .now_ms = (int64_t)1767225600 * 1000};
    rand_init(&world.rand, seed);
    world.luck = (unsigned)below(&world, 100);
    world.job = draw_job(&world);
    for (int step = 0; !has_ended(&world); step++) {
        EXPECT(&world, step < STEPS_MAX, "it never ends");
        end_forced(&world);
        if (chance(&world, 70)) {
            do_random_pod_step(&world);
        } else {
            int64_t idle_ms = pass(&world, chance(&world, 25));
            if (idle_ms > 0 && chance(&world, 50))
                world.now_ms += idle_ms;
        }
        world.now_ms += (int64_t)below(&world, 500);
        if (chance(&world, 1))
            change_job_as_user(&world);
        /* In the second half the job is not suspended. */
        if (step > STEPS_MAX / 2)
            json_set_bool(arena, json_get(world.job, "spec"), "suspend", false);
    }
    check_end(&world);
}

static void test_faults(void **state)
{
    uint64_t seeds = (uint64_t)SEEDS * test_scale();
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        run(seed);
        arena_reset(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
    };
    return cmocka_run_group_tests_name("engine_job_faults", tests, NULL, NULL);
}
