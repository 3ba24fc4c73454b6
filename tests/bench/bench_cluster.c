/* Creates per second of a running cluster through its https API, with one and with many requests in
 * flight. Prints one JSON line per figure.
 *
 *   bench_cluster KUBECONFIG
 */
#include "base/json/json.h"
#include "base/mem.h"
#include "base/moment.h"
#include "kube/client/client.h"
#include "kube/client/kubeconfig.h"
#include "kube/object.h"
#include "net/http/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CREATES = 2000 };

struct bench {
    struct loop *loop;
    struct kube_client *client;
    struct arena *arena;
    const char *prefix;
    int started, done, wanted;
};

static void fail(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

/* ---- Creates per second ---------------------------------------------------------------------- */

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
    kube_client_free(bench.client);
    http_transport_free(transport);
    loop_free(bench.loop);
    arena_free(bench.arena);
    return 0;
}
