/* How long pods take to start, on any cluster: the seconds from the first create to the moment when
 * a watch has shown all of them Running, as one line of JSON. The pods stay.
 *
 *   bench_pods KUBECONFIG NAMESPACE COUNT
 */
#include "base/json/json.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/client/client.h"
#include "kube/client/kubeconfig.h"
#include "kube/object.h"
#include "net/http/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PODS_MAX = 100 };

struct bench {
    struct loop *loop;
    struct kube_client *client;
    const char *namespace_;
    int wanted, created, running;
    bool runs[PODS_MAX];
};

static void fail(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

static void on_event(void *context, const char *type, struct json *pod)
{
    struct bench *bench = context;
    const char *name = kube_meta_name(pod);
    int number = atoi(name + strcspn(name, "0123456789"));
    if (!str_eq(json_get_string(json_get(pod, "status"), "phase", ""), "Running") ||
        number >= bench->wanted || bench->runs[number])
        return;
    bench->runs[number] = true;
    if (++bench->running == bench->wanted)
        loop_stop(bench->loop);
}

static void on_watch_end(void *context, const struct err *err)
{
    fail("watch", err);
}

static void on_created(void *context, struct json *object, const struct err *err)
{
    if (err)
        fail("create pod", err);
}

/* A manifest that works on every cluster: the image has a shell, and the pod mounts no token. */
static void create_pod(struct bench *bench, int number)
{
    static const char SPEC[] =
        "{\"restartPolicy\":\"Never\",\"terminationGracePeriodSeconds\":0,"
        "\"automountServiceAccountToken\":false,\"containers\":[{\"name\":\"main\","
        "\"image\":\"trainyard/busybox:1\",\"command\":[\"sh\",\"-c\",\"echo up; sleep 3600\"]}]}";
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod = kube_object_make(arena, &KUBE_PODS, bench->namespace_,
                                        arena_printf(arena, "pod-%d", number));
    struct json *spec = NULL;
    struct err err = ERR_INIT;
    if (json_parse(arena, SPEC, strlen(SPEC), NULL, &spec, &err) < 0)
        fail("spec", &err);
    json_set(arena, pod, "spec", spec);
    kube_create(bench->client, &KUBE_PODS, bench->namespace_, pod, on_created, bench);
}

int main(int argc, char **argv)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct bench bench = {.wanted = argc == 4 ? atoi(argv[3]) : 0};
    struct kubeconfig config;
    struct http_transport *transport = NULL;
    struct err err = ERR_INIT;
    if (bench.wanted < 1 || bench.wanted > PODS_MAX) {
        fprintf(stderr, "usage: bench_pods KUBECONFIG NAMESPACE COUNT (at most %d)\n", PODS_MAX);
        return 2;
    }
    bench.namespace_ = argv[2];
    if (kubeconfig_read(arena, argv[1], NULL, &config, &err) < 0 || loop_new(&bench.loop, &err) < 0)
        fail(argv[1], &err);
    const struct http_client_options options = {.base_url = config.server,
                                                .ca_pem = config.ca_pem,
                                                .bearer = config.token,
                                                .cert_pem = config.cert_pem,
                                                .key_pem = config.key_pem};
    if (http_client_new(bench.loop, &options, &transport, &err) < 0)
        fail("client", &err);
    bench.client = kube_client_new(bench.loop, transport, "bench");
    struct kube_watch *watch = kube_watch_start(bench.client, &KUBE_PODS, bench.namespace_, NULL,
                                                NULL, NULL, on_event, on_watch_end, &bench);
    int64_t start = moment_monotonic_ns();
    for (int i = 0; i < bench.wanted; i++)
        create_pod(&bench, i);
    loop_run(bench.loop);
    printf("{\"value\":%.4f}\n", (double)(moment_monotonic_ns() - start) / 1e9);
    kube_watch_stop(watch);
    kube_client_free(bench.client);
    http_transport_free(transport);
    loop_free(bench.loop);
    return 0;
}
