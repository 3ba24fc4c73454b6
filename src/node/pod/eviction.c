/* Evicts a pod that uses more disk space than its limits allow, as the kubelet does; see
 * pod/runner_internal.h. A thread of the pool walks over the pod's files and adds up their sizes.
 * To keep the load low, one pod of the machine is measured at a time, and long pauses separate the
 * walks of a pod. The walk of a runner that was freed continues and may overlap with the next
 * one. */
#include "node/pod/runner_internal.h"

#include "node/limits/storage.h"

#include "base/mem.h"
#include "base/moment.h"
#include "kube/object.h"

#include <stdlib.h>

enum {
    /* The shortest pause between walks of a pod whose spec limits its disk space. */
    MEASURE_LIMITED_MS = 2 * 1000,
    /* The shortest pause for a pod that has only the default limit, which is large. */
    MEASURE_DEFAULT_MS = 30 * 1000,
    MEASURE_PAUSE_FACTOR = 20, /* the pause lasts at least this many times as long as the walk */
    MEASURE_BUSY_MS = 50,      /* time until the next attempt if another pod is being measured */
    EVICTION_GRACE_MS = 1000,  /* short like the kubelet's, because the pod is filling the disk */
};

struct storage_walk {
    struct loop_work work;
    struct pod_runner *runner; /* NULL if the runner was freed; its host may be freed too */
    struct arena *arena;
    struct storage_place *places;
    size_t count;
    int64_t took_ms; /* the duration of the walk */
};

static void eviction_walk(struct loop_work *work)
{
    struct storage_walk *walk = CONTAINER_OF(work, struct storage_walk, work);
    int64_t begin = moment_monotonic_ms();
    storage_measure(walk->places, walk->count);
    walk->took_ms = moment_monotonic_ms() - begin;
}

/* Returns whether the pod must not be evicted, because it does not run or is being ended. */
static bool is_ending(const struct pod_runner *runner)
{
    return !pod_runner_is_running(runner) || runner->state.reason[0] || runner->forgotten ||
           kube_meta_is_deleting(runner_pod(runner));
}

/* Reports directories that could not be measured. Reports only once per runner, because a pod may
 * create such directories all the time. */
static void tell_gap(struct pod_runner *runner, const struct storage_walk *walk)
{
    const char *gap = storage_gap(walk->arena, walk->places, walk->count);
    if (gap && !runner->was_gap_told) {
        runner->was_gap_told = true;
        pod_runner_warn(runner, "StorageNotMeasured", gap);
    }
}

static int64_t measure_period(const struct pod_runner *runner)
{
    return storage_is_limited(runner_pod(runner)) ? MEASURE_LIMITED_MS : MEASURE_DEFAULT_MS;
}

static void eviction_judge_walk(struct pod_runner *runner, const struct storage_walk *walk)
{
    if (is_ending(runner))
        return; /* the pod began to end during the walk */
    tell_gap(runner, walk);
    const char *message = storage_judge(walk->arena, runner_pod(runner), walk->places, walk->count);
    if (message)
        pod_runner_stop(runner, EVICTION_GRACE_MS, "Evicted", message);
    int64_t pause = MEASURE_PAUSE_FACTOR * walk->took_ms, period = measure_period(runner);
    loop_timer_start(&runner->measure, pause > period ? pause : period);
}

static void on_eviction_walked(struct loop_work *work)
{
    struct storage_walk *walk = CONTAINER_OF(work, struct storage_walk, work);
    if (walk->runner) {
        walk->runner->host->is_measuring = false;
        walk->runner->walk = NULL;
        eviction_judge_walk(walk->runner, walk);
    }
    arena_free(walk->arena);
    free(walk);
}

void pod_runner_on_measure(struct loop_timer *timer)
{
    struct pod_runner *runner = CONTAINER_OF(timer, struct pod_runner, measure);
    if (is_ending(runner))
        return;
    if (runner->host->is_measuring) {
        loop_timer_start(timer, MEASURE_BUSY_MS);
        return;
    }
    struct arena *arena = arena_new();
    struct storage_place *places;
    size_t count = storage_places(arena, runner_pod(runner), runner->directory, &places);
    struct storage_walk *walk = mem_zalloc(sizeof(*walk));
    *walk = (struct storage_walk){.work = {.work = eviction_walk, .done = on_eviction_walked},
                                  .runner = runner,
                                  .arena = arena,
                                  .places = places,
                                  .count = count};
    runner->walk = walk;
    runner->host->is_measuring = true;
    loop_work_start(runner->host->loop, &walk->work);
}

void pod_runner_begin_measuring(struct pod_runner *runner)
{
    if (!runner->walk && !runner->measure.running)
        loop_timer_start(&runner->measure,
                         storage_is_limited(runner_pod(runner)) ? 0 : MEASURE_DEFAULT_MS);
}

void pod_runner_end_measuring(struct pod_runner *runner)
{
    loop_timer_stop(&runner->measure);
    if (!runner->walk)
        return;
    runner->host->is_measuring = false; /* the walk continues, but its result is dropped */
    runner->walk->runner = NULL;
    runner->walk = NULL;
}
