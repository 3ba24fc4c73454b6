/* Follows the log of a container that does not run yet. `kubectl apply -f … && kubectl logs -f …`
 * requests the log before the container runs, which is an error in Kubernetes. This server waits
 * while the container is starting. If a known reason keeps the container from starting (no node
 * fits, no image), the server responds with the reason at once. Otherwise (a slow init container)
 * the server responds with the reason after a timeout, because kubectl prints nothing while it
 * waits. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/handlers.h"
#include "engine/api/open_calls.h"
#include "engine/stored/version_trees.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "kube/pod_container.h"

/* The default of kubectl's --pod-running-timeout. */
enum { TIMEOUT_MS = 20 * 1000 };

/* A request that waits for its container. Allocated in the exchange's arena. */
struct follower {
    struct api_call *call;
    struct engine_pod_logs options;
    const struct json *pod;    /* the newest version of the pod */
    const char *key;           /* the key of the pod in the store */
    struct store_watch *watch; /* reports the changes of the pod */
    struct loop_timer timeout;
    struct open_call link; /* reports that the engine is freed */
};

/* Returns whether a container that waits for this reason starts later without an action of the
 * user. */
static bool is_transient_reason(const char *reason)
{
    return str_eq(reason, "") || str_eq(reason, "ContainerCreating") ||
           str_eq(reason, "PodInitializing");
}

/* Returns whether the container has not run yet and no known reason keeps it from running. */
static bool is_container_starting(const struct json *pod, const char *container)
{
    const struct json *status = kube_pod_container_status(pod, container);
    const struct json *waiting = json_at(status, "state", "waiting", NULL);
    const struct json *scheduled = kube_condition_get(pod, "PodScheduled");
    if (kube_meta_is_deleting(pod) || str_eq(json_get_string(scheduled, "status", ""), "False"))
        return false;
    if (!status)
        return str_eq(json_get_string(json_get(pod, "status"), "phase", "Pending"), "Pending");
    return waiting && is_transient_reason(json_get_string(waiting, "reason", "")) &&
           !json_at(status, "lastState", "terminated", NULL);
}

/* Ends the wait. The caller then sends the response. */
static void log_follow_release(struct follower *follower)
{
    if (follower->watch)
        store_watch_stop(TAKE(follower->watch));
    loop_timer_stop(&follower->timeout);
    open_call_remove(&follower->link);
    follower->call->exchange->on_cancel = NULL;
    follower->call->exchange->context = NULL;
}

static void on_log_follow_canceled(struct http_exchange *exchange)
{
    log_follow_release(exchange->context);
}

/* Responds with the log, or with the reason why there is none. */
static void log_follow_respond(struct follower *follower)
{
    log_follow_release(follower);
    api_log_respond(follower->call, follower->pod, &follower->options);
}

static void on_log_follow_timeout(struct loop_timer *timer)
{
    log_follow_respond(CONTAINER_OF(timer, struct follower, timeout));
}

static void log_follow_reject(struct follower *follower, const struct err *err)
{
    log_follow_release(follower);
    api_respond_error(follower->call, err);
}

static void on_log_follow_ended(struct open_call *link)
{
    struct err err = ERR_INIT;
    err_set(&err, ERR_UNAVAILABLE, "the server is shutting down: try again when it is up");
    log_follow_reject(CONTAINER_OF(link, struct follower, link), &err);
}

static void on_log_follow_event(void *context, const struct store_event *event)
{
    struct follower *follower = context;
    struct api_call *call = follower->call;
    struct err err = ERR_INIT;
    if (!str_eq(event->object->key, follower->key))
        return; /* another pod whose name begins with this pod's name */
    if (event->type == STORE_DELETED) {
        err_set(&err, ERR_NOT_FOUND, "pods \"%s\" not found", call->route.name);
        log_follow_reject(follower, &err);
        return;
    }
    const struct json *pod = version_trees_get(engine_version_trees(call->engine), event->object);
    if (!pod)
        return;
    follower->pod = json_clone(call->arena, pod);
    if (!is_container_starting(pod, follower->options.container))
        log_follow_respond(follower);
}

void api_log_follow(struct api_call *call, const struct json *pod,
                    const struct engine_pod_logs *options)
{
    struct err err = ERR_INIT;
    if (!engine_backend(call->engine)->logs || !is_container_starting(pod, options->container)) {
        api_log_respond(call, pod, options);
        return;
    }
    struct follower *follower = ARENA_NEW(call->arena, struct follower);
    *follower = (struct follower){
        .call = call,
        .options = *options,
        .pod = pod,
        .key =
            stored_key(call->arena, call->route.resource, call->route.namespace_, call->route.name),
    };
    if (store_watch(engine_store(call->engine), follower->key, -1, on_log_follow_event, follower,
                    &follower->watch, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    loop_timer_init(engine_loop(call->engine), &follower->timeout, on_log_follow_timeout);
    loop_timer_start(&follower->timeout, TIMEOUT_MS);
    open_call_add(engine_open_calls(call->engine), &follower->link, call->route.resource->storage,
                  on_log_follow_ended);
    call->exchange->context = follower;
    call->exchange->on_cancel = on_log_follow_canceled;
}
