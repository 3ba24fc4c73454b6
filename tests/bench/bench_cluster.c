/* Figures of a running cluster, through its https API as any client would: creates a second with
 * one and with many requests in flight, and the time from a pod's creation to its Running. One JSON
 * line a figure.
 *
 *   bench_cluster KUBECONFIG
 */
#include "base/json.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/client.h"
#include "kube/kubeconfig.h"
#include "kube/object.h"
#include "net/http_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CREATES = 2000, PODS = 20 };

struct bench {
    struct loop *loop;
    struct kube_client *client;
    struct arena *arena;
    const char *prefix;
    int started, done, wanted;
    int64_t pod_started_ns;
    double pod_ms[PODS];
    int pods;
};

static void fail(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

/* ---- Creates a second
 * ----------------------------------------------------------------------------- */

static void create_next(struct bench *bench);

static void on_created(void *context, struct json *object, const struct err *err)
{
    struct bench *bench = context;
    (void)object;
    if (err)
        fail("create", err);
    if (++bench->done == bench->wanted)
        loop_stop(bench->loop);
    else
        create_next(bench);
}

static void create_next(struct bench *bench)
{
    if (bench->started == bench->wanted)
        return;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *name = arena_printf(arena, "%s-%d", bench->prefix, bench->started++);
    struct json *object = kube_object_make(arena, &KUBE_CONFIGMAPS, "default", name);
    /* About as large as a pod of a training job. */
    char filler[2000];
    memset(filler, 'x', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = '\0';
    json_set_string(arena, json_ensure_object(arena, object, "data"), "filler", filler);
    kube_create(bench->client, &KUBE_CONFIGMAPS, "default", object, on_created, bench);
}

static void bench_creates(struct bench *bench, int in_flight, const char *name)
{
    bench->prefix = in_flight == 1 ? "one" : "many";
    bench->started = bench->done = 0;
    bench->wanted = in_flight == 1 ? CREATES / 4 : CREATES;
    int64_t start = moment_monotonic_ns();
    for (int i = 0; i < in_flight; i++)
        create_next(bench);
    loop_run(bench->loop);
    double seconds = (double)(moment_monotonic_ns() - start) / 1e9;
    printf("{\"name\":\"%s\",\"value\":%.1f,\"unit\":\"creates/s\"}\n", name,
           bench->wanted / seconds);
}

/* ---- The start of a pod
 * ---------------------------------------------------------------------------- */

static void create_pod(struct bench *bench);

static void on_pod_created(void *context, struct json *object, const struct err *err)
{
    (void)context, (void)object;
    if (err)
        fail("create pod", err);
}

static void on_pod_event(void *context, const char *type, struct json *pod)
{
    struct bench *bench = context;
    char name[16];
    snprintf(name, sizeof(name), "bench-%d", bench->pods);
    if (!str_eq(type, "MODIFIED") || !str_eq(kube_meta_name(pod), name) ||
        !str_eq(json_get_string(json_get(pod, "status"), "phase", ""), "Running"))
        return;
    bench->pod_ms[bench->pods++] = (double)(moment_monotonic_ns() - bench->pod_started_ns) / 1e6;
    if (bench->pods == PODS)
        loop_stop(bench->loop);
    else
        create_pod(bench);
}

static void on_watch_end(void *context, const struct err *err)
{
    (void)context;
    fail("watch", err);
}

static void create_pod(struct bench *bench)
{
    static const char SPEC[] = "{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\","
                               "\"image\":\"trainyard/tools\","
                               "\"command\":[\"sleep\",\"3600\"]}]}";
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod = kube_object_make(arena, &KUBE_PODS, "default",
                                        arena_printf(arena, "bench-%d", bench->pods));
    struct json *spec = NULL;
    struct err err = ERR_INIT;
    if (json_parse(arena, SPEC, strlen(SPEC), NULL, &spec, &err) < 0)
        fail("spec", &err);
    json_set(arena, pod, "spec", spec);
    bench->pod_started_ns = moment_monotonic_ns();
    kube_create(bench->client, &KUBE_PODS, "default", pod, on_pod_created, bench);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void bench_pods(struct bench *bench)
{
    struct kube_watch *watch = kube_watch_start(bench->client, &KUBE_PODS, "default", NULL, NULL,
                                                NULL, on_pod_event, on_watch_end, bench);
    create_pod(bench);
    loop_run(bench->loop);
    kube_watch_stop(watch);
    qsort(bench->pod_ms, PODS, sizeof(double), ascending);
    printf("{\"name\":\"pod start, create to Running, median\",\"value\":%.2f,\"unit\":\"ms\"}\n",
           bench->pod_ms[PODS / 2]);
}

int main(int argc, char **argv)
{
    struct bench bench = {.arena = arena_new()};
    struct kubeconfig config;
    struct http_transport *transport = NULL;
    struct err err = ERR_INIT;
    if (argc != 2) {
        fputs("usage: bench_cluster KUBECONFIG\n", stderr);
        return 2;
    }
    if (kubeconfig_read(bench.arena, argv[1], NULL, &config, &err) < 0 ||
        loop_new(&bench.loop, &err) < 0)
        fail(argv[1], &err);
    struct http_client_options options = {
        .base_url = config.server, .ca_pem = config.ca_pem, .bearer = config.token};
    if (http_client_new(bench.loop, &options, &transport, &err) < 0)
        fail("client", &err);
    bench.client = kube_client_new(bench.loop, transport, "bench");
    bench_creates(&bench, 1, "api creates, one at a time");
    bench_creates(&bench, 32, "api creates, 32 in flight");
    bench_pods(&bench);
    kube_client_free(bench.client);
    http_transport_free(transport);
    loop_free(bench.loop);
    arena_free(bench.arena);
    return 0;
}
