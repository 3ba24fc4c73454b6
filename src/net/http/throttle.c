/* Implements the throttling transport; see throttle.h. A request that may start at once is passed
 * on without a copy. Only the request of a waiting call is copied. Waiting calls are started from
 * the loop, never from within http_cancel(). Otherwise a caller that cancels all its calls one by
 * one would cause its other calls to start. */
#include "net/http/throttle.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/str.h"
#include "net/http/internal.h"
#include "net/http/prometheus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSE_MAX_MS = 10 * 1000 }; /* longest pause that a server can cause */

struct throttle_call {
    struct http_call call;
    struct throttle *throttle;
    struct list_link link;   /* in throttle.waiting or throttle.in_flight */
    struct http_call *inner; /* the call of the inner transport; NULL: the call waits */
    struct arena *arena;     /* memory of the copied request while the call waits, else NULL */
    struct http_request request;
    int64_t timeout_ms;
    struct http_callbacks callbacks;
    void *context;
    const char *method; /* a result of method_name() */
    int status;         /* status of the response; 0: no header has arrived */
    bool is_watch;
};

struct throttle {
    struct http_transport transport;
    struct loop *loop;
    struct http_transport *inner;
    struct http_throttle_options options;
    double tokens;     /* may be below 0, because watches take a token without waiting */
    int64_t filled_ms; /* time when tokens were added last */
    int64_t paused_until_ms;
    struct list_head waiting, in_flight; /* struct throttle_call */
    size_t waiting_count;
    size_t in_flight_count; /* number of calls in flight, not counting watches */
    struct loop_timer timer;
    struct loop_task task;
    struct prometheus_metric *requests;
    bool draining;
    void (*drained)(void *context); /* NULL after it was called */
    void *drained_context;
};

static struct throttle *throttle_of(struct http_transport *transport)
{
    return CONTAINER_OF(transport, struct throttle, transport);
}

/* Returns the method as a value of the metric label. Unusual methods become "other", because a
 * label must have few values. */
static const char *method_name(const char *method)
{
    static const char *const METHODS[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    for (size_t i = 0; i < ARRAY_SIZE(METHODS); i++)
        if (str_eq(method, METHODS[i]))
            return METHODS[i];
    return "other";
}

static void throttle_count(struct throttle_call *call, bool failed)
{
    char code[16];
    snprintf(code, sizeof(code), "%d", call->status);
    prometheus_add(call->throttle->requests, 1, failed && !call->status ? "<error>" : code,
                   call->method, NULL);
}

/* ---- calls in flight ------------------------------------------------------------------------- */

static void throttle_call_free(struct throttle_call *call)
{
    struct throttle *throttle = call->throttle;
    list_remove(&call->link);
    if (!call->inner)
        throttle->waiting_count--;
    if (call->inner && !call->is_watch)
        throttle->in_flight_count--;
    if (throttle->waiting_count || throttle->draining)
        loop_defer(throttle->loop, &throttle->task);
    arena_free(call->arena);
    free(call);
}

int64_t http_retry_after_ms(const struct http_header *headers, int64_t max_ms)
{
    const char *text = http_header_get(headers, "Retry-After");
    int64_t seconds;
    if (!text || str_to_int64(text, 0, INT64_MAX / 1000, &seconds, NULL) < 0)
        return -1;
    return seconds * 1000 < max_ms ? seconds * 1000 : max_ms;
}

static void on_throttle_head(void *context, int status, const struct http_header *headers)
{
    struct throttle_call *call = context;
    struct throttle *throttle = call->throttle;
    call->status = status;
    if (call->is_watch)
        throttle_count(call, false); /* count now, because a watch may end minutes later */
    if (status == 429) {
        int64_t pause_ms = http_retry_after_ms(headers, PAUSE_MAX_MS);
        int64_t until_ms = loop_now_ms(throttle->loop) + pause_ms;
        if (pause_ms > 0 && until_ms > throttle->paused_until_ms)
            throttle->paused_until_ms = until_ms;
    }
    if (call->callbacks.on_head)
        call->callbacks.on_head(call->context, status, headers);
}

static void on_throttle_data(void *context, const void *data, size_t size)
{
    struct throttle_call *call = context;
    if (call->callbacks.on_data)
        call->callbacks.on_data(call->context, data, size);
}

static void on_throttle_end(void *context, const struct err *err)
{
    struct throttle_call *call = context;
    struct http_callbacks callbacks = call->callbacks;
    void *callbacks_context = call->context;
    if (!call->is_watch || !call->status)
        throttle_count(call, err != NULL);
    throttle_call_free(call);
    callbacks.on_end(callbacks_context, err); /* may free the transport */
}

static void start_inner(struct throttle_call *call, const struct http_request *request)
{
    static const struct http_callbacks CALLBACKS = {on_throttle_head, on_throttle_data,
                                                    on_throttle_end};
    struct throttle *throttle = call->throttle;
    throttle->tokens -= 1;
    if (!call->is_watch)
        throttle->in_flight_count++;
    list_append(&throttle->in_flight, &call->link);
    call->inner = http_start(throttle->inner, request, call->timeout_ms, &CALLBACKS, call);
}

/* ---- waiting calls --------------------------------------------------------------------------- */

/* Adds the tokens of the time since the previous call. */
static void throttle_fill(struct throttle *throttle)
{
    int64_t now_ms = loop_now_ms(throttle->loop);
    throttle->tokens += (double)(now_ms - throttle->filled_ms) * throttle->options.rate / 1000;
    if (throttle->tokens > (double)throttle->options.burst)
        throttle->tokens = (double)throttle->options.burst;
    throttle->filled_ms = now_ms;
}

/* Returns the number of milliseconds until the next call may start; 0: it may start at once.
 * Returns -1 if no time can be given, because the next call must wait for the end of a call in
 * flight, or because the transport drains and starts no more calls. */
static int64_t throttle_wait_ms(struct throttle *throttle)
{
    int64_t paused_ms = throttle->paused_until_ms - loop_now_ms(throttle->loop);
    int64_t token_ms = 0;
    if (throttle->draining)
        return -1;
    if (throttle->options.calls_max && throttle->in_flight_count >= throttle->options.calls_max)
        return -1;
    if (throttle->options.rate > 0) {
        throttle_fill(throttle);
        if (throttle->tokens < 1)
            token_ms = (int64_t)((1 - throttle->tokens) * 1000 / throttle->options.rate) + 1;
    }
    if (paused_ms < 0)
        paused_ms = 0;
    return paused_ms > token_ms ? paused_ms : token_ms;
}

static void throttle_start_waiting(struct throttle *throttle)
{
    while (throttle->waiting_count) {
        int64_t delay_ms = throttle_wait_ms(throttle);
        if (delay_ms > 0)
            loop_timer_start(&throttle->timer, delay_ms);
        if (delay_ms != 0)
            return;
        struct throttle_call *call = LIST_FIRST(&throttle->waiting, struct throttle_call, link);
        list_remove(&call->link);
        throttle->waiting_count--;
        start_inner(call, &call->request);
        call->arena = arena_free(call->arena);
    }
}

static void on_throttle_task(struct loop_task *task)
{
    struct throttle *throttle = CONTAINER_OF(task, struct throttle, task);
    throttle_start_waiting(throttle);
    if (throttle->draining && throttle->in_flight_count == 0 && throttle->drained)
        TAKE(throttle->drained)(throttle->drained_context); /* may free the transport */
}

static void on_throttle_timer(struct loop_timer *timer)
{
    throttle_start_waiting(CONTAINER_OF(timer, struct throttle, timer));
}

/* ---- the transport --------------------------------------------------------------------------- */

static struct http_call *throttle_start(struct http_transport *transport,
                                        const struct http_request *request, int64_t timeout_ms,
                                        const struct http_callbacks *callbacks, void *context)
{
    struct throttle *throttle = throttle_of(transport);
    struct throttle_call *call = mem_zalloc(sizeof(*call));
    call->call.transport = transport;
    call->throttle = throttle;
    call->timeout_ms = timeout_ms;
    call->callbacks = *callbacks;
    call->context = context;
    call->method = method_name(request->method);
    call->is_watch = http_query_flag(request->query, "watch");
    bool at_once = call->is_watch && !throttle->draining;
    if (at_once || (throttle->waiting_count == 0 && throttle_wait_ms(throttle) == 0)) {
        start_inner(call, request);
    } else {
        call->arena = arena_new();
        call->request = http_request_copy(call->arena, request);
        list_append(&throttle->waiting, &call->link);
        throttle->waiting_count++;
        loop_defer(throttle->loop, &throttle->task); /* sets the timer */
    }
    return &call->call;
}

static void throttle_cancel(struct http_transport *transport, struct http_call *base)
{
    struct throttle_call *call = CONTAINER_OF(base, struct throttle_call, call);
    if (call->inner)
        http_cancel(call->throttle->inner, call->inner);
    throttle_call_free(call);
}

static void cancel_all(struct throttle *throttle, struct list_head *calls)
{
    LIST_EACH_SAFE (struct throttle_call, call, calls, link)
        throttle_cancel(&throttle->transport, &call->call);
}

static void throttle_free(struct http_transport *transport)
{
    struct throttle *throttle = throttle_of(transport);
    cancel_all(throttle, &throttle->waiting);
    cancel_all(throttle, &throttle->in_flight);
    loop_timer_stop(&throttle->timer);
    loop_defer_cancel(throttle->loop, &throttle->task);
    free(throttle);
}

struct http_transport *http_throttle_new(struct loop *loop, struct http_transport *inner,
                                         const struct http_throttle_options *options)
{
    static const struct http_transport_ops OPS = {throttle_start, throttle_cancel, throttle_free};
    struct throttle *throttle = mem_zalloc(sizeof(*throttle));
    throttle->transport.ops = &OPS;
    throttle->loop = loop;
    throttle->inner = inner;
    throttle->options = *options;
    if (throttle->options.burst == 0)
        throttle->options.burst = options->rate > 1 ? (size_t)options->rate : 1;
    throttle->tokens = (double)throttle->options.burst;
    throttle->filled_ms = loop_now_ms(loop);
    throttle->task.callback = on_throttle_task;
    loop_timer_init(loop, &throttle->timer, on_throttle_timer);
    throttle->requests =
        prometheus_counter(options->metrics, "rest_client_requests_total",
                           "Requests to the API server, by status code and method", "code,method");
    return &throttle->transport;
}

void http_throttle_drain(struct http_transport *transport, void (*done)(void *context),
                         void *context)
{
    struct throttle *throttle = throttle_of(transport);
    throttle->draining = true;
    throttle->drained = done;
    throttle->drained_context = context;
    loop_defer(throttle->loop, &throttle->task);
}

size_t http_throttle_waiting(const struct http_transport *throttle)
{
    return CONTAINER_OF(throttle, struct throttle, transport)->waiting_count;
}
