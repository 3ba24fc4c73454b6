/* Handles GET pods/NAME/log: checks the request and passes it to the nodes' backend. */
#include "base/moment.h"
#include "base/str.h"
#include "engine/api/handlers.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <string.h>

/* Sets *ret to a query parameter that is a number of at least 0, or to `fallback` if it is missing.
 * Returns -ERR_BAD_REQUEST if it is not such a number. */
static int query_int(struct api_call *call, const char *name, int64_t fallback, int64_t *ret,
                     struct err *err)
{
    const char *text = api_query(call, name);
    *ret = fallback;
    if (str_is_empty(text))
        return 0;
    int result = str_to_int64(text, 0, INT64_MAX / 1000, ret, err);
    return result < 0 ? err_wrap(err, "%s", name) : 0;
}

/* Returns the names of the containers in the list `list` of the pod's spec, separated by spaces. */
static const char *container_names(struct arena *arena, const struct json *pod, const char *list)
{
    const char *names = "";
    JSON_EACH (container, json_at(pod, "spec", list, NULL)) {
        names = arena_printf(arena, "%s%s%s", names, names[0] ? " " : "",
                             json_get_string(container, "name", ""));
    }
    return names;
}

static bool has_container(const struct json *pod, const char *name)
{
    static const char *const lists[] = {"containers", "initContainers", NULL};
    for (size_t i = 0; lists[i]; i++) {
        JSON_EACH (container, json_at(pod, "spec", lists[i], NULL)) {
            if (str_eq(json_get_string(container, "name", ""), name))
                return true;
        }
    }
    return false;
}

/* Sets *ret to the container that the request names, or to the only container of the pod. */
static int choose_container(struct api_call *call, const struct json *pod, const char **ret,
                            struct err *err)
{
    const struct json *containers = json_at(pod, "spec", "containers", NULL);
    const char *requested = api_query(call, "container");
    if (!str_is_empty(requested)) {
        if (!has_container(pod, requested))
            return err_set(err, ERR_BAD_REQUEST, "container %.63s is not valid for pod %s",
                           requested, call->route.name);
        *ret = requested;
        return 0;
    }
    if (json_count(containers) != 1)
        return err_set(err, ERR_BAD_REQUEST,
                       "a container name must be specified for pod %s, choose one of: [%s]",
                       call->route.name, container_names(call->arena, pod, "containers"));
    *ret = json_get_string(json_first(containers), "name", NULL);
    return 0;
}

static int log_read_options(struct api_call *call, const struct json *pod,
                            struct engine_pod_logs *ret, struct err *err)
{
    const char *query = call->exchange->request->query;
    struct engine_pod_logs options = {
        .follow = http_query_flag(query, "follow"),
        .previous = http_query_flag(query, "previous"),
        .timestamps = http_query_flag(query, "timestamps"),
    };
    int64_t since_seconds = -1;
    int result = choose_container(call, pod, &options.container, err);
    if (result == 0)
        result = query_int(call, "tailLines", -1, &options.tail_lines, err);
    if (result == 0)
        result = query_int(call, "limitBytes", -1, &options.limit_bytes, err);
    if (result == 0)
        result = query_int(call, "sinceSeconds", -1, &since_seconds, err);
    if (result < 0)
        return result;
    const char *since_time = api_query(call, "sinceTime");
    if (since_seconds >= 0)
        options.since_ms = loop_wall_ms(engine_loop(call->engine)) - since_seconds * 1000;
    else if (!str_is_empty(since_time)) {
        result = moment_parse(since_time, &options.since_ms, err);
        if (result < 0)
            return err_wrap(err, "sinceTime");
    }
    *ret = options;
    return 0;
}

/* Sets *ret to the backend. Returns -ERR_UNAVAILABLE if no node runs pods, or -ERR_BAD_REQUEST with
 * the scheduler's reason if the pod has no node. */
static int find_log_backend(struct api_call *call, const struct json *pod,
                            const struct engine_pod_logs *options,
                            const struct engine_pod_backend **ret, struct err *err)
{
    const struct engine_pod_backend *backend = engine_backend(call->engine);
    if (!backend->logs)
        return err_set(err, ERR_UNAVAILABLE,
                       "no node of this server runs pods, so pod \"%s\" has no log to read",
                       call->route.name);
    if (str_is_empty(json_get_string(json_get(pod, "spec"), "nodeName", "")))
        return err_set(err, ERR_BAD_REQUEST,
                       "container \"%s\" in pod \"%s\" is waiting to start: %.500s",
                       options->container, call->route.name,
                       json_get_string(kube_condition_get(pod, "PodScheduled"), "message",
                                       "no node is chosen yet"));
    *ret = backend;
    return 0;
}

void api_log_respond(struct api_call *call, const struct json *pod,
                     const struct engine_pod_logs *options)
{
    struct err err = ERR_INIT;
    const struct engine_pod_backend *backend = NULL;
    if (find_log_backend(call, pod, options, &backend, &err) < 0)
        api_respond_error(call, &err);
    else
        backend->logs(backend->context, call->exchange, pod, options);
}

void api_handle_log(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *pod = NULL;
    int64_t revision;
    struct engine_pod_logs options = {0};
    if (api_load(call, call->route.name, &pod, &revision, &err) < 0 ||
        log_read_options(call, pod, &options, &err) < 0)
        api_respond_error(call, &err);
    else if (options.follow && !options.previous)
        api_log_follow(call, pod, &options);
    else
        api_log_respond(call, pod, &options);
}
