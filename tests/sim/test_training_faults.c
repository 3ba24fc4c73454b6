/* Tests whole lives of training jobs in virtual time, with faults drawn from a seed. Calls are
 * refused or slow, answers are lost, and writes conflict. Watches end, lag, repeat events and swap
 * them. Pods are killed. The operator dies between any two writes, or runs twice. Jobs are
 * suspended, scaled, deleted and created again under the same name. training_audit.c checks the
 * rules of every run. TRAINYARD_SIM_SEEDS is the number of seeds; TRAINYARD_SIM_SEED runs a single
 * seed. */
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
#include "operator/reconcile/host_ports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    SEEDS_DEFAULT = 50,
    JOBS = 3,
    OPERATORS = 2,
    SLICE_MS = 10 * 1000,
    TROUBLE_MS = 120 * 1000, /* users and killers act only until then */
    /* Programs succeed from then on, so a job that still runs is not just unlucky. */
    LUCK_MS = 1800 * 1000,
    PATIENCE_MS = 3600 * 1000,
    SETTLE_MS = 5 * 60 * 1000,
    WRITES_BETWEEN_DEATHS = 40, /* at most */
    HOST_PORTS = 12,            /* too few for all jobs at once */
};

static const char *const POLICIES[] = {"Never", "Always", "OnFailure", "ExitCode"};
static const char *const CLEANS[] = {"None", "Running", "All"};
static const struct training_kind *const KINDS[] = {&TRAINING_TFJOB, &TRAINING_PYTORCHJOB, NULL};

struct run;

/* A process with one controller per kind. */
struct operator_process {
    struct run *run;
    struct training_controller *controllers[ARRAY_SIZE(KINDS)];
    struct host_ports *host_ports; /* each process has its own table */
    bool alive;
    struct loop_timer timer; /* its death or its restart */
};

struct run {
    struct sim_cluster cluster;
    struct training_audit audit;
    struct http_transport *faulty;
    struct operator_process operators[OPERATORS];
    uint64_t writes_left; /* writes until the next death; 0: writes cause no death */
    struct loop_task death;
    struct loop_timer pod_fault_timer, user_timer;
    bool meddles;
    bool gangs; /* the pods of a job start together */
};

/* ---- The operator ---------------------------------------------------------------------------- */

static bool faults_are_over(struct run *run)
{
    return loop_now_ms(run->cluster.loop) > TROUBLE_MS;
}

static void operator_start(struct operator_process *process)
{
    struct training_controller_options options = {
        .gang_scheduler = process->run->gangs ? "scheduler-plugins-scheduler" : NULL};

    process->host_ports = options.host_ports = host_ports_new(100, 100 + HOST_PORTS - 1);
    training_audit_trace(&process->run->audit, "operator %d starts",
                         (int)(process - process->run->operators));
    for (size_t i = 0; KINDS[i]; i++)
        process->controllers[i] = training_controller_new(process->run->cluster.loop,
                                                          process->run->faulty, KINDS[i], &options);
    process->alive = true;
}

static void operator_kill(struct operator_process *process)
{
    training_audit_trace(&process->run->audit, "operator %d dies",
                         (int)(process - process->run->operators));
    for (size_t i = 0; KINDS[i]; i++)
        process->controllers[i] = training_controller_free(process->controllers[i]);
    process->host_ports = host_ports_free(process->host_ports);
    process->alive = false;
}

static void on_operator_timer(struct loop_timer *timer)
{
    struct operator_process *process = CONTAINER_OF(timer, struct operator_process, timer);
    struct run *run = process->run;
    bool is_first = process == &run->operators[0];

    if (process->alive) {
        operator_kill(process);
        loop_timer_start(timer, (int64_t)rand_below(run->cluster.rand, 5000));
        return;
    }
    if (!is_first && faults_are_over(run))
        return;
    operator_start(process);
    if (!faults_are_over(run) || !is_first)
        loop_timer_start(timer, 1000 + (int64_t)rand_below(run->cluster.rand, 20000));
}

/* The counted write may be in flight, or not even sent. */
static void on_death(struct loop_task *task)
{
    struct run *run = CONTAINER_OF(task, struct run, death);

    if (run->operators[0].alive) {
        operator_kill(&run->operators[0]);
        loop_timer_start(&run->operators[0].timer, (int64_t)rand_below(run->cluster.rand, 3000));
    }
    if (!faults_are_over(run))
        run->writes_left = 1 + rand_below(run->cluster.rand, WRITES_BETWEEN_DEATHS);
}

static void on_write(void *context)
{
    struct run *run = context;

    if (run->writes_left > 0 && --run->writes_left == 0)
        loop_defer(run->cluster.loop, &run->death);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static const char *draw_text(struct run *run, const char *const *texts, size_t count)
{
    return texts[rand_below(run->cluster.rand, count)];
}

static bool draw_one_in(struct run *run, uint64_t n)
{
    return rand_below(run->cluster.rand, n) == 0;
}

static void on_pod_fault(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, pod_fault_timer);

    sim_node_disturb_one_pod(run->cluster.node);
    if (!faults_are_over(run))
        loop_timer_start(timer, 100 + (int64_t)rand_below(run->cluster.rand, 5000));
}

static void ignore_answer(void *context, struct json *object, const struct err *err)
{
}

static const struct kube_resource *resource_of(const struct json *job)
{
    return str_eq(json_get_string(job, "kind", ""), TFJOB_RESOURCE.kind) ? &TFJOB_RESOURCE
                                                                         : &PYTORCHJOB_RESOURCE;
}

static void set_suspended(struct run *run, const struct kube_object *job, bool suspend)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *patch = json_object(arena);
    struct json *policy =
        json_ensure_object(arena, json_ensure_object(arena, patch, "spec"), "runPolicy");

    json_set_bool(arena, policy, "suspend", suspend);
    kube_patch(run->cluster.client, resource_of(job->json), "default", job->name, NULL, patch,
               ignore_answer, NULL);
}

static void scale(struct run *run, const struct kube_object *job)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *patch = json_object(arena), *spec = json_ensure_object(arena, patch, "spec");
    const struct kube_resource *resource = resource_of(job->json);

    for (size_t i = 0; KINDS[i]; i++) {
        struct json *worker;

        if (KINDS[i]->resource != resource)
            continue;
        worker =
            json_ensure_object(arena, json_ensure_object(arena, spec, KINDS[i]->specs), "Worker");
        json_set_int(arena, worker, "replicas", 1 + (int64_t)rand_below(run->cluster.rand, 5));
    }
    kube_patch(run->cluster.client, resource, "default", job->name, NULL, patch, ignore_answer,
               NULL);
}

static struct json *draw_job(struct run *run, struct arena *arena, int number);

static void submit(struct run *run, int number)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *job = draw_job(run, arena, number);

    kube_create(run->cluster.client, resource_of(job), "default", job, ignore_answer, NULL);
}

static struct kube_object *job_number(struct run *run, int number)
{
    char name[16];

    snprintf(name, sizeof(name), "job-%d", number);
    return training_audit_job(&run->audit, name);
}

static void change_job(struct run *run, const struct kube_object *job, int number)
{
    struct kube_delete_options options = {.grace_period_seconds = -1, .propagation = "Background"};

    training_audit_disturb(&run->audit, job->uid);
    training_audit_trace(&run->audit, "%s is meddled with", job->name);
    switch (rand_below(run->cluster.rand, 4)) {
    case 0:
        scale(run, job);
        break;
    case 1:
        kube_delete(run->cluster.client, resource_of(job->json), "default", job->name, &options,
                    ignore_answer, NULL);
        submit(run, number);
        break;
    default:
        set_suspended(run, job, draw_one_in(run, 2));
        break;
    }
}

/* A user changes or deletes one of the jobs. At the end no job is left suspended. */
static void on_user_action(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, user_timer);
    int number = (int)rand_below(run->cluster.rand, JOBS);
    struct kube_object *job = job_number(run, number);

    if (!faults_are_over(run)) {
        if (job)
            change_job(run, job, number);
        loop_timer_start(timer, 1000 + (int64_t)rand_below(run->cluster.rand, 20000));
        return;
    }
    for (number = 0; number < JOBS; number++) {
        job = job_number(run, number);
        if (job)
            set_suspended(run, job, false);
    }
    run->meddles = false;
}

/* ---- The jobs -------------------------------------------------------------------------------- */

/* `policy` NULL: each replica type draws its own. */
static void add_replicas(struct run *run, struct arena *arena, const struct training_kind *kind,
                         struct json *specs, const char *type, uint64_t max, const char *policy,
                         bool host_network)
{
    struct json *spec = json_set(arena, specs, type, json_object(arena));

    json_set_int(arena, spec, "replicas", 1 + (int64_t)rand_below(run->cluster.rand, max));
    json_set_string(arena, spec, "restartPolicy",
                    policy ? policy : draw_text(run, POLICIES, ARRAY_SIZE(POLICIES)));
    struct json *pod_spec =
        json_ensure_object(arena, json_ensure_object(arena, spec, "template"), "spec");
    if (host_network)
        json_set_bool(arena, pod_spec, "hostNetwork", true);
    struct json *container = json_object(arena);
    json_set_string(arena, container, "name", kind->container);
    json_set_string(arena, container, "image", "simulated");
    json_append(json_ensure_array(arena, pod_spec, "containers"), container);
}

static void draw_replicas(struct run *run, struct arena *arena, const struct training_kind *kind,
                          struct json *specs)
{
    const char *restart =
        draw_one_in(run, 4) ? NULL : draw_text(run, POLICIES, ARRAY_SIZE(POLICIES));
    bool host = draw_one_in(run, 2);
    bool chief = training_kind_supports(kind, TRAINING_CHIEF) && draw_one_in(run, 2);

    if (draw_one_in(run, 2))
        add_replicas(run, arena, kind, specs, chief ? "Chief" : "Master", 1, restart, host);
    add_replicas(run, arena, kind, specs, "Worker", 4, restart, host);
    if (training_kind_supports(kind, TRAINING_PS) && draw_one_in(run, 2))
        add_replicas(run, arena, kind, specs, "PS", 2, restart, host);
    if (training_kind_supports(kind, TRAINING_EVALUATOR) && draw_one_in(run, 4))
        add_replicas(run, arena, kind, specs, "Evaluator", 1, restart, false);
}

static bool any_restarts_always(const struct json *replicas)
{
    JSON_EACH (replica, replicas) {
        if (str_eq(json_get_string(replica, "restartPolicy", ""), "Always"))
            return true;
    }
    return false;
}

/* A number always gives the same kind, so that a name belongs to one kind only. */
static struct json *draw_job(struct run *run, struct arena *arena, int number)
{
    const struct training_kind *kind = KINDS[(size_t)number % (ARRAY_SIZE(KINDS) - 1)];
    struct json *job =
        kube_object_make(arena, kind->resource, "default", arena_printf(arena, "job-%d", number));
    struct json *spec = json_ensure_object(arena, job, "spec");
    struct json *policy = json_ensure_object(arena, spec, "runPolicy");

    draw_replicas(run, arena, kind, json_ensure_object(arena, spec, kind->specs));
    json_set_string(arena, policy, "cleanPodPolicy", draw_text(run, CLEANS, ARRAY_SIZE(CLEANS)));
    /* Jobs with programs that always restart never end by themselves, and jobs that restart as a
     * whole rarely do. Both get a deadline. The other jobs must end without one, because a deadline
     * would hide a job that the operator has forgotten. */
    if (draw_one_in(run, 4))
        kube_meta_set_annotation(arena, job, TRAINING_RESTART_SCOPE_ANNOTATION, "job");
    if (any_restarts_always(json_get(spec, kind->specs)) ||
        kube_meta_annotation(job, TRAINING_RESTART_SCOPE_ANNOTATION) || draw_one_in(run, 2))
        json_set_int(arena, policy, "activeDeadlineSeconds",
                     30 + (int64_t)rand_below(run->cluster.rand, 300));
    if (draw_one_in(run, 2))
        json_set_int(arena, policy, "backoffLimit", (int64_t)rand_below(run->cluster.rand, 5));
    if (draw_one_in(run, 4))
        json_set_int(arena, policy, "ttlSecondsAfterFinished",
                     (int64_t)rand_below(run->cluster.rand, 60));
    if (kind == &TRAINING_TFJOB && draw_one_in(run, 2))
        json_set_string(arena, spec, "successPolicy", "AllWorkers");
    return job;
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void run_init(struct run *run, uint64_t seed)
{
    struct loop *loop;
    struct rand *rand;

    *run = (struct run){.death = {.callback = on_death}};
    sim_cluster_init(&run->cluster, seed);
    loop = run->cluster.loop;
    rand = run->cluster.rand;
    struct fault_rates rates = (struct fault_rates){
        .refuse = (unsigned)rand_below(rand, 100),
        .slow = (unsigned)rand_below(rand, 300),
        .lose = (unsigned)rand_below(rand, 100),
        .conflict = (unsigned)rand_below(rand, 200),
        .cut = (unsigned)rand_below(rand, 1000),
        .lag = (unsigned)rand_below(rand, 1000),
    };
    run->faulty = fault_transport_new(loop, run->cluster.transport, rand, &rates);
    fault_transport_on_write(run->faulty, on_write, run);
    training_audit_init(&run->audit, &run->cluster, seed, KINDS);
    for (int i = 0; i < OPERATORS; i++) {
        run->operators[i].run = run;
        loop_timer_init(loop, &run->operators[i].timer, on_operator_timer);
    }
    loop_timer_init(loop, &run->pod_fault_timer, on_pod_fault);
    loop_timer_init(loop, &run->user_timer, on_user_action);

    run->gangs = draw_one_in(run, 2);
    operator_start(&run->operators[0]);
    if (draw_one_in(run, 3))
        loop_timer_start(&run->operators[0].timer, 1000);
    else if (draw_one_in(run, 2))
        run->writes_left = 1 + rand_below(rand, WRITES_BETWEEN_DEATHS);
    run->audit.rivals = draw_one_in(run, 4); /* both operators act as leader */
    if (run->audit.rivals)
        loop_timer_start(&run->operators[1].timer, 1000);
    run->audit.kills = draw_one_in(run, 2);
    if (run->audit.kills)
        loop_timer_start(&run->pod_fault_timer, 1000);
    run->meddles = draw_one_in(run, 3);
    if (run->meddles)
        loop_timer_start(&run->user_timer, 1000);
}

static void run_release(struct run *run)
{
    loop_timer_stop(&run->pod_fault_timer);
    loop_timer_stop(&run->user_timer);
    loop_defer_cancel(run->cluster.loop, &run->death);
    for (int i = 0; i < OPERATORS; i++) {
        loop_timer_stop(&run->operators[i].timer);
        operator_kill(&run->operators[i]);
    }
    http_transport_free(run->faulty);
    training_audit_release(&run->audit);
    sim_cluster_release(&run->cluster);
}

/* Whether no more faults will come and no job still runs. */
static bool is_over(struct run *run)
{
    if (!faults_are_over(run) || run->meddles || !run->operators[0].alive)
        return false;
    for (int i = 0; i < JOBS; i++) {
        const struct kube_object *job = job_number(run, i);

        if (job && !training_audit_has_ended(&run->audit, job->uid))
            return false;
    }
    return run->audit.ended >= JOBS;
}

static void run_seed(uint64_t seed)
{
    struct run run;

    run_init(&run, seed);
    for (int i = 0; i < JOBS; i++)
        submit(&run, i);
    for (int64_t spent = 0; spent < PATIENCE_MS && !is_over(&run); spent += SLICE_MS) {
        if (spent == LUCK_MS)
            sim_node_set_failures(run.cluster.node, 0);
        sim_loop_run_for(run.cluster.loop, SLICE_MS);
    }
    sim_loop_run_for(run.cluster.loop, SETTLE_MS);
    training_audit_end(&run.audit);
    run_release(&run);
}

static void test_jobs_end_under_faults(void **state)
{
    sim_seeds_run(sim_seeds_requested(SEEDS_DEFAULT), run_seed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_jobs_end_under_faults)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
