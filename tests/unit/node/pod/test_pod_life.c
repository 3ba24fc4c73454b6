/* Tests that the probes and hooks of a manifest become orders that survive being written and
 * read. */
#include "node_test.h"
#include "scratch_directory.h"

#include "node/plan/plan.h"

#include <signal.h>
#include <stdlib.h>

static const struct json *get_object(void *context, const struct kube_resource *resource,
                                     const char *namespace_, const char *name)
{
    return NULL;
}

/* Plans a pod, and writes and reads its spec. `more` goes into the spec, `own` into the main
 * container. */
static int plan(struct arena *arena, const char *more, const char *own, struct pod_spec *ret,
                struct err *err)
{
    const struct node_objects objects = {get_object, NULL};
    struct plan_refusal refusal;
    const struct plan_input input = {
        .pod = read_json(arena, arena_printf(arena,
                                             "{'metadata':{'name':'p','namespace':'n','uid':'u'},"
                                             "'spec':{%s'containers':[{'name':'m','image':'i',"
                                             "'command':['x'],%s}]}}",
                                             more, own)),
        .state_dir = directory,
        .pod_dir = directory,
        .network = "/run/holder",
        .address = "10.244.1.2",
        .host_address = "127.0.0.1",
        .prober = "/usr/bin/trainyard",
        .started_ms = 1000000,
        .machine_resolv_conf = "",
        .images = read_json(arena, "{}"),
        .objects = &objects,
    };
    struct pod_spec planned;
    int result = plan_pod(arena, &input, &planned, &refusal, err);
    if (result < 0)
        return result;
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    pod_spec_write(&planned, &text);
    return pod_spec_parse(arena, arena_strndup(arena, text.data, text.size), text.size, ret, err);
}

static void probes_are_planned(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    struct err err = ERR_INIT;
    if (plan(
            arena, "",
            "'ports':[{'name':'web','containerPort':8080}],"
            "'livenessProbe':{'httpGet':{'port':'web','path':'/up','scheme':'HTTPS','httpHeaders':["
            "{'name':'A','value':'b'},{'name':'C','value':'d\\r\\nEvil: x'}]},"
            " 'initialDelaySeconds':5,'periodSeconds':3,'timeoutSeconds':2,'failureThreshold':4,"
            " 'terminationGracePeriodSeconds':7},"
            "'readinessProbe':{'tcpSocket':{'port':22,'host':'127.0.0.1'},'successThreshold':2},"
            "'startupProbe':{'exec':{'command':['sh','-c','a\\nb']}}",
            &spec, &err) < 0)
        fail_msg("%s", err.message);
    const struct pod_life *life = &spec.containers[0].life;
    const struct pod_handler *live = &life->probes[PROBE_LIVENESS];
    const struct probe_settings *settings = &life->settings[PROBE_LIVENESS];
    assert_int_equal(live->kind, HANDLER_HTTP);
    assert_int_equal(live->port, 8080);
    assert_true(live->tls);
    assert_string_equal(live->host, "10.244.1.2");
    assert_string_equal(live->path, "/up");
    /* A header with a line break, which could add another, is left out. */
    assert_int_equal(live->headers.count, 1);
    assert_string_equal(live->headers.items[0], "A: b");
    assert_int_equal(settings->initial_delay_ms, 5000);
    assert_int_equal(settings->period_ms, 3000);
    assert_int_equal(settings->timeout_ms, 2000);
    assert_int_equal(settings->success_threshold, 1);
    assert_int_equal(settings->failure_threshold, 4);
    assert_int_equal(settings->grace_ms, 7000);
    assert_int_equal(life->probes[PROBE_READINESS].kind, HANDLER_TCP);
    assert_string_equal(life->probes[PROBE_READINESS].host, "127.0.0.1");
    assert_int_equal(life->settings[PROBE_READINESS].success_threshold, 2);
    assert_int_equal(life->settings[PROBE_READINESS].grace_ms, -1);
    assert_int_equal(life->settings[PROBE_READINESS].period_ms, 10000);
    assert_int_equal(life->probes[PROBE_STARTUP].words.count, 3);
    assert_string_equal(life->probes[PROBE_STARTUP].words.items[2], "a\nb");
    assert_string_equal(spec.prober, "/usr/bin/trainyard");
    assert_string_equal(spec.identity, "p_n(u)");
    assert_int_equal(spec.deadline_ms, 0);

    assert_true(plan(arena, "", "'livenessProbe':{'tcpSocket':{'port':'web'}}", &spec, &err) < 0);
    assert_string_equal(err.message, "livenessProbe: no port of container 'm' is called 'web'");
}

static void hooks_sidecars_and_deadlines_are_planned(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    struct err err = ERR_INIT;
    if (plan(arena,
             "'activeDeadlineSeconds':60,'terminationGracePeriodSeconds':5,'restartPolicy':'Never',"
             "'initContainers':["
             "{'name':'s','image':'i','command':['x'],'restartPolicy':'Always'},"
             "{'name':'o','image':'i','command':['x']}],",
             "'restartPolicy':'OnFailure','lifecycle':{'stopSignal':'SIGUSR1',"
             "'postStart':{'sleep':{'seconds':3}},'preStop':{'exec':{'command':['bye']}}}",
             &spec, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(spec.deadline_ms, 1060000);
    assert_int_equal(spec.grace_ms, 5000);
    assert_true(spec.containers[0].sidecar);
    assert_int_equal(pod_container_restart(&spec, &spec.containers[0]), RESTART_ALWAYS);
    assert_false(spec.containers[1].sidecar);
    assert_int_equal(pod_container_restart(&spec, &spec.containers[1]), RESTART_NEVER);
    assert_false(spec.containers[2].sidecar);
    assert_int_equal(pod_container_restart(&spec, &spec.containers[2]), RESTART_ON_FAILURE);
    const struct pod_life *life = &spec.containers[2].life;
    assert_int_equal(life->post_start.kind, HANDLER_SLEEP);
    assert_int_equal(life->post_start.sleep_ms, 3000);
    assert_string_equal(life->pre_stop.words.items[0], "bye");
    assert_int_equal(spec.containers[2].stop_signal, SIGUSR1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_are_planned),
        cmocka_unit_test(hooks_sidecars_and_deadlines_are_planned),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
