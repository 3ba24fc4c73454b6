/* GET and POST of pods/NAME/exec and pods/NAME/attach: checks the request, upgrades the connection,
 * and passes it to remote_spdy.c or remote_websocket.c. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/call.h"
#include "engine/stream/handlers.h"
#include "engine/stream/remote_session.h"
#include "kube/pod_container.h"
#include "net/http/websocket_handshake.h"

static const char SPDY[] = "SPDY/3.1", OFFER[] = "X-Stream-Protocol-Version";

/* The protocols, newest first. The server uses the first protocol in this list that the client
 * offers and that runs over the transport of the client (WebSocket or SPDY). */
static const struct protocol {
    const char *name;
    bool websocket, spdy;
    bool plain_errors; /* the error channel has a sentence instead of a Status */
    bool resizes;      /* the client can send the size of its terminal */
    struct remote_websocket_variant variant;
} PROTOCOLS[] = {
    {.name = "v5.channel.k8s.io", .websocket = true, .resizes = true, .variant.half_closes = true},
    {.name = "v4.channel.k8s.io", .websocket = true, .spdy = true, .resizes = true},
    {.name = "v4.base64.channel.k8s.io",
     .websocket = true,
     .resizes = true,
     .variant.base64 = true},
    {.name = "v3.channel.k8s.io", .spdy = true, .plain_errors = true, .resizes = true},
    {.name = "v2.channel.k8s.io", .spdy = true, .plain_errors = true},
    {.name = "base64.channel.k8s.io",
     .websocket = true,
     .plain_errors = true,
     .variant.base64 = true},
    {.name = "channel.k8s.io", .websocket = true, .spdy = true, .plain_errors = true},
};

static int choose_protocol(const struct http_request *request, const struct protocol **ret,
                           struct err *err)
{
    const struct http_header *headers = request->headers;
    bool websocket = websocket_is_requested(request);
    const char *header = websocket ? "Sec-WebSocket-Protocol" : OFFER;
    if (!websocket && (!http_header_has_word(headers, "Connection", "Upgrade") ||
                       !http_header_has_word(headers, "Upgrade", SPDY)))
        return err_set(err, ERR_BAD_REQUEST,
                       "unable to upgrade: exec and attach need the headers 'Connection: Upgrade' "
                       "and 'Upgrade: %s' or 'Upgrade: websocket'",
                       SPDY);
    for (size_t i = 0; i < ARRAY_SIZE(PROTOCOLS); i++) {
        const struct protocol *protocol = &PROTOCOLS[i];
        bool offered = http_header_has_word(headers, header, protocol->name) ||
                       /* A client that offers no protocol uses the oldest. */
                       (!http_header_get(headers, header) && i == ARRAY_SIZE(PROTOCOLS) - 1);
        if (offered && (websocket ? protocol->websocket : protocol->spdy)) {
            *ret = protocol;
            return websocket ? websocket_check(request, protocol->name, err) : 0;
        }
    }
    return err_set(err, ERR_FORBIDDEN,
                   "unable to upgrade: unable to negotiate protocol: client supports [%.100s], "
                   "server accepts [v5.channel.k8s.io v4.channel.k8s.io v4.base64.channel.k8s.io "
                   "v3.channel.k8s.io v2.channel.k8s.io base64.channel.k8s.io channel.k8s.io]",
                   http_header_get(headers, header) ? http_header_get(headers, header) : "");
}

static const struct json *exec_find_container(const struct json *pod, const char *list,
                                              const char *name)
{
    JSON_EACH (container, json_at(pod, "spec", list, NULL)) {
        if (!name || str_eq(json_get_string(container, "name", ""), name))
            return container;
    }
    return NULL;
}

/* Chooses the container that the request names, or the first container if it names none. */
static int choose_container(struct api_call *call, const struct json *pod,
                            const struct json **ret_container, struct err *err)
{
    const char *requested = api_query(call, "container");
    if (str_is_empty(requested))
        requested = NULL;
    *ret_container = exec_find_container(pod, "containers", requested);
    if (!*ret_container && requested)
        *ret_container = exec_find_container(pod, "initContainers", requested);
    return *ret_container ? 0
                          : err_set(err, ERR_BAD_REQUEST, "container %.63s is not valid for pod %s",
                                    requested ? requested : "", call->route.name);
}

static int exec_check_pod(struct api_call *call, const struct json *pod, const char *container,
                          struct err *err)
{
    const char *phase = json_at(pod, "status", "phase", NULL)
                            ? json_get_string(json_get(pod, "status"), "phase", "")
                            : "Pending";
    if (!engine_backend(call->engine)->run)
        return err_set(err, ERR_UNAVAILABLE,
                       "no node of this server runs pods, so nothing can be run in pod \"%s\"",
                       call->route.name);
    if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed"))
        return err_set(err, ERR_INTERNAL,
                       "cannot exec into a container in a completed pod; current phase is %s",
                       phase);
    if (str_is_empty(json_get_string(json_get(pod, "spec"), "nodeName", "")))
        return err_set(err, ERR_BAD_REQUEST, "pod %s does not have a host assigned",
                       call->route.name);
    if (json_at(kube_pod_container_status(pod, container), "state", "running", NULL))
        return 0;
    return err_set(err, ERR_INTERNAL,
                   "unable to upgrade connection: container not found (\"%s\"): it is not running",
                   container);
}

static int read_command(struct api_call *call, const struct json *container, bool attach,
                        struct engine_pod_command *ret, struct err *err)
{
    const char *query = call->exchange->request->query;
    *ret = (struct engine_pod_command){
        .container = json_get_string(container, "name", ""),
        .in = http_query_flag(query, "stdin"),
        .out = http_query_flag(query, "stdout"),
        .err = http_query_flag(query, "stderr"),
        .terminal = http_query_flag(query, "tty"),
    };
    if (!ret->in && !ret->out && !ret->err)
        return err_set(err, ERR_BAD_REQUEST,
                       "you must specify at least 1 of stdin, stdout, stderr");
    if (ret->terminal)
        ret->err = false; /* a terminal has no separate error stream */
    if (attach) {
        if (ret->terminal && !json_get_bool(container, "tty", false))
            return err_set(err, ERR_BAD_REQUEST,
                           "unable to attach with a terminal: container %s has none; set tty: true "
                           "in its spec",
                           ret->container);
        ret->in = ret->in && json_get_bool(container, "stdin", false);
        return 0;
    }
    size_t count = 0;
    while (http_query_get_nth(call->arena, query, "command", count))
        count++;
    if (count == 0)
        return err_set(err, ERR_BAD_REQUEST, "you must specify at least one command");
    const char **words = arena_zalloc(call->arena, (count + 1) * sizeof(*words));
    for (size_t i = 0; i < count; i++)
        words[i] = http_query_get_nth(call->arena, query, "command", i);
    ret->arguments = words;
    return 0;
}

static int exec_upgrade(struct api_call *call, const struct protocol *protocol, struct stream **ret,
                        struct err *err)
{
    const struct http_header chosen = {.name = OFFER, .value = protocol->name};
    if (!websocket_is_requested(call->exchange->request))
        return http_upgrade(call->exchange, SPDY, &chosen, ret, err);
    return websocket_upgrade(call->exchange, protocol->name, ret, err);
}

void exec_handle(struct api_call *call)
{
    struct err err = ERR_INIT;
    const bool attach = call->route.sub == SUB_ATTACH;
    struct json *pod = NULL;
    const struct json *container = NULL;
    int64_t revision;
    const struct protocol *protocol = NULL;
    struct engine_pod_command command;
    struct stream *stream = NULL;
    if (api_load(call, call->route.name, &pod, &revision, &err) < 0 ||
        choose_container(call, pod, &container, &err) < 0 ||
        read_command(call, container, attach, &command, &err) < 0 ||
        exec_check_pod(call, pod, command.container, &err) < 0 ||
        choose_protocol(call->exchange->request, &protocol, &err) < 0 ||
        exec_upgrade(call, protocol, &stream, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    const struct remote_request request = {
        .pod = pod, .command = command, .plain_errors = protocol->plain_errors};
    if (websocket_is_requested(call->exchange->request))
        remote_websocket_new(call->engine, stream, &request, &protocol->variant);
    else
        remote_spdy_new(call->engine, stream, &request, protocol->resizes);
}
