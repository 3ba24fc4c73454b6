/* Handles all methods on pods/NAME/proxy, services/NAME/proxy and nodes/NAME/proxy: finds the
 * target, sends it the request, and streams the response to the client. The HTTP server has read
 * the whole body of the request before it calls this handler, and limits the size of the body. The
 * proxy connects to the pod as `kubectl port-forward` does, with connect() of the backend
 * (engine.h), so it also reaches servers that listen only on the pod's localhost. */
#include "engine/stream/http_proxy.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/api/call.h"
#include "engine/api/open_calls.h"
#include "engine/stream/handlers.h"
#include "kube/object.h"
#include "net/stream/stream.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Above this many bytes that the client has not read, reading from the pod pauses. */
    TO_CLIENT_HIGH = 256 * 1024,
    REQUEST_MAX = 16 * 1024 * 1024,
};

struct target {
    const struct json *pod;
    int port;
};

struct http_proxy {
    struct http_exchange *exchange; /* NULL: the proxy does not use the exchange any more */
    struct list_head *open_calls;
    struct open_call link;
    struct engine_pod_backend backend;
    void *connecting;
    struct stream *stream; /* to the pod; NULL: not connected yet, closed, or owned by the tunnel */
    bool closing;          /* stream_close() was called */
    struct buf request;
    const char *prefix; /* the path up to ".../proxy", in the exchange's arena */
    bool wants_upgrade;
    struct http_proxy_answer answer;
};

/* ---- The end --------------------------------------------------------------------------------- */

static void http_proxy_free_if_done(struct http_proxy *self)
{
    if (self->exchange || self->connecting || self->stream)
        return;
    http_proxy_answer_release(&self->answer);
    buf_release(&self->request);
    free(self);
}

/* Detaches the proxy from the exchange, which calls no function of the proxy after this. The caller
 * may still end or abort the response. */
static void leave_exchange(struct http_proxy *self)
{
    self->exchange->on_cancel = NULL;
    self->exchange->on_drain = NULL;
    self->exchange = NULL;
    open_call_remove(&self->link);
}

static void http_proxy_close_stream(struct http_proxy *self)
{
    if (self->connecting)
        self->backend.connect_cancel(TAKE(self->connecting));
    if (self->stream && !self->closing) {
        self->closing = true;
        stream_close(self->stream);
    }
}

/* Responds with Kubernetes' error message, or aborts the connection if the response has begun. */
static void fail_exchange(struct http_proxy *self, const struct err *cause)
{
    struct http_exchange *exchange = self->exchange;
    struct err err = ERR_INIT;
    if (!exchange)
        return;
    leave_exchange(self);
    if (exchange->begun) {
        http_abort(exchange);
        return;
    }
    err_set(&err, ERR_UNAVAILABLE, "error trying to reach service: %s", cause->message);
    engine_respond_error(exchange, &err);
}

static void on_http_proxy_cancel(struct http_exchange *exchange)
{
    struct http_proxy *self = exchange->context;
    leave_exchange(self);
    http_proxy_close_stream(self);
    http_proxy_free_if_done(self);
}

static void on_http_proxy_server_end(struct open_call *link)
{
    struct http_proxy *self = CONTAINER_OF(link, struct http_proxy, link);
    struct err err = ERR_INIT;
    err_set(&err, ERR_CANCELED, "the server is shutting down");
    fail_exchange(self, &err);
    http_proxy_close_stream(self);
    http_proxy_free_if_done(self);
}

/* ---- The response ---------------------------------------------------------------------------- */

static void on_http_proxy_head(void *context, int status, const struct http_header *headers,
                               int64_t length)
{
    struct http_proxy *self = context;
    if (!self->exchange || status == 101)
        return;
    http_begin(self->exchange, status, NULL,
               http_proxy_answer_headers(self->exchange->arena, headers, self->prefix), length);
}

static void on_http_proxy_body(void *context, const char *data, size_t size)
{
    const struct http_proxy *self = context;
    if (self->exchange)
        http_write(self->exchange, data, size);
}

static const struct http_proxy_answer_handler ANSWER_HANDLER = {
    .on_head = on_http_proxy_head,
    .on_body = on_http_proxy_body,
};

static void on_http_proxy_drain(struct http_exchange *exchange)
{
    const struct http_proxy *self = exchange->context;
    if (self->stream && !self->closing)
        stream_pause(self->stream, false);
}

/* The pod has switched the protocol. Switches the protocol of the client's connection, too. */
static void switch_protocol(struct http_proxy *self, const char *early, size_t early_size)
{
    struct http_exchange *exchange = self->exchange;
    const struct http_header *headers = self->answer.headers;
    const char *protocol = http_header_get(headers, "Upgrade");
    struct stream *client;
    struct err err = ERR_INIT;
    if (!self->wants_upgrade) {
        err_set(&err, ERR_BAD_REQUEST,
                "the pod switched protocols, but the request has no Upgrade header");
    } else if (!protocol) {
        err_set(&err, ERR_BAD_REQUEST,
                "the pod switched protocols, but its response has no Upgrade header");
    } else if (http_upgrade(exchange, protocol,
                            http_proxy_answer_headers(exchange->arena, headers, self->prefix),
                            &client, &err) == 0) {
        leave_exchange(self);
        http_proxy_tunnel_new(self->open_calls, client, TAKE(self->stream), early, early_size);
        return;
    }
    fail_exchange(self, &err);
    http_proxy_close_stream(self);
}

static void on_answered(struct http_proxy *self)
{
    struct http_exchange *exchange = self->exchange;
    leave_exchange(self);
    http_end(exchange);
    http_proxy_close_stream(self);
}

/* ---- The pod's side -------------------------------------------------------------------------- */

static void on_http_proxy_open(void *context)
{
    struct http_proxy *self = context;
    stream_write(self->stream, self->request.data, self->request.size);
    buf_release(&self->request);
}

static void on_http_proxy_data(void *context, const char *data, size_t size)
{
    struct http_proxy *self = context;
    struct err err = ERR_INIT;
    size_t used;
    if (!self->exchange)
        return;
    if (http_proxy_answer_feed(&self->answer, data, size, &used, &err) < 0) {
        fail_exchange(self, &err);
        http_proxy_close_stream(self);
    } else if (self->answer.switched) {
        switch_protocol(self, data + used, size - used);
    } else if (self->answer.whole) {
        on_answered(self);
    } else if (http_pending(self->exchange) > TO_CLIENT_HIGH) {
        stream_pause(self->stream, true);
    }
    http_proxy_free_if_done(self);
}

static void on_http_proxy_sent(void *context)
{
}

static void on_http_proxy_end(void *context, const struct err *broken)
{
    struct http_proxy *self = context;
    struct err err = ERR_INIT;
    if (!self->exchange)
        return;
    if (broken)
        fail_exchange(self, broken);
    else if (http_proxy_answer_end(&self->answer, &err) < 0)
        fail_exchange(self, &err);
    else
        on_answered(self);
    http_proxy_close_stream(self);
}

static void on_http_proxy_closed(void *context)
{
    struct http_proxy *self = context;
    struct err err = ERR_INIT;
    self->stream = NULL;
    err_set(&err, ERR_UNAVAILABLE, "the connection to the pod was closed");
    fail_exchange(self, &err);
    http_proxy_free_if_done(self);
}

static const struct stream_handler STREAM_HANDLER = {
    .on_open = on_http_proxy_open,
    .on_data = on_http_proxy_data,
    .on_sent = on_http_proxy_sent,
    .on_end = on_http_proxy_end,
    .on_closed = on_http_proxy_closed,
};

static void on_http_proxy_connected(void *context, struct stream *stream, const struct err *err)
{
    struct http_proxy *self = context;
    self->connecting = NULL;
    if (stream) {
        self->stream = stream;
        stream_start(stream, &STREAM_HANDLER, self);
        return;
    }
    fail_exchange(self, err);
    http_proxy_free_if_done(self);
}

/* ---- The target ------------------------------------------------------------------------------ */

static int http_proxy_load(struct api_call *call, const struct kube_kind *kind, const char *name,
                           struct json **ret, struct err *err)
{
    const char *key = stored_key(call->arena, kind, call->route.namespace_, name);
    struct store_object *stored = store_get_pending(engine_store(call->engine), key);
    if (!stored)
        return err_set(err, ERR_NOT_FOUND, "%s \"%.253s\" not found", kind->id.plural, name);
    int result = stored_read(call->arena, stored, ret, err);
    store_object_unref(stored);
    return result;
}

static int find_pod(struct api_call *call, struct target *ret, struct err *err)
{
    struct http_proxy_name name;
    struct json *pod;
    int result = http_proxy_name_parse(call->arena, call->route.name, "pod", &name, err);
    if (result == 0)
        result = http_proxy_load(call, &KUBE_POD_KIND, name.name, &pod, err);
    if (result == 0)
        result = http_proxy_pod_port(pod, name.port, &ret->port, err);
    if (result == 0)
        ret->pod = pod;
    return result;
}

static int find_pod_of_service(struct api_call *call, struct target *ret, struct err *err)
{
    struct http_proxy_name name;
    struct json *service, *endpoints, *pod;
    const struct json *address = NULL;
    const char *port;
    uint64_t seed;
    rand_secure(&seed, sizeof(seed));
    int result = http_proxy_name_parse(call->arena, call->route.name, "service", &name, err);
    if (result == 0)
        result = http_proxy_load(call, &KUBE_SERVICE_KIND, name.name, &service, err);
    if (result == 0)
        result = http_proxy_service_port(service, name.port, &port, err);
    if (result == 0)
        result = http_proxy_load(call, &KUBE_ENDPOINTS_KIND, name.name, &endpoints, err);
    if (result == 0)
        result = http_proxy_pick_endpoint(json_get(endpoints, "subsets"), name.name, port, seed,
                                          &address, &ret->port, err);
    if (result < 0)
        return result;
    const struct json *reference = json_get(address, "targetRef");
    if (!str_eq(json_get_string(reference, "kind", ""), "Pod"))
        return err_set(err, ERR_UNAVAILABLE,
                       "endpoint %.63s of service \"%.253s\" is not a pod, and the proxy reaches "
                       "only pods",
                       json_get_string(address, "ip", ""), name.name);
    result =
        http_proxy_load(call, &KUBE_POD_KIND, json_get_string(reference, "name", ""), &pod, err);
    if (result == 0)
        ret->pod = pod;
    return result;
}

static int http_proxy_check_pod(struct api_call *call, const struct json *pod, struct err *err)
{
    if (!engine_backend(call->engine)->connect)
        return err_set(err, ERR_UNAVAILABLE,
                       "no node of this server runs pods, so the proxy cannot reach any");
    if (str_is_empty(json_get_string(json_get(pod, "status"), "podIP", "")))
        return err_set(err, ERR_BAD_REQUEST,
                       "address not allowed: pod \"%.253s\" has no IP address yet",
                       kube_meta_name(pod));
    return 0;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void list_pods_of_node(struct api_call *call, struct buf *ret)
{
    struct store_object **stored;
    struct json *list = json_object(call->arena);
    const char *prefix = stored_key(call->arena, &KUBE_POD_KIND, "", NULL);
    size_t count = store_list(engine_store(call->engine), prefix, &stored);
    json_set_string(call->arena, list, "kind", "PodList");
    json_set_string(call->arena, list, "apiVersion", "v1");
    json_ensure_object(call->arena, list, "metadata");
    struct json *items = json_ensure_array(call->arena, list, "items");
    for (size_t i = 0; i < count; i++) {
        struct json *pod;
        if (api_read_stored(call, call->arena, stored[i], &pod) &&
            str_eq(json_get_string(json_get(pod, "spec"), "nodeName", ""), call->route.name))
            json_append(items, pod);
        store_object_unref(stored[i]);
    }
    free(stored);
    json_write(list, ret);
}

/* A node is a part of this server and has no kubelet. This function responds to the most common
 * requests to a kubelet. */
static void answer_for_node(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *node;
    _cleanup_buf_ struct buf text;
    buf_init(&text, SIZE_MAX);
    if (http_proxy_load(call, &KUBE_NODE_KIND, call->route.name, &node, &err) < 0) {
        api_respond_error(call, &err);
    } else if (call->route.verb == VERB_GET && str_eq(call->route.rest, "/healthz")) {
        http_respond(call->exchange, 200, "text/plain; charset=utf-8", "ok", 2);
    } else if (call->route.verb == VERB_GET && str_eq(call->route.rest, "/pods")) {
        list_pods_of_node(call, &text);
        http_respond(call->exchange, 200, "application/json", text.data, text.size);
    } else {
        err_set(&err, ERR_NOT_FOUND,
                "nodes of this server have no kubelet: they serve only GET /healthz and GET /pods");
        api_respond_error(call, &err);
    }
}

/* ---- The beginning --------------------------------------------------------------------------- */

/* Redirects ".../proxy" to ".../proxy/", because relative links in a page need the slash.
 * Kubernetes does the same. */
static bool redirect_to_slash(struct api_call *call)
{
    const struct http_request *request = call->exchange->request;
    bool reads = str_eq(request->method, "GET") || str_eq(request->method, "HEAD");
    struct http_header *headers = NULL;
    if (call->route.rest[0] || !reads || http_proxy_upgrade_of(request))
        return false;
    http_header_add(call->arena, &headers, "Location",
                    arena_printf(call->arena, "%s/%s%s",
                                 http_path_encode(call->arena, request->path),
                                 request->query[0] ? "?" : "", request->query));
    http_begin(call->exchange, 301, NULL, headers, 0);
    http_end(call->exchange);
    return true;
}

static void http_proxy_start(struct api_call *call, const struct target *target)
{
    struct http_proxy *self = mem_zalloc(sizeof(*self));
    const struct http_request *request = call->exchange->request;
    const char *path = call->route.rest[0] ? call->route.rest : "/";
    const char *host =
        arena_printf(call->arena, "%s:%d",
                     json_get_string(json_get(target->pod, "status"), "podIP", ""), target->port);
    size_t prefix_size = strlen(request->path) - strlen(call->route.rest);
    self->exchange = call->exchange;
    self->open_calls = engine_open_calls(call->engine);
    self->backend = *engine_backend(call->engine);
    self->prefix =
        http_path_encode(call->arena, arena_strndup(call->arena, request->path, prefix_size));
    self->wants_upgrade = http_proxy_upgrade_of(request) != NULL;
    buf_init(&self->request, REQUEST_MAX);
    http_proxy_write_request(call->arena, request, path, host, &self->request);
    http_proxy_answer_init(&self->answer, str_eq(request->method, "HEAD"), &ANSWER_HANDLER, self);
    call->exchange->context = self;
    call->exchange->on_cancel = on_http_proxy_cancel;
    call->exchange->on_drain = on_http_proxy_drain;
    open_call_add(self->open_calls, &self->link, "pods", on_http_proxy_server_end);
    self->connecting = self->backend.connect(self->backend.context, target->pod, target->port,
                                             on_http_proxy_connected, self);
}

void http_proxy_handle(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct target target = {0};
    const char *plural = call->route.resource->id.plural;
    if (str_eq(plural, "nodes")) {
        answer_for_node(call);
        return;
    }
    if ((str_eq(plural, "pods") ? find_pod : find_pod_of_service)(call, &target, &err) < 0 ||
        http_proxy_check_pod(call, target.pod, &err) < 0)
        api_respond_error(call, &err);
    else if (!redirect_to_slash(call))
        http_proxy_start(call, &target);
}
