/* Whole lives of TFJobs in virtual time, with calls refused and answers lost, conflicts, watches
 * that end, pods killed and the operator restarted, all drawn from a seed. What must hold in every
 * run: each job ends, ends once, and leaves behind what its policy says; never are there two pods
 * of one replica. TRAINYARD_SIM_SEEDS says how many seeds, TRAINYARD_SIM_SEED runs one alone. */
#include "sim_cluster.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "fault_transport.h"
#include "kube/informer.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/conditions.h"
#include "operator/controller.h"
#include "operator/restarts.h"
#include "operator/training_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    SEEDS_DEFAULT = 12,
    JOBS = 3,
    SLICE_MS = 10 * 1000,
    TROUBLE_MS = 120 * 1000, /* pods are killed and the operator restarted only so long */
    PATIENCE_MS = 3600 * 1000,
    SETTLE_MS = 5 * 60 * 1000,
    HOST_PORTS = 12, /* not enough for all jobs at once */
};

static const char *const POLICIES[] = {"Never", "Always", "OnFailure", "ExitCode"};
static const char *const CLEANS[] = {"None", "Running", "All"};

struct run {
    struct sim_cluster cluster;
    uint64_t seed;
    struct http_transport *faulty;
    struct training_controller *operator_;
    struct host_ports *host_ports; /* the operator's: a new one has a new table */
    struct loop_timer restart_timer, hurt_timer;
    bool kills;
    struct kube_informer *jobs, *pods, *services; /* the auditor's eyes */
    struct map ends;                              /* job name: its terminal condition */
    size_t pods_made[JOBS];
};

#define check(run, condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("seed %llu: ", (unsigned long long)(run)->seed);                           \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

/* ---- The auditor ----------------------------------------------------------------------------- */

static void audit_job(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct run *run = context;
    const struct json *status;
    const char *end, *before;
    bool succeeded, failed;

    if (!new_)
        return;
    status = json_get(new_->json, "status");
    succeeded = training_condition_is_true(status, TRAINING_SUCCEEDED);
    failed = training_condition_is_true(status, TRAINING_FAILED);
    check(run, !(succeeded && failed), "%s has succeeded and failed", new_->name);
    end = succeeded ? TRAINING_SUCCEEDED : failed ? TRAINING_FAILED : NULL;
    before = map_get(&run->ends, new_->name);
    check(run, !before || str_eq(before, end), "%s was %s and is %s", new_->name, before,
          end ? end : "going on");
    if (end)
        map_put(&run->ends, new_->name, (void *)end);
}

static bool same_replica(const struct json *a, const struct json *b)
{
    static const char *const labels[] = {TRAINING_NAME_LABEL, TRAINING_TYPE_LABEL,
                                         TRAINING_INDEX_LABEL};

    for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
        if (!str_eq(kube_meta_label(a, labels[i]), kube_meta_label(b, labels[i])))
            return false;
    }
    return true;
}

static struct kube_object *job_of(struct run *run, const struct json *pod, int *ret_number)
{
    const char *name = kube_meta_label(pod, TRAINING_NAME_LABEL);

    check(run, name && sscanf(name, "job-%d", ret_number) == 1, "a pod of no job");
    return kube_informer_get(run->jobs, "default", name);
}

static bool is_finished_replica(struct arena *arena, const struct training_job *job,
                                const struct json *pod)
{
    struct training_replicas replicas;
    const struct training_replica *replica;

    training_replicas_init(&replicas, arena, job);
    training_memory_read(&replicas, job, arena);
    replica = training_replicas_find(&replicas, job, pod);
    return replica && replica->finished;
}

/* What has finished does not run again. A limit of N allows N pods more than there are replicas,
 * not counting those that we killed. */
static void audit_new_pod(struct run *run, const struct kube_object *pod)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    int number = 0;
    struct kube_object *object = job_of(run, pod->json, &number);
    struct training_job job;

    if (!object)
        return;
    training_job_read(&TRAINING_TFJOB, object->json, &job);
    if (job.restart_together)
        return;
    check(run, !is_finished_replica(arena, &job, pod->json), "%s had finished and runs again",
          pod->name);
    run->pods_made[number]++;
    check(run,
          run->kills || job.backoff_limit < 0 ||
              run->pods_made[number] <=
                  (size_t)training_job_total_replicas(&job) + (size_t)job.backoff_limit,
          "%s made pod number %zu, its limit is %d", job.name, run->pods_made[number],
          (int)job.backoff_limit);
}

static int64_t host_port_of(const struct json *pod)
{
    const struct json *container = training_job_container(&TRAINING_TFJOB, json_get(pod, "spec"));

    return json_get_int(json_element(json_get(container, "ports"), 0), "hostPort", 0);
}

/* The job of a pod that still holds its ports: it is there, and the pod has neither ended nor is it
 * on its way out. */
static const struct kube_object *holder_of(struct run *run, const struct json *pod)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
    struct kube_object *job =
        kube_informer_get(run->jobs, "default", kube_meta_label(pod, TRAINING_NAME_LABEL));

    if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed") || kube_meta_is_deleting(pod) ||
        !job || !kube_meta_is_controlled_by(pod, job->uid))
        return NULL;
    return job;
}

/* No two jobs listen on one port of the nodes. */
static void audit_host_port(struct run *run, const struct kube_object *pod)
{
    int64_t port = host_port_of(pod->json);
    struct kube_object *other;

    for (size_t i = 0; port && (other = kube_informer_next(run->pods, NULL, &i));) {
        check(run,
              str_eq(other->name, pod->name) || host_port_of(other->json) != port ||
                  !holder_of(run, other->json),
              "%s and %s have the same port %d", other->name, pod->name, (int)port);
    }
}

static void audit_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct run *run = context;
    struct kube_object *other;

    if (!new_ || old)
        return;
    for (size_t i = 0; (other = kube_informer_next(run->pods, NULL, &i));) {
        check(run, str_eq(other->name, new_->name) || !same_replica(other->json, new_->json),
              "%s and %s are pods of one replica", other->name, new_->name);
    }
    audit_host_port(run, new_);
    audit_new_pod(run, new_);
}

static void audit_service(void *context, struct kube_object *old, struct kube_object *new_)
{
}

static size_t count_of_job(struct kube_informer *informer, const char *job, bool only_active)
{
    struct kube_object *object;
    size_t count = 0;

    for (size_t i = 0; (object = kube_informer_next(informer, NULL, &i));) {
        const char *phase = json_get_string(json_get(object->json, "status"), "phase", "");

        if (!str_eq(kube_meta_label(object->json, TRAINING_NAME_LABEL), job))
            continue;
        count += !only_active || str_eq(phase, "Running") || str_eq(phase, "Pending");
    }
    return count;
}

static void audit_the_end(struct run *run)
{
    struct kube_object *job;
    size_t jobs = 0;

    for (size_t i = 0; (job = kube_informer_next(run->jobs, NULL, &i)); jobs++) {
        const struct json *policy = json_at(job->json, "spec", "runPolicy", NULL);
        const char *clean = json_get_string(policy, "cleanPodPolicy", "None");

        check(run, map_get(&run->ends, job->name), "%s has not ended: %s", job->name,
              json_to_string(job->arena, json_get(job->json, "status")));
        check(run, !json_get(policy, "ttlSecondsAfterFinished"), "%s should be gone", job->name);
        if (str_eq(clean, "All")) {
            check(run, count_of_job(run->pods, job->name, false) == 0, "%s left pods", job->name);
            check(run, count_of_job(run->services, job->name, false) == 0, "%s left services",
                  job->name);
        } else if (str_eq(clean, "Running")) {
            check(run, count_of_job(run->pods, job->name, true) == 0, "%s left running pods",
                  job->name);
        }
    }
    check(run, run->ends.count == JOBS, "%zu jobs have ended of %d", run->ends.count, JOBS);
}

/* ---- The trouble ----------------------------------------------------------------------------- */

static bool trouble_is_over(struct run *run)
{
    return loop_now_ms(run->cluster.loop) > TROUBLE_MS;
}

static void start_operator(struct run *run)
{
    struct training_controller_options options = {0};

    run->host_ports = options.host_ports = host_ports_new(100, 100 + HOST_PORTS - 1);
    run->operator_ =
        training_controller_new(run->cluster.loop, run->faulty, &TRAINING_TFJOB, &options);
}

static void stop_operator(struct run *run)
{
    run->operator_ = training_controller_free(run->operator_);
    run->host_ports = host_ports_free(run->host_ports);
}

static void on_restart(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, restart_timer);

    if (run->operator_) {
        stop_operator(run);
        loop_timer_start(timer, (int64_t)rand_below(run->cluster.rand, 5000));
        return;
    }
    start_operator(run);
    if (!trouble_is_over(run))
        loop_timer_start(timer, 1000 + (int64_t)rand_below(run->cluster.rand, 20000));
}

static void on_hurt(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, hurt_timer);

    sim_node_hurt_one(run->cluster.node);
    if (!trouble_is_over(run))
        loop_timer_start(timer, 100 + (int64_t)rand_below(run->cluster.rand, 5000));
}

/* ---- The jobs -------------------------------------------------------------------------------- */

static const char *draw_text(struct run *run, const char *const *texts, size_t count)
{
    return texts[rand_below(run->cluster.rand, count)];
}

static bool draw_one_in(struct run *run, uint64_t n)
{
    return rand_below(run->cluster.rand, n) == 0;
}

/* `policy` NULL: one of its own. */
static void add_replicas(struct run *run, struct arena *arena, struct json *specs, const char *type,
                         uint64_t max, const char *policy, bool host_network)
{
    struct json *spec = json_set(arena, specs, type, json_object(arena));
    struct json *pod_spec, *container;

    json_set_int(arena, spec, "replicas", 1 + (int64_t)rand_below(run->cluster.rand, max));
    json_set_string(arena, spec, "restartPolicy",
                    policy ? policy : draw_text(run, POLICIES, ARRAY_SIZE(POLICIES)));
    pod_spec = json_ensure_object(arena, json_ensure_object(arena, spec, "template"), "spec");
    if (host_network)
        json_set_bool(arena, pod_spec, "hostNetwork", true);
    container = json_object(arena);
    json_set_string(arena, container, "name", TRAINING_TFJOB.container);
    json_set_string(arena, container, "image", "simulated");
    json_append(json_ensure_array(arena, pod_spec, "containers"), container);
}

static struct json *draw_job(struct run *run, struct arena *arena, int number)
{
    struct json *job =
        kube_object_make(arena, &KUBE_TFJOBS, "default", arena_printf(arena, "job-%d", number));
    struct json *spec = json_ensure_object(arena, job, "spec");
    struct json *policy = json_ensure_object(arena, spec, "runPolicy");
    struct json *specs = json_ensure_object(arena, spec, "tfReplicaSpecs");
    const char *restart =
        draw_one_in(run, 4) ? NULL : draw_text(run, POLICIES, ARRAY_SIZE(POLICIES));
    bool host = draw_one_in(run, 2);

    if (draw_one_in(run, 2))
        add_replicas(run, arena, specs, draw_one_in(run, 2) ? "Chief" : "Master", 1, restart, host);
    add_replicas(run, arena, specs, "Worker", 4, restart, host);
    if (draw_one_in(run, 2))
        add_replicas(run, arena, specs, "PS", 2, restart, host);
    if (draw_one_in(run, 4))
        add_replicas(run, arena, specs, "Evaluator", 1, restart, false);

    json_set_string(arena, policy, "cleanPodPolicy", draw_text(run, CLEANS, ARRAY_SIZE(CLEANS)));
    /* Programs restarted always never end by themselves. */
    json_set_int(arena, policy, "activeDeadlineSeconds",
                 30 + (int64_t)rand_below(run->cluster.rand, 300));
    if (draw_one_in(run, 2))
        json_set_int(arena, policy, "backoffLimit", (int64_t)rand_below(run->cluster.rand, 5));
    if (draw_one_in(run, 4))
        json_set_int(arena, policy, "ttlSecondsAfterFinished",
                     (int64_t)rand_below(run->cluster.rand, 60));
    if (draw_one_in(run, 2))
        json_set_string(arena, spec, "successPolicy", "AllWorkers");
    if (draw_one_in(run, 4))
        kube_meta_set_annotation(arena, job, TRAINING_RESTART_SCOPE_ANNOTATION, "job");
    return job;
}

static void on_submitted(void *context, struct json *object, const struct err *err)
{
    struct run *run = context;

    check(run, !err, "cannot create a job: %s", err->message);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void run_init(struct run *run, uint64_t seed)
{
    struct fault_rates rates;

    *run = (struct run){.seed = seed};
    sim_cluster_init(&run->cluster, seed);
    rates = (struct fault_rates){
        .refuse = (unsigned)rand_below(run->cluster.rand, 100),
        .lose = (unsigned)rand_below(run->cluster.rand, 100),
        .conflict = (unsigned)rand_below(run->cluster.rand, 200),
        .cut = (unsigned)rand_below(run->cluster.rand, 1000),
    };
    map_init(&run->ends);
    run->faulty =
        fault_transport_new(run->cluster.loop, run->cluster.transport, run->cluster.rand, &rates);
    run->jobs = kube_informer_new(run->cluster.client, &KUBE_TFJOBS, NULL, NULL, audit_job, run);
    run->pods = kube_informer_new(run->cluster.client, &KUBE_PODS, NULL, NULL, audit_pod, run);
    run->services = kube_informer_new(run->cluster.client, &KUBE_SERVICES, NULL,
                                      TRAINING_TFJOB.selector, audit_service, run);
    start_operator(run);
    loop_timer_init(run->cluster.loop, &run->restart_timer, on_restart);
    loop_timer_init(run->cluster.loop, &run->hurt_timer, on_hurt);
    if (draw_one_in(run, 2))
        loop_timer_start(&run->restart_timer, 1000);
    run->kills = draw_one_in(run, 2);
    if (run->kills)
        loop_timer_start(&run->hurt_timer, 1000);
}

static void run_release(struct run *run)
{
    loop_timer_stop(&run->restart_timer);
    loop_timer_stop(&run->hurt_timer);
    stop_operator(run);
    http_transport_free(run->faulty);
    kube_informer_free(run->jobs);
    kube_informer_free(run->pods);
    kube_informer_free(run->services);
    map_release(&run->ends);
    sim_cluster_release(&run->cluster);
}

static void test_seed(uint64_t seed)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct run run;

    run_init(&run, seed);
    for (int i = 0; i < JOBS; i++)
        kube_create(run.cluster.client, &KUBE_TFJOBS, "default", draw_job(&run, arena, i),
                    on_submitted, &run);
    for (int64_t spent = 0; spent < PATIENCE_MS; spent += SLICE_MS) {
        sim_loop_run_for(run.cluster.loop, SLICE_MS);
        if (run.ends.count == JOBS && trouble_is_over(&run) && run.operator_)
            break;
    }
    sim_loop_run_for(run.cluster.loop, SETTLE_MS);
    audit_the_end(&run);
    run_release(&run);
}

static void test_jobs_end_whatever_happens(void **state)
{
    const char *one = getenv("TRAINYARD_SIM_SEED"), *many = getenv("TRAINYARD_SIM_SEEDS");
    uint64_t count = many ? strtoull(many, NULL, 10) : SEEDS_DEFAULT;

    if (one) {
        test_seed(strtoull(one, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= count; seed++)
        test_seed(seed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_jobs_end_whatever_happens)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
