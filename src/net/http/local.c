/* The in-process transport: passes a call directly to the handler; see http.h. As with a socket,
 * the callbacks of client and server are called from the loop. Used by the controllers and the node
 * inside the embedded cluster, and by tests. It also works in simulation.
 *
 * The two sides of a call end independently: the client side after on_end, a timeout or
 * http_cancel(), the server side after http_end() or on_cancel. If the exchange has no on_cancel,
 * it stays valid until the handler calls http_end(), even after the client side has ended. */
#include "net/http/http.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http/internal.h"

#include <stdlib.h>
#include <string.h>

struct local_call {
    struct http_call call;
    struct loop *loop;
    struct local *local;   /* NULL after the transport is freed */
    struct list_link link; /* in local.calls */
    struct loop_task task; /* runs the next step of the call */
    struct loop_timer timeout;
    int64_t timeout_ms;
    bool busy; /* a callback is running, so the call must not be freed */

    bool listening; /* the client side has not ended */
    struct http_callbacks callbacks;
    void *context;

    bool handled; /* the handler was called */
    struct arena *arena;
    struct http_request request;
    struct http_exchange exchange;

    bool head_delivered; /* on_head was called */
    int status;
    struct http_header *headers;
    struct buf out;      /* bytes that the handler has written since `delivery` was filled */
    struct buf delivery; /* bytes that are being delivered in pieces */
    size_t delivered;    /* number of bytes of `delivery` that are delivered */
};

/* Number of bytes that are delivered between two checks of the turn's time limit. A watch with many
 * pending events must not block the loop while the client decodes them. */
enum { PIECE_MAX = 8 * 1024 };

struct local {
    struct http_transport transport;
    struct loop *loop;
    http_handler *handler;
    void *context;
    char *bearer;
    struct list_head calls; /* struct local_call */
};

static struct local *local_of(struct http_transport *transport)
{
    return CONTAINER_OF(transport, struct local, transport);
}

static struct local_call *call_of(struct http_exchange *exchange)
{
    return CONTAINER_OF(exchange, struct local_call, exchange);
}

/* ---- the end of a call ----------------------------------------------------------------------- */

static void client_side_end(struct local_call *call)
{
    call->listening = false;
    loop_timer_stop(&call->timeout);
}

static void unlink_call(struct local_call *call)
{
    if (!call->local)
        return;
    call->local = NULL;
    list_remove(&call->link);
}

/* If the client side has ended: calls on_cancel if needed, and frees the call when the server side
 * has ended too. */
static void local_free_if_ended(struct local_call *call)
{
    if (call->busy || call->listening)
        return;
    if (call->handled && !call->exchange.ended) {
        if (!call->exchange.on_cancel)
            return;
        call->busy = true;
        call->exchange.on_cancel(&call->exchange);
    }
    unlink_call(call);
    loop_defer_cancel(call->loop, &call->task);
    buf_release(&call->out);
    buf_release(&call->delivery);
    arena_free(call->arena);
    free(call);
}

/* Ends the client side and calls on_end. */
static void client_side_report_end(struct local_call *call, const struct err *err)
{
    client_side_end(call);
    call->busy = true;
    call->callbacks.on_end(call->context, err);
    call->busy = false;
}

/* ---- the server side ------------------------------------------------------------------------- */

static void local_begin(struct http_exchange *exchange, int status,
                        const struct http_header *headers, int64_t length)
{
    struct local_call *call = call_of(exchange);
    call->status = status;
    call->headers = http_headers_copy(call->arena, headers);
    if (length >= 0)
        http_header_add(call->arena, &call->headers, "Content-Length",
                        arena_printf(call->arena, "%lld", (long long)length));
    loop_defer(call->loop, &call->task);
}

static void local_write(struct http_exchange *exchange, const void *data, size_t size)
{
    struct local_call *call = call_of(exchange);
    if (!call->listening || strcmp(call->request.method, "HEAD") == 0)
        return;
    buf_append(&call->out, data, size);
    loop_defer(call->loop, &call->task);
}

static void local_end(struct http_exchange *exchange)
{
    struct local_call *call = call_of(exchange);
    loop_defer(call->loop, &call->task);
}

static size_t bytes_left(const struct local_call *call)
{
    return call->out.size + call->delivery.size - call->delivered;
}

static size_t local_pending(struct http_exchange *exchange)
{
    return bytes_left(call_of(exchange));
}

static const struct http_exchange_ops EXCHANGE_OPS = {
    .begin = local_begin,
    .write = local_write,
    .end = local_end,
    .pending = local_pending,
};

/* ---- the task of a call ---------------------------------------------------------------------- */

static void local_handle(struct local_call *call)
{
    call->handled = true;
    call->busy = true;
    call->local->handler(&call->exchange, call->local->context);
    call->busy = false;
}

/* Delivers the next piece of the written bytes. */
static void deliver_piece(struct local_call *call)
{
    if (call->delivered == call->delivery.size) {
        buf_release(&call->delivery);
        call->delivery = call->out;
        call->delivered = 0;
        buf_init(&call->out, SIZE_MAX / 2);
    }
    size_t left = call->delivery.size - call->delivered, size = left < PIECE_MAX ? left : PIECE_MAX;
    const char *piece = call->delivery.data + call->delivered;
    call->delivered += size;
    if (call->callbacks.on_data)
        call->callbacks.on_data(call->context, piece, size);
    if (call->delivered == call->delivery.size) {
        buf_release(&call->delivery);
        buf_init(&call->delivery, SIZE_MAX / 2);
        call->delivered = 0;
    }
}

/* Delivers the bytes that the handler has written. A callback may cancel the call, free the
 * transport or cause the handler to write more, so the state is checked again after each
 * callback. */
static void local_deliver(struct local_call *call)
{
    if (!call->exchange.begun)
        return;
    call->busy = true;
    if (!call->head_delivered) {
        call->head_delivered = true;
        if (call->callbacks.on_head)
            call->callbacks.on_head(call->context, call->status, call->headers);
    }
    if (call->listening && bytes_left(call)) {
        do
            deliver_piece(call);
        while (call->listening && bytes_left(call) && !loop_should_yield(call->loop));
        if (call->listening && !call->exchange.ended && !bytes_left(call) &&
            call->exchange.on_drain)
            call->exchange.on_drain(&call->exchange);
    }
    call->busy = false;
    if (call->listening && bytes_left(call))
        loop_defer(call->loop, &call->task);
    else if (call->listening && call->exchange.ended)
        client_side_report_end(call, NULL);
}

static void on_local_task(struct loop_task *task)
{
    struct local_call *call = CONTAINER_OF(task, struct local_call, task);
    if (call->listening && !call->handled)
        local_handle(call);
    else if (call->listening)
        local_deliver(call);
    local_free_if_ended(call);
}

static void on_local_timeout(struct loop_timer *timer)
{
    struct local_call *call = CONTAINER_OF(timer, struct local_call, timeout);
    struct err err;
    err_set(&err, ERR_TIMEOUT, "%s %s: no complete response within %lld ms", call->request.method,
            call->request.path, (long long)call->timeout_ms);
    client_side_report_end(call, &err);
    local_free_if_ended(call);
}

/* ---- the client side ------------------------------------------------------------------------- */

static struct http_call *local_start(struct http_transport *transport,
                                     const struct http_request *request, int64_t timeout_ms,
                                     const struct http_callbacks *callbacks, void *context)
{
    struct local *local = local_of(transport);
    struct local_call *call = mem_zalloc(sizeof(*call));
    call->call.transport = transport;
    call->loop = local->loop;
    call->local = local;
    call->listening = true;
    call->callbacks = *callbacks;
    call->context = context;
    call->arena = arena_new();
    call->request = http_request_copy(call->arena, request);
    call->request.peer = "in-process";
    http_add_bearer(call->arena, &call->request.headers, local->bearer);
    call->exchange = (struct http_exchange){
        .ops = &EXCHANGE_OPS, .request = &call->request, .arena = call->arena, .in_process = true};
    buf_init(&call->out, SIZE_MAX / 2);
    buf_init(&call->delivery, SIZE_MAX / 2);

    list_push(&local->calls, &call->link);

    call->task.callback = on_local_task;
    loop_defer(local->loop, &call->task);
    loop_timer_init(local->loop, &call->timeout, on_local_timeout);
    call->timeout_ms = timeout_ms;
    if (timeout_ms > 0)
        loop_timer_start(&call->timeout, timeout_ms);
    return &call->call;
}

static void local_cancel(struct http_transport *transport, struct http_call *base)
{
    struct local_call *call = CONTAINER_OF(base, struct local_call, call);
    client_side_end(call);
    /* Call on_cancel from the loop, because the handler may be running now. */
    loop_defer(call->loop, &call->task);
}

static void local_free(struct http_transport *transport)
{
    struct local *local = local_of(transport);
    /* Call on_cancel at once, because the caller may free the server next. */
    LIST_EACH_SAFE (struct local_call, call, &local->calls, link) {
        unlink_call(call);
        client_side_end(call);
        local_free_if_ended(call);
    }
    free(local->bearer);
    free(local);
}

static const struct http_transport_ops TRANSPORT_OPS = {
    .start = local_start,
    .cancel = local_cancel,
    .free = local_free,
};

struct http_transport *http_local_new(struct loop *loop, http_handler *handler, void *context,
                                      const char *bearer)
{
    struct local *local = mem_zalloc(sizeof(*local));
    local->transport.ops = &TRANSPORT_OPS;
    local->loop = loop;
    local->handler = handler;
    local->context = context;
    local->bearer = bearer ? mem_strdup(bearer) : NULL;
    return &local->transport;
}
