/* Makes the calls of the client: each sends one request, repeats it after a 429, and reports one
 * answer; see client.h. Watches are in client_watch.c, events in event.c. The `done` of a call runs
 * exactly once, unless the call is cancelled or the client is freed first. It never runs from
 * within the function that started the call. */
#include "kube/client/client.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/client/client_internal.h"
#include "kube/status.h"
#include "net/http/throttle.h"

#include <string.h>

enum {
    CALL_TIMEOUT_MS = 30 * 1000,
    LIST_TIMEOUT_MS = 120 * 1000,
    ANSWER_MAX = 256 << 20, /* bytes of an answer; a list of all objects is the largest */
    RETRIES_MAX = 10,       /* how often a call that is answered with 429 is repeated */
    RETRY_AFTER_MAX_MS = 60 * 1000,
};

struct kube_call {
    struct kube_client *client;
    struct list_link link; /* in kube_client.calls */
    struct http_call *http;
    struct loop_task rejection; /* reports an invalid call, which is not sent */
    struct err rejection_err;
    struct arena *arena;
    struct http_request request; /* in the arena */
    int64_t timeout_ms;
    struct loop_timer retry; /* expires when the request is to be repeated */
    int64_t retry_ms;        /* the Retry-After of a 429 answer; -1: none */
    int retries;             /* how often the request was repeated */
    struct buf body;         /* of the answer */
    int status;              /* HTTP status of the answer */
    const char *what;        /* "GET /api/v1/pods" */
    kube_done *done;
    void *context;
};

struct kube_client *kube_client_new(struct loop *loop, struct http_transport *transport,
                                    const char *agent)
{
    struct kube_client *client = mem_zalloc(sizeof(*client));
    client->loop = loop;
    client->transport = transport;
    client->agent = mem_strdup(agent);
    client->timeout_ms = CALL_TIMEOUT_MS;
    map_init(&client->events);
    hash_key_draw(&client->event_key);
    kube_event_budget_init(&client->event_budget);
    /* In a simulation with virtual time the seed is the same in every run. Otherwise each client
     * has a random seed. */
    uint64_t seed = (uint64_t)loop_wall_ms(loop);
    if (loop_uv(loop))
        rand_secure(&seed, sizeof(seed));
    rand_init(&client->rand, seed);
    return client;
}

void kube_client_set_timeout(struct kube_client *client, int64_t timeout_ms)
{
    client->timeout_ms = timeout_ms;
}

static void client_call_free(struct kube_call *call)
{
    buf_release(&call->body);
    arena_free(call->arena);
    free(call);
}

void kube_call_cancel(struct kube_call *call)
{
    list_remove(&call->link);
    if (call->http)
        http_cancel(call->client->transport, call->http);
    loop_defer_cancel(call->client->loop, &call->rejection);
    loop_timer_stop(&call->retry);
    client_call_free(call);
}

struct kube_client *kube_client_free(struct kube_client *client)
{
    if (!client)
        return NULL;
    LIST_EACH_SAFE (struct kube_call, call, &client->calls, link)
        kube_call_cancel(call);
    kube_client_stop_watches(client);
    kube_client_forget_events(client);
    map_release(&client->events);
    kube_event_budget_release(&client->event_budget);
    free(client->agent);
    free(client);
    return NULL;
}

/* Ends a call. The call is unlinked first, because `done` may free the client. */
static void client_call_finish(struct kube_call *call, struct json *object, const struct err *err)
{
    list_remove(&call->link);
    call->done(call->context, object, err);
    client_call_free(call);
}

static void on_client_head(void *context, int status, const struct http_header *headers)
{
    struct kube_call *call = context;
    call->status = status;
    call->retry_ms = status == 429 ? http_retry_after_ms(headers, RETRY_AFTER_MAX_MS) : -1;
}

static void on_client_data(void *context, const void *data, size_t size)
{
    struct kube_call *call = context;
    buf_append(&call->body, data, size);
}

static int read_answer(struct kube_call *call, struct json **ret, struct err *err)
{
    if (call->body.overflowed)
        return err_set(err, ERR_TOO_LARGE, "%s: the answer is longer than %d bytes", call->what,
                       (int)ANSWER_MAX);
    if (call->status >= 400)
        return kube_status_of_answer(call->status, call->body.data, call->body.size, call->what,
                                     err);
    /* A list is limited only by ANSWER_MAX, and each JSON value takes at least two bytes. */
    static const struct json_limits limits = {.nodes = ANSWER_MAX / 2};
    if (json_parse(call->arena, call->body.data, call->body.size, &limits, ret, err) < 0) {
        err->code = ERR_INTERNAL; /* the server is at fault, not the caller */
        return err_wrap(err, "%s: the answer is not JSON", call->what);
    }
    return 0;
}

/* Repeats a call that the server answered with 429, after the time in Retry-After plus a random
 * part, so that clients that were rejected together do not retry together. This is safe, because
 * the server has not processed the call. Returns false if the call is not repeated. */
static bool retry_later(struct kube_call *call)
{
    if (call->retry_ms < 0 || call->retries == RETRIES_MAX)
        return false;
    int64_t spread_ms = call->retry_ms / 4 + 50;
    call->retries++;
    loop_timer_start(&call->retry, call->retry_ms + (int64_t)rand_below(&call->client->rand,
                                                                        (uint64_t)spread_ms));
    return true;
}

static void on_client_end(void *context, const struct err *transport_err)
{
    struct kube_call *call = context;
    call->http = NULL;
    if (!transport_err && retry_later(call))
        return;
    struct json *object = NULL;
    struct err err = ERR_INIT;
    if (transport_err)
        err = *transport_err;
    else
        read_answer(call, &object, &err);
    client_call_finish(call, err.code ? NULL : object, err.code ? &err : NULL);
}

static void on_call_rejected(struct loop_task *task)
{
    struct kube_call *call = CONTAINER_OF(task, struct kube_call, rejection);
    client_call_finish(call, NULL, &call->rejection_err);
}

static void start_http(struct kube_call *call)
{
    static const struct http_callbacks LISTENER = {on_client_head, on_client_data, on_client_end};
    buf_clear(&call->body);
    call->status = 0;
    call->retry_ms = -1;
    call->http =
        http_start(call->client->transport, &call->request, call->timeout_ms, &LISTENER, call);
}

static void on_client_retry(struct loop_timer *timer)
{
    start_http(CONTAINER_OF(timer, struct kube_call, retry));
}

char *kube_query_add(struct arena *arena, char *query, const char *name, const char *value)
{
    if (str_is_empty(value))
        return query;
    return arena_printf(arena, "%s%s%s=%s", query, *query ? "&" : "", name,
                        http_query_encode(arena, value));
}

struct http_header *kube_client_headers(struct kube_client *client, struct arena *arena,
                                        const char *accept, const char *content_type)
{
    struct http_header *headers = NULL;
    http_header_add(arena, &headers, "Accept", accept ? accept : "application/json");
    http_header_add(arena, &headers, "User-Agent", client->agent);
    if (content_type)
        http_header_add(arena, &headers, "Content-Type", content_type);
    return headers;
}

static struct kube_call *call_new(struct kube_client *client, kube_done *done, void *context)
{
    struct kube_call *call = mem_zalloc(sizeof(*call));
    call->client = client;
    call->arena = arena_new();
    call->rejection.callback = on_call_rejected;
    loop_timer_init(client->loop, &call->retry, on_client_retry);
    buf_init(&call->body, ANSWER_MAX);
    call->done = done;
    call->context = context;
    list_push(&client->calls, &call->link);
    return call;
}

struct request {
    const char *method;
    const struct kube_resource *resource;
    const char *namespace_;
    const char *name;         /* NULL: the collection */
    const char *subresource;  /* NULL: the object itself */
    char *query;              /* NULL: none */
    const struct json *body;  /* NULL: none */
    const char *content_type; /* of the body */
    const char *accept;       /* NULL: the whole object */
    bool strict;              /* the server must reject unknown fields */
    int64_t timeout_ms;       /* 0: the timeout of the client */
};

/* Checks the name and the namespace. An empty name would address the collection, and a '/' would
 * address another path. */
static int request_check_names(const struct request *request, struct err *err)
{
    const char *pieces[] = {request->name ? request->name : "x",
                            str_is_empty(request->namespace_) ? "x" : request->namespace_};
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
        if (*pieces[i] == '\0' || strchr(pieces[i], '/') || str_eq(pieces[i], ".") ||
            str_eq(pieces[i], ".."))
            return err_set(err, ERR_INVALID, "%s '%s': not a valid %s", request->resource->plural,
                           pieces[i], i == 0 ? "object name" : "namespace");
    if (request->resource->namespaced && str_is_empty(request->namespace_) &&
        (request->name || request->body))
        return err_set(err, ERR_INVALID, "%s '%s': needs a namespace", request->resource->plural,
                       request->name ? request->name : "");
    return 0;
}

static void send_request(struct kube_call *call, const struct request *request)
{
    struct kube_client *client = call->client;
    if (request_check_names(request, &call->rejection_err) < 0) {
        loop_defer(client->loop, &call->rejection);
        return;
    }
    const char *path = kube_resource_path(call->arena, request->resource, request->namespace_,
                                          request->name, request->subresource);
    const char *body = request->body ? json_to_string(call->arena, request->body) : NULL;
    call->what = arena_printf(call->arena, "%s %s", request->method, path);
    call->request = (struct http_request){
        .method = request->method,
        .path = path,
        .query = request->query ? request->query : "",
        .headers = kube_client_headers(client, call->arena, request->accept, request->content_type),
        .body = body,
        .body_size = body ? strlen(body) : 0,
    };
    call->timeout_ms = request->timeout_ms ? request->timeout_ms : client->timeout_ms;
    start_http(call);
}

void kube_get(struct kube_client *client, const struct kube_resource *resource,
              const char *namespace_, const char *name, kube_done *done, void *context)
{
    struct kube_call *call = call_new(client, done, context);
    struct request request = {
        .method = "GET", .resource = resource, .namespace_ = namespace_, .name = name ? name : ""};
    send_request(call, &request);
}

struct kube_call *kube_call_list(struct kube_client *client, const struct kube_resource *resource,
                                 const char *namespace_, const char *label_selector,
                                 const char *field_selector, const struct kube_list_page *page,
                                 kube_done *done, void *context)
{
    struct kube_call *call = call_new(client, done, context);
    char *query = arena_strdup(call->arena, "");
    query = kube_query_add(call->arena, query, "labelSelector", label_selector);
    query = kube_query_add(call->arena, query, "fieldSelector", field_selector);
    if (page) {
        query = kube_query_add(call->arena, query, "limit",
                               arena_printf(call->arena, "%d", page->limit));
        query = kube_query_add(call->arena, query, "continue", page->continue_);
    }
    struct request request = {.method = "GET",
                              .resource = resource,
                              .namespace_ = namespace_,
                              .query = query,
                              .timeout_ms = LIST_TIMEOUT_MS};
    send_request(call, &request);
    return call;
}

void kube_list(struct kube_client *client, const struct kube_resource *resource,
               const char *namespace_, const char *label_selector, const char *field_selector,
               kube_done *done, void *context)
{
    kube_call_list(client, resource, namespace_, label_selector, field_selector, NULL, done,
                   context);
}

void kube_list_paged(struct kube_client *client, const struct kube_resource *resource,
                     const char *namespace_, const struct kube_list_page *page, kube_done *done,
                     void *context)
{
    kube_call_list(client, resource, namespace_, NULL, NULL, page, done, context);
}

/* Sends a request with an object and the field manager. */
static void send_write(struct kube_client *client, struct request request, kube_done *done,
                       void *context)
{
    struct kube_call *call = call_new(client, done, context);
    request.query =
        kube_query_add(call->arena, arena_strdup(call->arena, ""), "fieldManager", client->agent);
    if (request.strict)
        request.query = kube_query_add(call->arena, request.query, "fieldValidation", "Strict");
    send_request(call, &request);
}

static void client_write_object(struct kube_client *client, const char *method,
                                const struct kube_resource *resource, const char *namespace_,
                                const char *name, const char *subresource,
                                const struct json *object, const char *content_type,
                                kube_done *done, void *context)
{
    struct request request = {
        .method = method,
        .resource = resource,
        .namespace_ = namespace_,
        .name = name,
        .subresource = subresource,
        .body = object,
        .content_type = content_type,
    };
    send_write(client, request, done, context);
}

void kube_create(struct kube_client *client, const struct kube_resource *resource,
                 const char *namespace_, const struct json *object, kube_done *done, void *context)
{
    client_write_object(client, "POST", resource, namespace_, NULL, NULL, object,
                        "application/json", done, context);
}

void kube_create_metadata_only(struct kube_client *client, const struct kube_resource *resource,
                               const char *namespace_, const struct json *object, bool strict,
                               kube_done *done, void *context)
{
    struct request request = {
        .method = "POST",
        .resource = resource,
        .namespace_ = namespace_,
        .body = object,
        .content_type = "application/json",
        .accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json",
        .strict = strict,
    };
    send_write(client, request, done, context);
}

void kube_update(struct kube_client *client, const struct kube_resource *resource,
                 const char *namespace_, const char *name, const struct json *object,
                 kube_done *done, void *context)
{
    client_write_object(client, "PUT", resource, namespace_, name ? name : "", NULL, object,
                        "application/json", done, context);
}

void kube_update_status(struct kube_client *client, const struct kube_resource *resource,
                        const char *namespace_, const char *name, const struct json *object,
                        kube_done *done, void *context)
{
    client_write_object(client, "PUT", resource, namespace_, name ? name : "", "status", object,
                        "application/json", done, context);
}

void kube_patch(struct kube_client *client, const struct kube_resource *resource,
                const char *namespace_, const char *name, const char *subresource,
                const struct json *merge_patch, kube_done *done, void *context)
{
    client_write_object(client, "PATCH", resource, namespace_, name ? name : "", subresource,
                        merge_patch, "application/merge-patch+json", done, context);
}

void kube_strategic_patch(struct kube_client *client, const struct kube_resource *resource,
                          const char *namespace_, const char *name, const struct json *patch,
                          kube_done *done, void *context)
{
    client_write_object(client, "PATCH", resource, namespace_, name ? name : "", NULL, patch,
                        "application/strategic-merge-patch+json", done, context);
}

void kube_delete(struct kube_client *client, const struct kube_resource *resource,
                 const char *namespace_, const char *name,
                 const struct kube_delete_options *options, kube_done *done, void *context)
{
    struct kube_call *call = call_new(client, done, context);
    struct json *body = json_object(call->arena);
    json_set_string(call->arena, body, "apiVersion", "v1");
    json_set_string(call->arena, body, "kind", "DeleteOptions");
    if (options && options->grace_period_seconds >= 0)
        json_set_int(call->arena, body, "gracePeriodSeconds", options->grace_period_seconds);
    if (options && options->propagation)
        json_set_string(call->arena, body, "propagationPolicy", options->propagation);
    if (options && options->uid)
        json_set_string(call->arena, json_ensure_object(call->arena, body, "preconditions"), "uid",
                        options->uid);
    struct request request = {.method = "DELETE",
                              .resource = resource,
                              .namespace_ = namespace_,
                              .name = name ? name : "",
                              .body = body,
                              .content_type = "application/json"};
    send_request(call, &request);
}
