/* Sends a pod's status and the confirmation of its deletion to the API; see pod/runner_internal.h.
 * A runner has at most one such request in flight. The answer calls pod_runner_work(), which sends
 * the next one. If the server has refused a request, the runner's timer `retry` calls
 * pod_runner_work() after a pause. */
#include "node/pod/runner_internal.h"

#include "node/pod/status.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>

enum { API_RETRY_MS = 1000 }; /* after the server has refused a request */

/* Returns the context for the callback of a request. */
static struct runner_call *begin_call(struct pod_runner *runner)
{
    runner->call = mem_zalloc(sizeof(*runner->call));
    runner->call->runner = runner;
    return runner->call;
}

/* Frees the context of a request. Returns its runner, or NULL if the runner was freed. */
static struct pod_runner *end_call(struct runner_call *call)
{
    struct pod_runner *runner = call->runner;
    if (runner)
        runner->call = NULL;
    free(call);
    return runner;
}

static int64_t report_version_of(const struct json *object)
{
    return strtoll(kube_meta_resource_version(object), NULL, 10);
}

void pod_runner_see(struct pod_runner *runner, struct kube_object *object)
{
    if (object != runner->object &&
        report_version_of(object->json) >= report_version_of(runner_pod(runner))) {
        kube_object_unref(runner->object);
        runner->object = kube_object_ref(object);
    }
}

static void retry_later(struct pod_runner *runner, const struct err *err)
{
    /* ERR_NOT_FOUND and ERR_CONFLICT mean that the pod is deleted, and perhaps that another pod has
     * its name. The informer will report the deletion. */
    if (err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT)
        loop_timer_start(&runner->retry, API_RETRY_MS);
}

static void on_published(void *context, struct json *object, const struct err *err)
{
    struct pod_runner *runner = end_call(context);
    if (!runner)
        return;
    if (err) {
        free(TAKE(runner->published));
        retry_later(runner, err);
        if (runner->forgotten)
            pod_runner_work(runner);
        return;
    }
    struct kube_object *seen = kube_object_new(object);
    pod_runner_see(runner, seen);
    kube_object_unref(seen);
    pod_runner_work(runner);
}

/* Returns whether the pod in the API has this status already. */
static bool is_current(const struct json *pod, const struct json *status)
{
    JSON_EACH (member, status) {
        if (!json_equal(member, json_at(pod, "status", member->name, NULL)))
            return false;
    }
    return true;
}

bool pod_runner_publish(struct pod_runner *runner)
{
    if (!runner->has_state &&
        (kube_meta_is_deleting(runner_pod(runner)) || pod_phase_is_final(runner_pod(runner))))
        return false; /* no supervisor has written a state: the status in the API is kept */
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    bool is_refused = runner->refusal_reason[0] != '\0';
    const struct pod_status_input input = {
        .pod = runner_pod(runner),
        .state = runner->has_state ? &runner->state : NULL,
        .address = runner->address[0] && !is_refused ? runner->address : NULL,
        .host_address = runner->node_address[0] ? runner->node_address : NULL,
        .started_ms = runner->started_ms,
        .now_ms = loop_wall_ms(runner->host->loop),
        .refusal_reason = is_refused ? runner->refusal_reason : NULL,
        .refusal_message = runner->refusal_message,
        .refusal_container = runner->refusal_container[0] ? runner->refusal_container : NULL,
    };
    struct json *status = pod_status_build(arena, &input);
    char *text = json_to_string(arena, status);
    if (str_eq(text, runner->published) || is_current(runner_pod(runner), status))
        return false;
    free(runner->published);
    runner->published = mem_strdup(text);
    struct json *patch = json_object(arena);
    /* Guards against writing to another pod with the same name. */
    json_set_string(arena, json_ensure_object(arena, patch, "metadata"), "uid", runner->uid);
    json_set(arena, patch, "status", status);
    kube_patch(runner->host->client, &KUBE_PODS, runner->object->namespace_, runner->object->name,
               "status", patch, on_published, begin_call(runner));
    return true;
}

static void on_report_deleted(void *context, struct json *object, const struct err *err)
{
    struct pod_runner *runner = end_call(context);
    if (!runner)
        return;
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT) {
        runner->deleted = false;
        retry_later(runner, err);
        if (!runner->forgotten)
            return; /* the timer sends the deletion again */
    }
    pod_runner_work(runner);
}

void pod_runner_confirm_deletion(struct pod_runner *runner)
{
    const struct kube_delete_options options = {.grace_period_seconds = 0, .uid = runner->uid};
    runner->deleted = true;
    kube_delete(runner->host->client, &KUBE_PODS, runner->object->namespace_, runner->object->name,
                &options, on_report_deleted, begin_call(runner));
}
