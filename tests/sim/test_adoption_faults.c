/* Deletes a job without its pods and creates it again, many times. Also takes pods out of the job
 * by their labels and puts them back. Meanwhile watches lag and end, calls fail, answers are lost,
 * and the operator dies or runs twice. The programs do not end and no other client deletes a pod,
 * so each replica must get exactly one pod. TRAINYARD_SIM_SEEDS is the number of seeds;
 * TRAINYARD_SIM_SEED runs a single seed. */
#include "sim_cluster.h"
#include "sim_seeds.h"
#include "training_audit.h"

#include "base/mem.h"
#include "base/str.h"
#include "fault_transport.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/controller/controller.h"
#include "operator/kind/training_job.h"
#include "operator/kind/training_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    SEEDS_DEFAULT = 50,
    SERVERS = 4, /* parameter servers, which run on */
    OPERATORS = 2,
    START_MS = 30 * 1000, /* the first pods are created without faults */
    TROUBLE_MS = 150 * 1000,
    SETTLE_MS = 8 * 60 * 1000,
};

static const struct training_kind *const KINDS[] = {&TRAINING_TFJOB, NULL};

struct run;

struct operator_process {
    struct run *run;
    struct training_controller *controller; /* NULL: the operator is dead */
    struct loop_timer timer;
};

struct run {
    struct sim_cluster cluster;
    struct training_audit audit;
    struct http_transport *faulty;
    struct operator_process operators[OPERATORS];
    struct loop_timer user_timer;
    struct kube_informer *pods; /* all pods, with any labels */
    size_t made;
    bool gangs;
};

static void ignore_answer(void *context, struct json *object, const struct err *err)
{
}

static bool faults_are_over(struct run *run)
{
    return loop_now_ms(run->cluster.loop) > TROUBLE_MS;
}

static int64_t draw_ms(struct run *run, int64_t max)
{
    return 1 + (int64_t)rand_below(run->cluster.rand, (uint64_t)max);
}

/* ---- The operator ---------------------------------------------------------------------------- */

static void operator_start(struct operator_process *process)
{
    struct training_controller_options options = {
        .gang_scheduler = process->run->gangs ? "scheduler-plugins-scheduler" : NULL};

    training_audit_trace(&process->run->audit, "operator %d starts",
                         (int)(process - process->run->operators));
    process->controller = training_controller_new(process->run->cluster.loop, process->run->faulty,
                                                  &TRAINING_TFJOB, &options);
}

static void on_operator_timer(struct loop_timer *timer)
{
    struct operator_process *process = CONTAINER_OF(timer, struct operator_process, timer);

    process->controller = training_controller_free(process->controller);
    if (!faults_are_over(process->run)) {
        if (rand_below(process->run->cluster.rand, 4) > 0)
            operator_start(process);
        loop_timer_start(timer, draw_ms(process->run, 10 * 1000));
    } else if (process == &process->run->operators[0]) {
        operator_start(process);
    }
}

/* ---- The job --------------------------------------------------------------------------------- */

static void add_replicas(struct arena *arena, struct json *spec, const char *type, int replicas)
{
    struct json *specs = json_ensure_object(arena, spec, "tfReplicaSpecs");
    struct json *replica = json_set(arena, specs, type, json_object(arena));
    struct json *pod =
        json_ensure_object(arena, json_ensure_object(arena, replica, "template"), "spec");
    struct json *container = json_object(arena);

    json_set_int(arena, replica, "replicas", replicas);
    json_set_string(arena, replica, "restartPolicy", "Always");
    json_set_string(arena, container, "name", "tensorflow");
    json_set_string(arena, container, "image", "simulated");
    json_append(json_ensure_array(arena, pod, "containers"), container);
}

static void submit(struct run *run)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *job = kube_object_make(arena, &TFJOB_RESOURCE, "default", "mnist");

    add_replicas(arena, json_ensure_object(arena, job, "spec"), "PS", SERVERS);
    training_audit_trace(&run->audit, "mnist is made");
    kube_create(run->cluster.client, &TFJOB_RESOURCE, "default", job, ignore_answer, NULL);
}

static struct kube_object *find_job(struct run *run)
{
    return training_audit_job(&run->audit, "mnist");
}

static void delete_job_without_pods(struct run *run)
{
    static const struct kube_delete_options options = {.grace_period_seconds = -1,
                                                       .propagation = "Orphan"};

    training_audit_trace(&run->audit, "mnist is deleted without its pods");
    kube_delete(run->cluster.client, &TFJOB_RESOURCE, "default", "mnist", &options, ignore_answer,
                NULL);
}

/* ---- Labels ---------------------------------------------------------------------------------- */

/* `value` NULL removes the label. */
static void set_label(struct run *run, const char *pod, const char *label, const char *value)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *patch = json_object(arena);
    struct json *labels =
        json_ensure_object(arena, json_ensure_object(arena, patch, "metadata"), "labels");

    json_set(arena, labels, label, value ? json_string(arena, value) : json_null(arena));
    training_audit_trace(&run->audit, "%s: %s=%s", pod, label, value ? value : "");
    kube_patch(run->cluster.client, &KUBE_PODS, "default", pod, NULL, patch, ignore_answer, NULL);
}

static void restore_labels(struct run *run, const char *pod)
{
    set_label(run, pod, TRAINING_NAME_LABEL, "mnist");
    set_label(run, pod, TRAINING_OPERATOR_LABEL, TRAINING_TFJOB.controller_name);
}

static void change_label(struct run *run, const char *pod)
{
    switch (rand_below(run->cluster.rand, 4)) {
    case 0:
        set_label(run, pod, TRAINING_NAME_LABEL, "elsewhere");
        break;
    case 1:
        set_label(run, pod, TRAINING_NAME_LABEL, NULL);
        break;
    case 2:
        set_label(run, pod, TRAINING_OPERATOR_LABEL, NULL);
        break;
    default:
        restore_labels(run, pod);
        break;
    }
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void on_user_action(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, user_timer);
    bool over = faults_are_over(run);
    char pod[32];

    if (!find_job(run))
        submit(run);
    else if (!over && rand_below(run->cluster.rand, 3) == 0)
        delete_job_without_pods(run);
    for (int i = 0; i < SERVERS; i++) {
        snprintf(pod, sizeof(pod), "mnist-ps-%d", i);
        if (over)
            restore_labels(run, pod);
        else if (rand_below(run->cluster.rand, 6) == 0)
            change_label(run, pod);
    }
    loop_timer_start(timer, over ? 60 * 1000 : draw_ms(run, 10 * 1000));
}

static void on_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct run *run = context;

    run->made += !old;
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void run_init(struct run *run, uint64_t seed)
{
    struct rand *rand;

    *run = (struct run){0};
    sim_cluster_init(&run->cluster, seed);
    sim_node_set_failures(run->cluster.node, 0);
    rand = run->cluster.rand;
    /* No call is slow. If the job were deleted between the last check and the patch, the garbage
     * collector would delete the adopted pods. Kubernetes behaves the same. */
    struct fault_rates rates = {
        .refuse = (unsigned)rand_below(rand, 100),
        .lose = (unsigned)rand_below(rand, 200),
        .conflict = (unsigned)rand_below(rand, 200),
        .cut = (unsigned)rand_below(rand, 1000),
        .lag = (unsigned)rand_below(rand, 1000),
    };
    run->faulty =
        fault_transport_new(run->cluster.loop, run->cluster.transport, run->cluster.rand, &rates);
    run->gangs = rand_below(rand, 2) == 0;
    training_audit_init(&run->audit, &run->cluster, seed, KINDS);
    run->pods = kube_informer_new(run->cluster.client, &KUBE_PODS, NULL, NULL, on_pod, run);
    for (int i = 0; i < OPERATORS; i++) {
        run->operators[i].run = run;
        loop_timer_init(run->cluster.loop, &run->operators[i].timer, on_operator_timer);
    }
    loop_timer_init(run->cluster.loop, &run->user_timer, on_user_action);
    operator_start(&run->operators[0]);
    submit(run);
    sim_loop_run_for(run->cluster.loop, START_MS);
    loop_timer_start(&run->user_timer, draw_ms(run, 1000));
    loop_timer_start(&run->operators[0].timer, draw_ms(run, 10 * 1000));
    run->audit.rivals = rand_below(rand, 3) == 0;
    if (run->audit.rivals)
        loop_timer_start(&run->operators[1].timer, draw_ms(run, 10 * 1000));
}

static void run_release(struct run *run)
{
    loop_timer_stop(&run->user_timer);
    for (int i = 0; i < OPERATORS; i++) {
        loop_timer_stop(&run->operators[i].timer);
        training_controller_free(run->operators[i].controller);
    }
    kube_informer_free(run->pods);
    http_transport_free(run->faulty);
    training_audit_release(&run->audit);
    sim_cluster_release(&run->cluster);
}

#define require(seed, condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("seed %llu: ", (unsigned long long)(seed));                                \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

static void check_final_state(struct run *run, uint64_t seed)
{
    struct kube_object *job = find_job(run), *pod;
    const struct json *status = job ? json_get(job->json, "status") : NULL;
    size_t pods = 0;

    require(seed, job, "the job is not there");
    for (size_t i = 0; (pod = kube_informer_next(run->pods, NULL, &i)); pods++)
        require(seed, kube_meta_is_controlled_by(pod->json, job->uid), "%s is not the job's",
                pod->name);
    require(seed, pods == SERVERS, "%zu pods", pods);
    require(seed, run->made == SERVERS, "%zu pods were made", run->made);
    require(seed,
            json_get_int(json_at(status, "replicaStatuses", "PS", NULL), "active", 0) == SERVERS,
            "not all servers are active");
}

static void run_seed(uint64_t seed)
{
    struct run run;

    run_init(&run, seed);
    sim_loop_run_for(run.cluster.loop, TROUBLE_MS + SETTLE_MS);
    check_final_state(&run, seed);
    run_release(&run);
}

static void test_each_replica_keeps_one_pod_under_faults(void **state)
{
    sim_seeds_run(sim_seeds_requested(SEEDS_DEFAULT), run_seed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_replica_keeps_one_pod_under_faults)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
