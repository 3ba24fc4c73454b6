/* Tests following a log that has not begun: which requests wait, for how long, and what they
 * get. */
#include "api.h"

#include "base/str.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PODS            "/api/v1/namespaces/default/pods"
#define FOLLOW          PODS "/x/log?follow=true&container=main"
#define MAIN(state)     "{\"containerStatuses\":[{\"name\":\"main\",\"state\":" state "}]}"
#define RUNNING         MAIN("{\"running\":{}}")
#define WAITING(reason) MAIN("{\"waiting\":{\"reason\":\"" reason "\"}}")

enum { PATIENCE_MS = 20000 };

/* Plays the backend that runs the pods: responds with the container and node of the request. */
static void send_log_line(void *context, struct http_exchange *exchange, const struct json *pod,
                          const struct engine_pod_logs *options)
{
    const char *words = arena_printf(exchange->arena, "%s on %s\n", options->container,
                                     json_get_string(json_get(pod, "spec"), "nodeName", ""));
    http_begin(exchange, 200, "text/plain", NULL, -1);
    http_write(exchange, words, strlen(words));
    http_end(exchange);
}

static int setup(void **state)
{
    const struct engine_pod_backend backend = {.logs = send_log_line};
    api_setup(state);
    struct api *api = *state;
    engine_set_pod_backend(api->engine, &backend);
    assert_int_equal(api_post(api, PODS, POD_X).status, 201);
    return 0;
}

static void set_status(struct api *api, const char *pod, const char *status)
{
    struct answer answer = api_merge(api, arena_printf(api->arena, PODS "/%s/status", pod),
                                     arena_printf(api->arena, "{\"status\":%s}", status));
    assert_int_equal(answer.status, 200);
}

static void bind(struct api *api, const char *pod)
{
    struct answer answer = api_post(api, arena_printf(api->arena, PODS "/%s/binding", pod),
                                    "{\"target\":{\"kind\":\"Node\",\"name\":\"n\"}}");
    assert_int_equal(answer.status, 201);
}

static void end_with(struct stream *stream, const char *words)
{
    assert_true(stream_ended(stream));
    if (!strstr(stream_body(stream), words))
        fail_msg("no '%s' in: %s", words, stream_body(stream));
    stream_close(stream);
}

static void the_log_comes_with_the_container(void **state)
{
    struct api *api = *state;
    struct stream *stream = stream_open(api, FOLLOW, NULL);
    assert_false(stream_ended(stream));
    bind(api, "x");
    assert_false(stream_ended(stream));
    set_status(api, "x", WAITING("ContainerCreating"));
    set_status(api, "x", WAITING("PodInitializing"));
    assert_false(stream_ended(stream));
    set_status(api, "x", RUNNING);
    end_with(stream, "main on n\n");
}

static void a_pod_with_the_same_prefix_does_not_end_the_wait(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, PODS,
                                    "{\"metadata\":{\"name\":\"x-1\"},\"spec\":{\"nodeName\":\"n\","
                                    "\"containers\":[{\"name\":\"main\",\"image\":\"i\"}]}}");
    assert_int_equal(answer.status, 201);
    struct stream *stream = stream_open(api, FOLLOW, NULL);
    set_status(api, "x-1", RUNNING);
    assert_int_equal(api_delete(api, PODS "/x-1?gracePeriodSeconds=0", NULL).status, 200);
    assert_false(stream_ended(stream));
    stream_close(stream); /* the client disconnects while it waits */
    set_status(api, "x", RUNNING);
}

static void a_permanent_reason_is_reported_at_once(void **state)
{
    struct api *api = *state;
    struct stream *stream = stream_open(api, FOLLOW, NULL);
    set_status(api, "x",
               "{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
               "\"message\":\"0/1 nodes are available: too small.\"}]}");
    end_with(stream, "waiting to start: 0/1 nodes are available: too small.");
    end_with(stream_open(api, FOLLOW, NULL), "waiting to start: 0/1 nodes are available");
    set_status(api, "x", "{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"}]}");
    stream = stream_open(api, FOLLOW, NULL);
    bind(api, "x");
    set_status(api, "x", WAITING("ErrImageNeverPull"));
    end_with(stream, "main on n\n"); /* the node knows why the container waits */
    end_with(stream_open(api, FOLLOW, NULL), "main on n\n");
}

static void only_a_follow_of_the_current_run_waits(void **state)
{
    struct api *api = *state;
    end_with(stream_open(api, PODS "/x/log", NULL), "no node is chosen yet");
    end_with(stream_open(api, FOLLOW "&previous=true", NULL), "no node is chosen yet");
    bind(api, "x");
    set_status(api, "x",
               "{\"containerStatuses\":[{\"name\":\"main\",\"state\":{\"waiting\":{\"reason\":"
               "\"ContainerCreating\"}},\"lastState\":{\"terminated\":{\"exitCode\":1}}}]}");
    end_with(stream_open(api, FOLLOW, NULL), "main on n\n"); /* it has run before */
    set_status(api, "x", "{\"phase\":\"Failed\",\"containerStatuses\":null}");
    end_with(stream_open(api, FOLLOW, NULL), "main on n\n"); /* it will never run */
}

static void the_wait_times_out(void **state)
{
    struct api *api = *state;
    struct stream *stream = stream_open(api, FOLLOW, NULL);
    api_run(api, PATIENCE_MS / 2);
    assert_false(stream_ended(stream));
    api_run(api, PATIENCE_MS / 2);
    end_with(stream, "is waiting to start: no node is chosen yet");
}

static void a_deleted_pod_ends_the_wait(void **state)
{
    struct api *api = *state;
    struct stream *stream = stream_open(api, FOLLOW, NULL);
    assert_int_equal(api_delete(api, PODS "/x?gracePeriodSeconds=0", NULL).status, 200);
    end_with(stream, "pods \\\"x\\\" not found");
}

static void the_server_may_be_freed_during_the_wait(void **state)
{
    struct api *api = *state;
    struct stream *stream = stream_open(api, FOLLOW, NULL);
    api->engine = engine_free(api->engine);
    api_run(api, 100);
    end_with(stream, "try again when it is up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_log_comes_with_the_container, setup, api_teardown),
        cmocka_unit_test_setup_teardown(a_pod_with_the_same_prefix_does_not_end_the_wait, setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(a_permanent_reason_is_reported_at_once, setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(only_a_follow_of_the_current_run_waits, setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(the_wait_times_out, setup, api_teardown),
        cmocka_unit_test_setup_teardown(a_deleted_pod_ends_the_wait, setup, api_teardown),
        cmocka_unit_test_setup_teardown(the_server_may_be_freed_during_the_wait, setup,
                                        api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
