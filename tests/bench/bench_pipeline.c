/* What a workflow costs beyond its pods: a chain of 50 steps and a fan of 100. Each is compared
 * with the same pods created by hand over the same https API: in a chain each pod after the
 * previous one has succeeded, in a fan all at once. Prints one JSON line per figure.
 *
 *   bench_pipeline KUBECONFIG
 */
#include "base/json/json.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/client/client.h"
#include "kube/client/kubeconfig.h"
#include "kube/object.h"
#include "net/http/client.h"
#include "pipeline/spec/workflow_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN = 50, FAN = 100 };

#define CONTAINER "{\"name\":\"main\",\"image\":\"trainyard/tools\",\"command\":[\"true\"]}"

struct bench {
    struct loop *loop;
    struct kube_client *client;
    const char *prefix; /* of the names of the pods made by hand, or of the workflow */
    int wanted, made, succeeded;
    bool one_by_one;
    bool seen[FAN]; /* the pods whose success has been counted */
};

static void fail(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err ? err->message : "ended");
    exit(1);
}

static struct json *parse(struct arena *arena, const char *text)
{
    struct err err = ERR_INIT;
    struct json *json = NULL;

    if (json_parse(arena, text, strlen(text), NULL, &json, &err) < 0)
        fail(text, &err);
    return json;
}

static void on_created(void *context, struct json *object, const struct err *err)
{
    if (err)
        fail("create", err);
}

static void on_watch_end(void *context, const struct err *err)
{
    fail("watch", err);
}

/* ---- By hand --------------------------------------------------------------------------------- */

static void make_pod(struct bench *bench)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod = kube_object_make(arena, &KUBE_PODS, "default",
                                        arena_printf(arena, "%s-%d", bench->prefix, bench->made++));

    json_set(arena, pod, "spec",
             parse(arena, "{\"restartPolicy\":\"Never\",\"containers\":[" CONTAINER "]}"));
    kube_create(bench->client, &KUBE_PODS, "default", pod, on_created, NULL);
}

static void on_pod(void *context, const char *type, struct json *pod)
{
    struct bench *bench = context;
    const char *dash = strrchr(kube_meta_name(pod), '-');
    int number = dash ? atoi(dash + 1) : 0;

    if (!str_eq(type, "MODIFIED") || !str_has_prefix(kube_meta_name(pod), bench->prefix) ||
        !str_eq(json_get_string(json_get(pod, "status"), "phase", ""), "Succeeded") ||
        bench->seen[number % FAN])
        return;
    bench->seen[number % FAN] = true;
    if (++bench->succeeded == bench->wanted)
        loop_stop(bench->loop);
    else if (bench->one_by_one)
        make_pod(bench);
}

/* ---- As a workflow --------------------------------------------------------------------------- */

static struct json *make_workflow(struct arena *arena, const char *name, int steps, bool one_by_one)
{
    struct json *workflow = kube_object_make(arena, &WORKFLOWS_RESOURCE, "default", name);
    struct json *groups = json_array(arena), *group = NULL;
    struct json *spec = json_set(
        arena, workflow, "spec",
        parse(arena,
              "{\"entrypoint\":\"main\",\"templates\":[{\"name\":\"step\",\"container\":"
              "{\"image\":\"trainyard/tools\",\"command\":[\"true\"]}},{\"name\":\"main\"}]}"));

    for (int i = 0; i < steps; i++) {
        struct json *step = json_object(arena);

        json_set(arena, step, "name", json_stringf(arena, "s%d", i));
        json_set_string(arena, step, "template", "step");
        if (one_by_one || !group) {
            group = json_array(arena);
            json_append(groups, group);
        }
        json_append(group, step);
    }
    json_set(arena, json_element(json_get(spec, "templates"), 1), "steps", groups);
    return workflow;
}

static void on_workflow(void *context, const char *type, struct json *workflow)
{
    struct bench *bench = context;
    const char *phase = json_get_string(json_get(workflow, "status"), "phase", "");

    if (str_eq(phase, "Succeeded") && str_eq(kube_meta_name(workflow), bench->prefix))
        loop_stop(bench->loop);
    else if (str_eq(phase, "Failed") || str_eq(phase, "Error"))
        fail("the workflow failed", NULL);
}

/* ---- Both ------------------------------------------------------------------------------------ */

static double measure(struct bench *bench, int count, bool one_by_one, bool workflow)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct kube_resource *resource = workflow ? &WORKFLOWS_RESOURCE : &KUBE_PODS;

    bench->prefix =
        arena_printf(arena, "%s-%s", workflow ? "workflow" : "hand", one_by_one ? "chain" : "fan");
    bench->wanted = count;
    bench->made = bench->succeeded = 0;
    bench->one_by_one = one_by_one;
    memset(bench->seen, 0, sizeof(bench->seen));
    struct kube_watch *watch =
        kube_watch_start(bench->client, resource, "default", NULL, NULL, NULL,
                         workflow ? on_workflow : on_pod, on_watch_end, bench);
    int64_t start = moment_monotonic_ns();
    if (workflow)
        kube_create(bench->client, resource, "default",
                    make_workflow(arena, bench->prefix, count, one_by_one), on_created, NULL);
    for (int i = 0; !workflow && i < (one_by_one ? 1 : count); i++)
        make_pod(bench);
    loop_run(bench->loop);
    kube_watch_stop(watch);
    return (double)(moment_monotonic_ns() - start) / 1e6 / count;
}

static void figure(struct bench *bench, const char *name, int count, bool one_by_one)
{
    double by_hand = measure(bench, count, one_by_one, false);
    double ours = measure(bench, count, one_by_one, true);

    printf("{\"name\":\"%s\",\"value\":%.2f,\"unit\":\"ms\",\"peer\":\"the same pods by hand\","
           "\"peer_value\":%.2f}\n",
           name, ours, by_hand);
}

int main(int argc, char **argv)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct bench bench = {0};
    struct kubeconfig config;
    struct http_transport *transport = NULL;
    struct err err = ERR_INIT;

    if (argc != 2) {
        fputs("usage: bench_pipeline KUBECONFIG\n", stderr);
        return 2;
    }
    if (kubeconfig_read(arena, argv[1], NULL, &config, &err) < 0 || loop_new(&bench.loop, &err) < 0)
        fail(argv[1], &err);
    struct http_client_options options = {
        .base_url = config.server, .ca_pem = config.ca_pem, .bearer = config.token};
    if (http_client_new(bench.loop, &options, &transport, &err) < 0)
        fail("client", &err);
    bench.client = kube_client_new(bench.loop, transport, "bench");
    figure(&bench, "pipeline, chain of 50, a step", CHAIN, true);
    figure(&bench, "pipeline, fan of 100, a step", FAN, false);
    kube_client_free(bench.client);
    http_transport_free(transport);
    loop_free(bench.loop);
    return 0;
}
