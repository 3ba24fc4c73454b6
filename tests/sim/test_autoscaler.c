/* Tests the autoscaler of an elastic PyTorchJob. The server serves autoscalers, or only their older
 * version, or none, or rejects them. The autoscaler is played by one object that is kept as it was
 * sent. All other requests go to our API server. */
#include "sim_cluster.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/engine.h"
#include "kube/client/informer.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/controller/controller.h"
#include "operator/kind/training_job.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/conditions.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MINUTE_MS = 60 * 1000 };

struct story {
    struct sim_cluster cluster;
    struct arena *arena;
    struct http_transport *transport;
    struct training_controller *controller;
    struct kube_informer *jobs, *events;
    const char *version; /* the API version that the server serves; NULL: none */
    bool refuses;
    struct json *present; /* the autoscaler; NULL: none */
    int writes, calls;
};

static void send_answer(struct http_exchange *exchange, int status, const struct json *object,
                        const char *reason)
{
    struct json *body = json_object(exchange->arena);

    if (!object) {
        json_set_string(exchange->arena, body, "kind", "Status");
        json_set_string(exchange->arena, body, "apiVersion", "v1");
        json_set_string(exchange->arena, body, "status", status < 300 ? "Success" : "Failure");
        json_set_string(exchange->arena, body, "reason", reason);
        json_set_string(exchange->arena, body, "message", "so says the stand-in");
        json_set_int(exchange->arena, body, "code", status);
        object = body;
    }
    const char *text = json_to_string(exchange->arena, object);
    http_respond(exchange, status, "application/json", text, strlen(text));
}

static struct json *body_of(struct story *story, const struct http_request *request)
{
    struct json *json;
    struct err err = ERR_INIT;

    if (json_parse(story->arena, request->body, request->body_size, NULL, &json, &err) < 0)
        fail_msg("%s", err.message);
    return json;
}

static void handle_autoscaler(struct http_exchange *exchange, struct story *story)
{
    const struct http_request *request = exchange->request;
    const char *method = request->method;

    story->calls++;
    if (!story->version || !strstr(request->path, story->version)) {
        http_respond(exchange, 404, "text/plain", "404 page not found\n", 19);
    } else if (str_eq(method, "POST") && story->refuses) {
        send_answer(exchange, 403, NULL, "Forbidden");
    } else if (str_eq(method, "POST") && story->present) {
        send_answer(exchange, 409, NULL, "AlreadyExists");
    } else if (str_eq(method, "POST")) {
        story->writes++;
        story->present = body_of(story, request);
        json_set_string(story->arena, json_get(story->present, "metadata"), "uid", "scaler-uid");
        send_answer(exchange, 201, story->present, NULL);
    } else if (!story->present) {
        send_answer(exchange, 404, NULL, "NotFound");
    } else if (str_eq(method, "GET")) {
        send_answer(exchange, 200, story->present, NULL);
    } else if (str_eq(method, "PATCH")) {
        story->writes++;
        json_set(story->arena, story->present, "spec", json_get(body_of(story, request), "spec"));
        send_answer(exchange, 200, story->present, NULL);
    } else {
        assert_string_equal(method, "DELETE");
        story->present = NULL;
        send_answer(exchange, 200, NULL, "");
    }
}

static void handle(struct http_exchange *exchange, void *context)
{
    struct story *story = context;

    if (str_has_prefix(exchange->request->path, "/apis/autoscaling/"))
        handle_autoscaler(exchange, story);
    else
        engine_handle(exchange, story->cluster.engine);
}

static void on_any(void *context, struct kube_object *old, struct kube_object *new_)
{
}

static void start_controller(struct story *story)
{
    story->controller =
        training_controller_new(story->cluster.loop, story->transport, &TRAINING_PYTORCHJOB, NULL);
}

static int setup(void **state)
{
    struct story *story = mem_zalloc(sizeof(*story));

    sim_cluster_init(&story->cluster, 1);
    sim_node_set_failures(story->cluster.node, 0);
    story->arena = arena_new();
    story->version = "/autoscaling/v2/";
    story->transport = http_local_new(story->cluster.loop, handle, story, "simulated");
    story->jobs =
        kube_informer_new(story->cluster.client, &PYTORCHJOB_RESOURCE, NULL, NULL, on_any, story);
    story->events =
        kube_informer_new(story->cluster.client, &KUBE_EVENTS, NULL, NULL, on_any, story);
    start_controller(story);
    *state = story;
    return 0;
}

static int teardown(void **state)
{
    struct story *story = *state;

    training_controller_free(story->controller);
    kube_informer_free(story->jobs);
    kube_informer_free(story->events);
    http_transport_free(story->transport);
    sim_cluster_release(&story->cluster);
    arena_free(story->arena);
    free(story);
    return 0;
}

/* Creates a job whose workers never end, because they restart in place. */
static void submit(struct story *story, const char *policy)
{
    struct json *job = kube_object_make(story->arena, &PYTORCHJOB_RESOURCE, "default", "net");

    json_set(story->arena, job, "spec",
             read_json(story->arena,
                       arena_printf(story->arena,
                                    "{'elasticPolicy': {'minReplicas': 1, 'maxReplicas': 3, "
                                    "'metrics': [{'type': 'Resource'}]}, "
                                    "'pytorchReplicaSpecs': {'Worker': {'restartPolicy': '%s', "
                                    "'template': {'spec': {'containers': [{'name': 'pytorch', "
                                    "'image': 'simulated'}]}}}}}",
                                    policy)));
    kube_create(story->cluster.client, &PYTORCHJOB_RESOURCE, "default", job, sim_must_succeed,
                NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
}

static void edit(struct story *story, const char *patch)
{
    kube_patch(story->cluster.client, &PYTORCHJOB_RESOURCE, "default", "net", NULL,
               read_json(story->arena, patch), sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
}

static const struct json *status_of(struct story *story)
{
    return json_get(kube_informer_get(story->jobs, "default", "net")->json, "status");
}

/* Returns the number of events with this reason. */
static int64_t count_events(struct story *story, const char *reason)
{
    struct kube_object *event;
    int64_t times = 0;

    for (size_t i = 0; (event = kube_informer_next(story->events, NULL, &i));) {
        if (str_eq(json_get_string(event->json, "reason", ""), reason))
            times += json_get_int(event->json, "count", 1);
    }
    return times;
}

static void test_autoscaler_follows_the_job(void **state)
{
    struct story *story = *state;

    submit(story, "Always");
    assert_non_null(story->present);
    assert_string_equal(json_get_string(story->present, "apiVersion", ""), "autoscaling/v2");
    assert_int_equal(story->writes, 1);
    assert_int_equal(count_events(story, "SuccessfulCreateAutoscaler"), 1);

    /* Changes of the job that do not affect the autoscaler cause no call. */
    edit(story, "{'spec': {'pytorchReplicaSpecs': {'Worker': {'replicas': 2}}}}");
    assert_int_equal(story->calls, 1);

    edit(story, "{'spec': {'elasticPolicy': {'maxReplicas': 5}}}");
    assert_int_equal(story->writes, 2);
    assert_int_equal(json_get_int(json_get(story->present, "spec"), "maxReplicas", 0), 5);

    /* Another operator finds the autoscaler unchanged and writes nothing. */
    training_controller_free(story->controller);
    start_controller(story);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story->writes, 2);

    edit(story, "{'spec': {'runPolicy': {'suspend': true}}}");
    assert_null(story->present);
    edit(story, "{'spec': {'runPolicy': {'suspend': false}}}");
    assert_non_null(story->present);
    edit(story, "{'spec': {'elasticPolicy': {'metrics': null}}}");
    assert_null(story->present);
    assert_true(training_condition_is_true(status_of(story), TRAINING_RUNNING));
}

static void test_finished_job_deletes_its_autoscaler(void **state)
{
    struct story *story = *state;

    submit(story, "OnFailure");
    assert_true(training_condition_is_true(status_of(story), TRAINING_SUCCEEDED));
    assert_int_equal(story->writes, 1);
    assert_null(story->present);
    assert_int_equal(count_events(story, "SuccessfulDeleteAutoscaler"), 1);
}

static void test_older_api_version_is_used(void **state)
{
    struct story *story = *state;

    story->version = "/autoscaling/v2beta2/";
    submit(story, "Always");
    assert_string_equal(json_get_string(story->present, "apiVersion", ""), "autoscaling/v2beta2");
    edit(story, "{'spec': {'runPolicy': {'suspend': true}}}");
    assert_null(story->present);
}

/* The job runs without an autoscaler, and one event says why. */
static void test_missing_api_is_reported_once(void **state)
{
    struct story *story = *state;

    story->version = NULL;
    submit(story, "Always");
    assert_true(training_condition_is_true(status_of(story), TRAINING_RUNNING));
    edit(story, "{'spec': {'pytorchReplicaSpecs': {'Worker': {'replicas': 2}}}}");
    assert_int_equal(count_events(story, "AutoscalersMissing"), 1);
    assert_int_equal(story->calls, 2);
}

/* The rejection may end, for example by a new role. So the operator tries again. */
static void test_rejected_autoscaler_is_retried(void **state)
{
    struct story *story = *state;

    story->refuses = true;
    submit(story, "Always");
    assert_true(training_condition_is_true(status_of(story), TRAINING_RUNNING));
    assert_null(story->present);
    assert_int_equal(count_events(story, "FailedAutoscaler"), 1);
    story->refuses = false;
    edit(story, "{'metadata': {'labels': {'a': 'b'}}}");
    assert_non_null(story->present);
    assert_int_equal(count_events(story, "FailedAutoscaler"), 1);
}

static void test_autoscaler_of_another_owner_is_kept(void **state)
{
    struct story *story = *state;

    story->present =
        read_json(story->arena, "{'metadata': {'name': 'net', 'uid': 'theirs'}, 'spec': {}}");
    submit(story, "Always");
    assert_int_equal(count_events(story, "FailedAutoscaler"), 1);
    edit(story, "{'spec': {'runPolicy': {'suspend': true}}}");
    assert_non_null(story->present);
    assert_int_equal(story->writes, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_autoscaler_follows_the_job, setup, teardown),
        cmocka_unit_test_setup_teardown(test_finished_job_deletes_its_autoscaler, setup, teardown),
        cmocka_unit_test_setup_teardown(test_older_api_version_is_used, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_api_is_reported_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rejected_autoscaler_is_retried, setup, teardown),
        cmocka_unit_test_setup_teardown(test_autoscaler_of_another_owner_is_kept, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
