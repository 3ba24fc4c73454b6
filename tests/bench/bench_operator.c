/* How fast the pods and services of training jobs are created in an API server: by an operator that
 * runs beside this program, or, as the peer, by this program alone. The peer creates the same
 * objects, including the jobs with their first status, as fast as the server accepts them. Prints
 * one JSON line per figure.
 *
 *   bench_operator KUBECONFIG alone NAMESPACE JOBS WORKERS
 *   bench_operator KUBECONFIG operator NAMESPACE JOBS WORKERS
 *
 * No node runs the pods. With an operator, this program marks all pods as succeeded once they
 * exist, and then waits until the jobs have succeeded. */
#include "base/json/json.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "kube/client/kubeconfig.h"
#include "kube/object.h"
#include "net/http/client.h"
#include "operator/kind/training_job.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/conditions.h"
#include "operator/reconcile/pod_template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FLIGHT = 32, DOUBT_MS = 3000 };

struct bench {
    struct loop *loop;
    struct kube_client *client;
    const char *namespace_;
    int jobs, workers;
    int started, done, wanted;
    void (*start_one)(struct bench *bench, int number);
    struct kube_informer *job_informer, *pods, *services;
    int pods_seen, services_seen, jobs_succeeded;
    const int *awaited; /* the counter that wait_until() waits for, or NULL */
    int awaited_count;
    struct loop_timer doubt;
};

static void fail(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

static void report(const char *name, int64_t start_ns)
{
    printf("{\"name\":\"%s\",\"value\":%.2f,\"unit\":\"s\"}\n", name,
           (double)(moment_monotonic_ns() - start_ns) / 1e9);
    fflush(stdout);
}

/* ---- Many calls, IN_FLIGHT at a time --------------------------------------------------------- */

static void start_next(struct bench *bench)
{
    if (bench->started < bench->wanted)
        bench->start_one(bench, bench->started++);
}

static void on_done(void *context, struct json *object, const struct err *err)
{
    struct bench *bench = context;

    if (err)
        fail("a call", err);
    if (++bench->done == bench->wanted)
        loop_stop(bench->loop);
    else
        start_next(bench);
}

static void run_calls(struct bench *bench, int count, void (*start_one)(struct bench *, int))
{
    bench->started = bench->done = 0;
    bench->wanted = count;
    bench->start_one = start_one;
    for (int i = 0; i < IN_FLIGHT; i++)
        start_next(bench);
    loop_run(bench->loop);
}

/* ---- The objects ----------------------------------------------------------------------------- */

static struct json *make_job(struct arena *arena, struct bench *bench, int number)
{
    static const char TEMPLATE[] =
        "{\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"trainyard/trainer\","
        "\"command\":[\"trainer\",\"fit\"],\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}";
    struct json *job = kube_object_make(arena, &TFJOB_RESOURCE, bench->namespace_,
                                        arena_printf(arena, "job-%d", number));
    struct json *specs =
        json_ensure_object(arena, json_ensure_object(arena, job, "spec"), TRAINING_TFJOB.specs);
    struct json *worker = json_ensure_object(arena, specs, "Worker"), *template_ = NULL;
    struct err err = ERR_INIT;

    if (json_parse(arena, TEMPLATE, strlen(TEMPLATE), NULL, &template_, &err) < 0)
        fail("template", &err);
    json_set_int(arena, worker, "replicas", bench->workers);
    json_set_string(arena, worker, "restartPolicy", "OnFailure");
    json_set(arena, worker, "template", template_);
    return job;
}

static void create_job(struct bench *bench, int number)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();

    kube_create(bench->client, &TFJOB_RESOURCE, bench->namespace_, make_job(arena, bench, number),
                on_done, bench);
}

static void __attribute__((format(printf, 4, 5)))
patch_status(struct bench *bench, const struct kube_resource *resource, const char *patch_text,
             const char *name_format, ...)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *patch = NULL;
    struct err err = ERR_INIT;
    va_list args;

    va_start(args, name_format);
    const char *name = arena_vprintf(arena, name_format, args);
    va_end(args);
    if (json_parse(arena, patch_text, strlen(patch_text), NULL, &patch, &err) < 0)
        fail("patch", &err);
    kube_patch(bench->client, resource, bench->namespace_, name, "status", patch, on_done, bench);
}

/* Writes the condition Created of a job. The operator does this once per job, so its peer does,
 * too. */
static void tell_job(struct bench *bench, int number)
{
    static const char PATCH[] =
        "{\"status\":{\"conditions\":[{\"type\":\"Created\",\"status\":\"True\",\"reason\":"
        "\"TFJobCreated\",\"message\":\"TFJob is created.\",\"lastUpdateTime\":"
        "\"2026-01-01T00:00:00Z\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}],"
        "\"replicaStatuses\":{\"Worker\":{}},\"startTime\":\"2026-01-01T00:00:00Z\"}}";

    patch_status(bench, &TFJOB_RESOURCE, PATCH, "job-%d", number);
}

/* Creates all services of a job, then its pods, then those of the next job: the order of an
 * operator. The uid of their owner is invented, because no garbage collector runs. */
static void create_part(struct bench *bench, int number)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *owner = make_job(arena, bench, number / (2 * bench->workers));
    int in_job = number % (2 * bench->workers), index = in_job % bench->workers;
    bool is_pod = in_job >= bench->workers;
    struct training_job job;

    json_set_string(arena, json_get(owner, "metadata"), "uid",
                    "00000000-0000-0000-0000-000000000000");
    training_job_read(&TRAINING_TFJOB, owner, &job);
    struct json *object = is_pod ? training_pod_new(arena, &job, TRAINING_WORKER, index, NULL)
                                 : training_service_new(arena, &job, TRAINING_WORKER, index);
    kube_create(bench->client, is_pod ? &KUBE_PODS : &KUBE_SERVICES, bench->namespace_, object,
                on_done, bench);
}

static void finish_pod(struct bench *bench, int number)
{
    static const char PATCH[] =
        "{\"status\":{\"phase\":\"Succeeded\",\"containerStatuses\":[{\"name\":\"tensorflow\","
        "\"ready\":false,\"restartCount\":0,\"image\":\"\",\"imageID\":\"\",\"state\":"
        "{\"terminated\":{\"exitCode\":0}}}]}}";

    patch_status(bench, &KUBE_PODS, PATCH, "job-%d-worker-%d", number / bench->workers,
                 number % bench->workers);
}

/* ---- Waiting for the objects ----------------------------------------------------------------- */

static void count(struct bench *bench, int *counter, bool one_more)
{
    *counter += one_more;
    if (counter == bench->awaited && *counter >= bench->awaited_count)
        loop_stop(bench->loop);
}

static void on_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct bench *bench = context;

    count(bench, &bench->pods_seen, !old);
}

static void on_service(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct bench *bench = context;

    count(bench, &bench->services_seen, !old);
}

static void on_job(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct bench *bench = context;
    bool before = old && training_condition_is_true(json_get(old->json, "status"), "Succeeded");

    count(bench, &bench->jobs_succeeded,
          new_ && !before &&
              training_condition_is_true(json_get(new_->json, "status"), "Succeeded"));
}

/* Kubernetes 1.20.2 drops the watch of a client that reads services too slowly, without closing it.
 * So the informer lists the services again from time to time: docs/design/operator.md. */
static void on_doubt(struct loop_timer *timer)
{
    struct bench *bench = CONTAINER_OF(timer, struct bench, doubt);

    kube_informer_resync(bench->services);
    loop_timer_start(timer, DOUBT_MS);
}

static void wait_until(struct bench *bench, const int *counter, int wanted)
{
    if (*counter >= wanted)
        return;
    bench->awaited = counter;
    bench->awaited_count = wanted;
    loop_timer_init(bench->loop, &bench->doubt, on_doubt);
    loop_timer_start(&bench->doubt, DOUBT_MS);
    loop_run(bench->loop);
    loop_timer_stop(&bench->doubt);
    bench->awaited = NULL;
}

/* The same objects are watched for the operator and for its peer, because watches also cost the
 * server time. */
static void watch_all(struct bench *bench)
{
    static const char *const NOTHING[] = {NULL}, *const STATUS[] = {"status.conditions", NULL};

    bench->job_informer =
        kube_informer_new(bench->client, &TFJOB_RESOURCE, bench->namespace_, NULL, on_job, bench);
    bench->pods =
        kube_informer_new(bench->client, &KUBE_PODS, bench->namespace_, NULL, on_pod, bench);
    bench->services = kube_informer_new(bench->client, &KUBE_SERVICES, bench->namespace_, NULL,
                                        on_service, bench);
    kube_informer_keep(bench->job_informer, STATUS);
    kube_informer_keep(bench->pods, NOTHING);
    kube_informer_keep(bench->services, NOTHING);
}

static void watch_nothing(struct bench *bench)
{
    kube_informer_free(bench->job_informer);
    kube_informer_free(bench->pods);
    kube_informer_free(bench->services);
}

static void wait_for_parts(struct bench *bench)
{
    wait_until(bench, &bench->services_seen, bench->jobs * bench->workers);
    wait_until(bench, &bench->pods_seen, bench->jobs * bench->workers);
}

static void bench_operator(struct bench *bench)
{
    int64_t start = moment_monotonic_ns();

    run_calls(bench, bench->jobs, create_job);
    wait_for_parts(bench);
    report("all made", start);

    start = moment_monotonic_ns();
    run_calls(bench, bench->jobs * bench->workers, finish_pod);
    report("pods marked", start);
    wait_until(bench, &bench->jobs_succeeded, bench->jobs);
    report("all succeeded", start);
}

static void bench_alone(struct bench *bench)
{
    int64_t start = moment_monotonic_ns();

    run_calls(bench, bench->jobs, create_job);
    run_calls(bench, bench->jobs, tell_job);
    run_calls(bench, bench->jobs * bench->workers * 2, create_part);
    wait_for_parts(bench);
    report("all made", start);
}

int main(int argc, char **argv)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct bench bench = {0};
    struct kubeconfig config;
    struct http_transport *transport = NULL;
    struct err err = ERR_INIT;

    if (argc != 6) {
        fputs("usage: bench_operator KUBECONFIG alone|operator NAMESPACE JOBS WORKERS\n", stderr);
        return 2;
    }
    if (kubeconfig_read(arena, argv[1], NULL, &config, &err) < 0 || loop_new(&bench.loop, &err) < 0)
        fail(argv[1], &err);
    struct http_client_options options = {.base_url = config.server,
                                          .ca_pem = config.ca_pem,
                                          .cert_pem = config.cert_pem,
                                          .key_pem = config.key_pem,
                                          .bearer = config.token};
    if (http_client_new(bench.loop, &options, &transport, &err) < 0)
        fail("client", &err);
    bench.client = kube_client_new(bench.loop, transport, "bench");
    bench.namespace_ = argv[3];
    bench.jobs = atoi(argv[4]);
    bench.workers = atoi(argv[5]);
    watch_all(&bench);
    if (str_eq(argv[2], "operator"))
        bench_operator(&bench);
    else
        bench_alone(&bench);
    watch_nothing(&bench);
    kube_client_free(bench.client);
    http_transport_free(transport);
    loop_free(bench.loop);
    return 0;
}
