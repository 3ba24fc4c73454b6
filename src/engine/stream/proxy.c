/* Any method on pods/NAME/proxy, services/NAME/proxy and nodes/NAME/proxy: the target is found
 * here, the request sent there, and its answer passed on as it comes. A request's body is whole
 * before it gets here, and no larger than any body the server takes.
 *
 * The pod is asked at its localhost, as `kubectl port-forward` does: there is no way from the
 * server into the pod network but this, and it is there in every mode. */
#include "engine/stream/proxy.h"

#include "base/mem.h"
#include "base/rand.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "engine/watch/watchers.h"
#include "kube/object.h"
#include "net/stream/stream.h"

#include <stdlib.h>
#include <string.h>

enum {
    TO_CLIENT_HIGH = 256 * 1024, /* not taken by the client: the pod waits */
    REQUEST_MAX = 16 * 1024 * 1024,
};

struct target {
    const struct json *pod;
    int port;
};

struct rest_proxy {
    struct http_exchange *exchange; /* NULL: answered, or the client is gone */
    struct watcher_link *watchers;
    struct watcher_link link;
    struct engine_pod_backend backend;
    void *connecting;
    struct stream *stream; /* to the pod; NULL: none yet, no more, or the tunnel's */
    bool closing;
    struct buf request;
    const char *prefix; /* of the exchange's arena */
    bool wants_upgrade;
    struct rest_proxy_answer answer;
};

/* ---- the end --------------------------------------------------------------------------------- */

static void free_if_done(struct rest_proxy *self)
{
    if (self->exchange || self->connecting || self->stream)
        return;
    rest_proxy_answer_release(&self->answer);
    buf_release(&self->request);
    free(self);
}

/* The client has its answer, or is gone. */
static void leave_exchange(struct rest_proxy *self)
{
    self->exchange->on_cancel = NULL;
    self->exchange->on_drain = NULL;
    self->exchange = NULL;
    watcher_link_remove(&self->link);
}

static void close_stream(struct rest_proxy *self)
{
    if (self->connecting)
        self->backend.connect_cancel(TAKE(self->connecting));
    if (self->stream && !self->closing) {
        self->closing = true;
        stream_close(self->stream);
    }
}

/* As Kubernetes says it, or by a connection that breaks where the answer has begun. */
static void fail_exchange(struct rest_proxy *self, const struct err *cause)
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

static void on_cancel(struct http_exchange *exchange)
{
    struct rest_proxy *self = exchange->context;
    leave_exchange(self);
    close_stream(self);
    free_if_done(self);
}

static void end_link(struct watcher_link *link)
{
    struct rest_proxy *self = CONTAINER_OF(link, struct rest_proxy, link);
    struct err err = ERR_INIT;
    err_set(&err, ERR_CANCELED, "the server ends");
    fail_exchange(self, &err);
    close_stream(self);
    free_if_done(self);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void on_head(void *context, int status, const struct http_header *headers, int64_t length)
{
    struct rest_proxy *self = context;
    if (!self->exchange || status == 101)
        return;
    http_begin(self->exchange, status, NULL,
               rest_proxy_answer_headers(self->exchange->arena, headers, self->prefix), length);
}

static void on_body(void *context, const char *data, size_t size)
{
    const struct rest_proxy *self = context;
    if (self->exchange)
        http_write(self->exchange, data, size);
}

static const struct rest_proxy_answer_handler ANSWER_HANDLER = {
    .on_head = on_head,
    .on_body = on_body,
};

static void on_drain(struct http_exchange *exchange)
{
    const struct rest_proxy *self = exchange->context;
    if (self->stream && !self->closing)
        stream_pause(self->stream, false);
}

/* The pod has changed its protocol: so does the client's connection. */
static void switch_protocol(struct rest_proxy *self, const char *early, size_t early_size)
{
    struct http_exchange *exchange = self->exchange;
    const struct http_header *headers = self->answer.headers;
    const char *protocol = http_header_get(headers, "Upgrade");
    struct stream *client;
    struct err err = ERR_INIT;
    if (!self->wants_upgrade || !protocol) {
        err_set(&err, ERR_BAD_REQUEST, "the pod changed its protocol and was not asked to");
    } else if (http_upgrade(exchange, protocol,
                            rest_proxy_answer_headers(exchange->arena, headers, self->prefix),
                            &client, &err) == 0) {
        leave_exchange(self);
        rest_proxy_tunnel_new(self->watchers, client, TAKE(self->stream), early, early_size);
        return;
    }
    fail_exchange(self, &err);
    close_stream(self);
}

static void on_answered(struct rest_proxy *self)
{
    struct http_exchange *exchange = self->exchange;
    leave_exchange(self);
    http_end(exchange);
    close_stream(self);
}

/* ---- the pod's side -------------------------------------------------------------------------- */

static void on_open(void *context)
{
    struct rest_proxy *self = context;
    stream_write(self->stream, self->request.data, self->request.size);
    buf_release(&self->request);
}

static void on_data(void *context, const char *data, size_t size)
{
    struct rest_proxy *self = context;
    struct err err = ERR_INIT;
    size_t used;
    if (!self->exchange)
        return;
    if (rest_proxy_answer_feed(&self->answer, data, size, &used, &err) < 0) {
        fail_exchange(self, &err);
        close_stream(self);
    } else if (self->answer.switched) {
        switch_protocol(self, data + used, size - used);
    } else if (self->answer.whole) {
        on_answered(self);
    } else if (http_pending(self->exchange) > TO_CLIENT_HIGH) {
        stream_pause(self->stream, true);
    }
    free_if_done(self);
}

static void on_sent(void *context)
{
}

static void on_end(void *context, const struct err *broken)
{
    struct rest_proxy *self = context;
    struct err err = ERR_INIT;
    if (!self->exchange)
        return;
    if (broken)
        fail_exchange(self, broken);
    else if (rest_proxy_answer_end(&self->answer, &err) < 0)
        fail_exchange(self, &err);
    else
        on_answered(self);
    close_stream(self);
}

static void on_closed(void *context)
{
    struct rest_proxy *self = context;
    struct err err = ERR_INIT;
    self->stream = NULL;
    err_set(&err, ERR_UNAVAILABLE, "the connection to the pod was closed");
    fail_exchange(self, &err);
    free_if_done(self);
}

static const struct stream_handler STREAM_HANDLER = {
    .on_open = on_open,
    .on_data = on_data,
    .on_sent = on_sent,
    .on_end = on_end,
    .on_closed = on_closed,
};

static void on_connected(void *context, struct stream *stream, const struct err *err)
{
    struct rest_proxy *self = context;
    self->connecting = NULL;
    if (stream) {
        self->stream = stream;
        stream_start(stream, &STREAM_HANDLER, self);
        return;
    }
    fail_exchange(self, err);
    free_if_done(self);
}

/* ---- the target ------------------------------------------------------------------------------ */

static int load(struct rest *rest, const struct kube_kind *kind, const char *name,
                struct json **ret, struct err *err)
{
    const char *key = registry_key(rest->arena, kind, rest->route.namespace_, name);
    struct store_object *stored = store_get_pending(engine_store(rest->engine), key);
    if (!stored)
        return err_set(err, ERR_NOT_FOUND, "%s \"%.253s\" not found", kind->id.plural, name);
    int result = stored_read(rest->arena, stored, ret, err);
    store_object_unref(stored);
    return result;
}

static int find_pod(struct rest *rest, struct target *ret, struct err *err)
{
    struct rest_proxy_name name;
    struct json *pod;
    int result = rest_proxy_split(rest->arena, rest->route.name, "pod", &name, err);
    if (result == 0)
        result = load(rest, &KUBE_POD_KIND, name.name, &pod, err);
    if (result == 0)
        result = rest_proxy_pod_port(pod, name.port, &ret->port, err);
    if (result == 0)
        ret->pod = pod;
    return result;
}

static int find_behind_service(struct rest *rest, struct target *ret, struct err *err)
{
    struct rest_proxy_name name;
    struct json *service, *endpoints, *pod;
    const struct json *address = NULL;
    const char *port;
    uint64_t seed;
    rand_secure(&seed, sizeof(seed));
    int result = rest_proxy_split(rest->arena, rest->route.name, "service", &name, err);
    if (result == 0)
        result = load(rest, &KUBE_SERVICE_KIND, name.name, &service, err);
    if (result == 0)
        result = rest_proxy_service_port(service, name.port, &port, err);
    if (result == 0)
        result = load(rest, &KUBE_ENDPOINTS_KIND, name.name, &endpoints, err);
    if (result == 0)
        result = rest_proxy_pick(json_get(endpoints, "subsets"), name.name, port, seed, &address,
                                 &ret->port, err);
    if (result < 0)
        return result;
    const struct json *reference = json_get(address, "targetRef");
    if (!str_eq(json_get_string(reference, "kind", ""), "Pod"))
        return err_set(err, ERR_UNAVAILABLE,
                       "endpoint %.63s of service \"%.253s\" is not a pod, and the proxy reaches "
                       "only pods",
                       json_get_string(address, "ip", ""), name.name);
    result = load(rest, &KUBE_POD_KIND, json_get_string(reference, "name", ""), &pod, err);
    if (result == 0)
        ret->pod = pod;
    return result;
}

static int check_pod(struct rest *rest, const struct json *pod, struct err *err)
{
    if (!engine_backend(rest->engine)->connect)
        return err_set(err, ERR_UNAVAILABLE,
                       "no node of this server runs pods, so there is nothing behind the proxy");
    if (str_is_empty(json_get_string(json_get(pod, "status"), "podIP", "")))
        return err_set(err, ERR_BAD_REQUEST, "address not allowed: pod \"%.253s\" has none yet",
                       kube_meta_name(pod));
    return 0;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void list_pods_of_node(struct rest *rest, struct buf *ret)
{
    struct store_object **stored;
    struct json *list = json_object(rest->arena);
    const char *prefix = registry_key(rest->arena, &KUBE_POD_KIND, "", NULL);
    size_t count = store_list(engine_store(rest->engine), prefix, &stored);
    json_set_string(rest->arena, list, "kind", "PodList");
    json_set_string(rest->arena, list, "apiVersion", "v1");
    json_ensure_object(rest->arena, list, "metadata");
    struct json *items = json_ensure_array(rest->arena, list, "items");
    for (size_t i = 0; i < count; i++) {
        struct json *pod;
        if (rest_read_one(rest, rest->arena, stored[i], &pod) &&
            str_eq(json_get_string(json_get(pod, "spec"), "nodeName", ""), rest->route.name))
            json_append(items, pod);
        store_object_unref(stored[i]);
    }
    free(stored);
    json_write(list, ret);
}

/* A node here is a part of the server, and has no kubelet: what users ask one for most is answered
 * from here. */
static void answer_for_node(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *node;
    _cleanup_buf_ struct buf text;
    buf_init(&text, SIZE_MAX);
    if (load(rest, &KUBE_NODE_KIND, rest->route.name, &node, &err) < 0) {
        rest_respond_error(rest, &err);
    } else if (rest->route.verb == VERB_GET && str_eq(rest->route.rest, "/healthz")) {
        http_respond(rest->exchange, 200, "text/plain; charset=utf-8", "ok", 2);
    } else if (rest->route.verb == VERB_GET && str_eq(rest->route.rest, "/pods")) {
        list_pods_of_node(rest, &text);
        http_respond(rest->exchange, 200, "application/json", text.data, text.size);
    } else {
        err_set(&err, ERR_NOT_FOUND,
                "nodes of this server have no kubelet: GET of /healthz and /pods is all there is");
        rest_respond_error(rest, &err);
    }
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* Relative links of a page need the slash; from Kubernetes. */
static bool redirect_to_slash(struct rest *rest)
{
    const struct http_request *request = rest->exchange->request;
    bool reads = str_eq(request->method, "GET") || str_eq(request->method, "HEAD");
    struct http_header *headers = NULL;
    if (rest->route.rest[0] || !reads || rest_proxy_upgrade_of(request))
        return false;
    http_header_add(rest->arena, &headers, "Location",
                    arena_printf(rest->arena, "%s/%s%s",
                                 http_path_encode(rest->arena, request->path),
                                 request->query[0] ? "?" : "", request->query));
    http_begin(rest->exchange, 301, NULL, headers, 0);
    http_end(rest->exchange);
    return true;
}

static void start(struct rest *rest, const struct target *target)
{
    struct rest_proxy *self = mem_zalloc(sizeof(*self));
    const struct http_request *request = rest->exchange->request;
    const char *path = rest->route.rest[0] ? rest->route.rest : "/";
    const char *host =
        arena_printf(rest->arena, "%s:%d",
                     json_get_string(json_get(target->pod, "status"), "podIP", ""), target->port);
    size_t prefix_size = strlen(request->path) - strlen(rest->route.rest);
    self->exchange = rest->exchange;
    self->watchers = engine_watchers(rest->engine);
    self->backend = *engine_backend(rest->engine);
    self->prefix =
        http_path_encode(rest->arena, arena_strndup(rest->arena, request->path, prefix_size));
    self->wants_upgrade = rest_proxy_upgrade_of(request) != NULL;
    buf_init(&self->request, REQUEST_MAX);
    rest_proxy_write_request(rest->arena, request, path, host, &self->request);
    rest_proxy_answer_init(&self->answer, str_eq(request->method, "HEAD"), &ANSWER_HANDLER, self);
    rest->exchange->context = self;
    rest->exchange->on_cancel = on_cancel;
    rest->exchange->on_drain = on_drain;
    watcher_link_add(self->watchers, &self->link, "pods", end_link);
    self->connecting =
        self->backend.connect(self->backend.context, target->pod, target->port, on_connected, self);
}

void rest_proxy(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct target target = {0};
    const char *plural = rest->route.resource->id.plural;
    if (str_eq(plural, "nodes")) {
        answer_for_node(rest);
        return;
    }
    if ((str_eq(plural, "pods") ? find_pod : find_behind_service)(rest, &target, &err) < 0 ||
        check_pod(rest, target.pod, &err) < 0)
        rest_respond_error(rest, &err);
    else if (!redirect_to_slash(rest))
        start(rest, &target);
}
