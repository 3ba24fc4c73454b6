/* Tests whole lives of Jobs in virtual time on the real API with its controllers. The controllers
 * are killed and restarted at any moment, and pods are deleted, evicted and killed, all drawn from
 * a seed. The rules: there are never more pods than may run. No index runs twice at the same time,
 * or again after it succeeded. Each job ends, and its counts equal those of an auditor that watched
 * the pods. TRAINYARD_SIM_SEED runs a single seed. */
#include "sim_cluster.h"
#include "sim_seeds.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/job/job.h"
#include "engine/engine.h"
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
    SEEDS_DEFAULT = 60,
    JOBS = 3,
    SLICE_MS = 10 * 1000,
    TROUBLE_MS = 120 * 1000,
    PATIENCE_MS = 4 * 3600 * 1000,
};

/* The auditor's record of a pod. */
struct sight {
    char job[32];
    char index[8]; /* "": none */
    bool ended, succeeded, stopped;
};

struct run {
    struct sim_cluster cluster;
    uint64_t seed;
    struct loop_timer trouble;
    struct kube_informer *jobs, *pods; /* the auditor's informers */
    struct map sights;                 /* uid: struct sight */
};

#define check(run, condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("seed %llu: ", (unsigned long long)(run)->seed);                           \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

/* ---- The auditor ----------------------------------------------------------------------------- */

static void audit_new_pod(struct run *run, const struct sight *made)
{
    const struct kube_object *job = kube_informer_get(run->jobs, "default", made->job);
    const char *key;
    void *value;
    int64_t active = 0;
    for (size_t i = 0; map_next(&run->sights, &i, &key, &value);) {
        const struct sight *other = value;
        if (!str_eq(other->job, made->job))
            continue;
        active += !other->ended;
        if (other != made && made->index[0] && str_eq(other->index, made->index))
            check(run, other->ended && !other->succeeded, "index %s of %s %s", made->index,
                  made->job, other->ended ? "had succeeded and runs again" : "runs twice");
    }
    if (job)
        check(run, active <= json_get_int(json_get(job->json, "spec"), "parallelism", 0),
              "%s has %" PRId64 " pods", made->job, active);
}

static void on_job(void *context, struct kube_object *old, struct kube_object *new_)
{
    if (new_)
        check((struct run *)context,
              !kube_condition_is_true(new_->json, "Complete") ||
                  !kube_condition_is_true(new_->json, "Failed"),
              "%s is complete and failed", new_->name);
}

static void on_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct run *run = context;
    const struct kube_object *pod = new_ ? new_ : old;
    const char *phase = json_get_string(json_get(pod->json, "status"), "phase", "");
    const char *index = kube_meta_annotation(pod->json, JOB_INDEX_KEY);
    struct sight *sight = map_get(&run->sights, pod->uid);
    bool is_new = !sight;
    if (is_new) {
        sight = mem_zalloc(sizeof(*sight));
        str_copy(sight->job, sizeof(sight->job), kube_meta_label(pod->json, "job-name"));
        str_copy(sight->index, sizeof(sight->index), index ? index : "");
        map_put(&run->sights, pod->uid, sight);
    }
    if (!sight->ended) {
        sight->succeeded = str_eq(phase, "Succeeded");
        sight->stopped = kube_meta_annotation(pod->json, JOB_STOPPED_ANNOTATION) != NULL;
        sight->ended = sight->succeeded || str_eq(phase, "Failed") || !new_;
    }
    if (is_new && new_)
        audit_new_pod(run, sight);
}

static void audit_end(struct run *run, const struct kube_object *job)
{
    const struct json *status = json_get(job->json, "status");
    int64_t succeeded = 0, failed = 0;
    const char *key;
    void *value;
    for (size_t i = 0; map_next(&run->sights, &i, &key, &value);) {
        const struct sight *sight = value;
        if (!str_eq(sight->job, job->name))
            continue;
        check(run, sight->ended, "a pod outlives %s", job->name);
        succeeded += sight->succeeded;
        failed += !sight->succeeded && !sight->stopped;
    }
    check(run, json_get_int(status, "succeeded", 0) == succeeded,
          "%s counted %" PRId64 " that succeeded, there were %" PRId64, job->name,
          json_get_int(status, "succeeded", 0), succeeded);
    check(run, json_get_int(status, "failed", 0) == failed,
          "%s counted %" PRId64 " that failed, there were %" PRId64, job->name,
          json_get_int(status, "failed", 0), failed);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void on_fault(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, trouble);
    struct sim_cluster *cluster = &run->cluster;
    if (rand_below(cluster->rand, 3) == 0) {
        engine_controllers_free(cluster->controllers);
        cluster->controllers =
            engine_controllers_new(cluster->loop, cluster->transport, SERVED_KINDS);
    } else {
        sim_node_disturb_one_pod(cluster->node);
    }
    loop_timer_start(timer, 1 + (int64_t)rand_below(cluster->rand, 5000));
}

static void must_succeed(void *context, struct json *object, const struct err *err)
{
    if (err)
        fail_msg("%s", err->message);
}

static void make_job(struct run *run, int number)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct rand *rand = run->cluster.rand;
    bool indexed = rand_below(rand, 3) > 0;
    const char *text = arena_printf(
        arena,
        "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"job-%d\"},\"spec\":"
        "{\"completions\":%" PRIu64 ",\"parallelism\":%" PRIu64 ",\"backoffLimit\":%" PRIu64
        ",\"completionMode\":\"%s\",\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
        "\"containers\":[{\"name\":\"m\",\"image\":\"i\"}]}}}}",
        number, 1 + rand_below(rand, 8), 1 + rand_below(rand, 5), rand_below(rand, 10),
        indexed ? "Indexed" : "NonIndexed");
    struct json *job;
    assert_int_equal(json_parse(arena, text, strlen(text), NULL, &job, NULL), 0);
    kube_create(run->cluster.client, &KUBE_JOBS, "default", job, must_succeed, NULL);
}

static size_t count_ended(struct run *run)
{
    size_t ended = 0;
    const struct kube_object *job;
    for (size_t i = 0; (job = kube_informer_next(run->jobs, NULL, &i));)
        ended += kube_condition_is_true(job->json, "Complete") ||
                 kube_condition_is_true(job->json, "Failed");
    return ended;
}

static void run_seed(uint64_t seed)
{
    struct run run = {.seed = seed};
    struct sim_cluster *cluster = &run.cluster;
    int64_t waited = 0;
    sim_cluster_init(cluster, seed);
    map_init(&run.sights);
    run.jobs = kube_informer_new(cluster->client, &KUBE_JOBS, NULL, NULL, on_job, &run);
    run.pods = kube_informer_new(cluster->client, &KUBE_PODS, NULL, NULL, on_pod, &run);
    for (int i = 0; i < JOBS; i++)
        make_job(&run, i);
    loop_timer_init(cluster->loop, &run.trouble, on_fault);
    loop_timer_start(&run.trouble, 500);
    while (count_ended(&run) < JOBS) {
        sim_loop_run_for(cluster->loop, SLICE_MS);
        waited += SLICE_MS;
        if (waited == TROUBLE_MS)
            loop_timer_stop(&run.trouble);
        check(&run, waited < PATIENCE_MS, "%zu of %d jobs ended", count_ended(&run), JOBS);
    }
    loop_timer_stop(&run.trouble);
    sim_loop_run_for(cluster->loop, SLICE_MS);
    const struct kube_object *job;
    for (size_t i = 0; (job = kube_informer_next(run.jobs, NULL, &i));)
        audit_end(&run, job);
    /* No finalizer keeps a pod: after the jobs are deleted, all pods go. */
    for (int i = 0; i < JOBS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%d", i);
        struct kube_delete_options options = {.grace_period_seconds = -1,
                                              .propagation = "Background"};
        kube_delete(cluster->client, &KUBE_JOBS, "default", name, &options, must_succeed, NULL);
    }
    sim_loop_run_for(cluster->loop, SLICE_MS);
    size_t none = 0;
    check(&run, !kube_informer_next(run.pods, NULL, &none), "pods are left of jobs that are gone");

    kube_informer_free(run.jobs);
    kube_informer_free(run.pods);
    const char *key;
    void *sight;
    for (size_t i = 0; map_next(&run.sights, &i, &key, &sight);)
        free(sight);
    map_release(&run.sights);
    sim_cluster_release(cluster);
}

static void test_jobs_end_under_faults(void **state)
{
    sim_seeds_run(sim_seeds_scaled(SEEDS_DEFAULT), run_seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_jobs_end_under_faults)};
    return cmocka_run_group_tests_name("sim_job_controller", tests, NULL, NULL);
}
