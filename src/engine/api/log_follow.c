/* Following a log that is about to begin. `kubectl apply -f … && kubectl logs -f …` asks before the
 * container runs; upstream that is an error for everybody who types faster than his pods start.
 * Here the answer waits while the pod is on its way. What keeps a pod for longer (no node fits, no
 * image, an init container that takes its time) is told at once, or when the patience is over:
 * kubectl itself can say nothing meanwhile. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "engine/api/version_trees.h"
#include "engine/watch/watchers.h"
#include "kube/object.h"
#include "kube/pod_container.h"

enum { PATIENCE_MS = 20 * 1000 }; /* kubectl's own for a pod to run (--pod-running-timeout) */

struct follower {
    struct rest *rest;
    struct engine_pod_logs options;
    const struct json *pod; /* as it was last */
    const char *key;
    struct store_watch *watch;
    struct loop_timer patience;
    struct watcher_link link;
};

/* The reasons of a container whose turn comes by itself; with any other, somebody has to act. */
static bool is_passing(const char *reason)
{
    return str_eq(reason, "") || str_eq(reason, "ContainerCreating") ||
           str_eq(reason, "PodInitializing");
}

/* Whether the container has not run yet and nothing is known to keep it from that. */
static bool is_on_its_way(const struct json *pod, const char *container)
{
    const struct json *status = kube_pod_container_status(pod, container);
    const struct json *waiting = json_at(status, "state", "waiting", NULL);
    const struct json *scheduled = kube_condition_get(pod, "PodScheduled");
    if (kube_meta_is_deleting(pod) || str_eq(json_get_string(scheduled, "status", ""), "False"))
        return false;
    if (!status)
        return str_eq(json_get_string(json_get(pod, "status"), "phase", "Pending"), "Pending");
    return waiting && is_passing(json_get_string(waiting, "reason", "")) &&
           !json_at(status, "lastState", "terminated", NULL);
}

static void release(struct follower *follower)
{
    if (follower->watch)
        store_watch_stop(TAKE(follower->watch));
    loop_timer_stop(&follower->patience);
    watcher_link_remove(&follower->link);
    follower->rest->exchange->on_cancel = NULL;
    follower->rest->exchange->context = NULL;
}

static void canceled(struct http_exchange *exchange)
{
    release(exchange->context);
}

/* It need not wait any more, or may not. */
static void tell(struct follower *follower)
{
    release(follower);
    rest_log_tell(follower->rest, follower->pod, &follower->options);
}

static void on_patience_over(struct loop_timer *timer)
{
    tell(CONTAINER_OF(timer, struct follower, patience));
}

static void refuse(struct follower *follower, const struct err *err)
{
    release(follower);
    rest_respond_error(follower->rest, err);
}

static void end_link(struct watcher_link *link)
{
    struct err err = ERR_INIT;
    err_set(&err, ERR_UNAVAILABLE, "the server ends; ask again when it is up");
    refuse(CONTAINER_OF(link, struct follower, link), &err);
}

static void on_event(void *context, const struct store_event *event)
{
    struct follower *follower = context;
    struct rest *rest = follower->rest;
    struct err err = ERR_INIT;
    if (!str_eq(event->object->key, follower->key))
        return; /* of a pod whose name only begins alike */
    if (event->type == STORE_DELETED) {
        err_set(&err, ERR_NOT_FOUND, "pods \"%s\" not found", rest->route.name);
        refuse(follower, &err);
        return;
    }
    const struct json *pod = version_trees_get(engine_version_trees(rest->engine), event->object);
    if (!pod)
        return;
    follower->pod = json_clone(rest->arena, pod);
    if (!is_on_its_way(pod, follower->options.container))
        tell(follower);
}

void rest_log_follow(struct rest *rest, const struct json *pod,
                     const struct engine_pod_logs *options)
{
    struct err err = ERR_INIT;
    if (!engine_backend(rest->engine)->logs || !is_on_its_way(pod, options->container)) {
        rest_log_tell(rest, pod, options);
        return;
    }
    struct follower *follower = ARENA_NEW(rest->arena, struct follower);
    *follower = (struct follower){
        .rest = rest,
        .options = *options,
        .pod = pod,
        .key = registry_key(rest->arena, rest->route.resource, rest->route.namespace_,
                            rest->route.name),
    };
    if (store_watch(engine_store(rest->engine), follower->key, -1, on_event, follower,
                    &follower->watch, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    loop_timer_init(engine_loop(rest->engine), &follower->patience, on_patience_over);
    loop_timer_start(&follower->patience, PATIENCE_MS);
    watcher_link_add(engine_watchers(rest->engine), &follower->link, rest->route.resource->storage,
                     end_link);
    rest->exchange->context = follower;
    rest->exchange->on_cancel = canceled;
}
