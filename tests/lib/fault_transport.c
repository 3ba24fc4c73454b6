/* Faults between a client and a server; see fault_transport.h. */
#include "fault_transport.h"

#include "base/mem.h"
#include "base/str.h"
#include "net/http_internal.h"

#include <stdlib.h>
#include <string.h>

enum fault { FAULT_NONE, FAULT_REFUSE, FAULT_LOSE, FAULT_CONFLICT, FAULT_CUT };

enum { CUT_AFTER_MAX = 20 };

struct fault_call {
    struct http_call call;
    struct faulty *owner;
    struct fault_call *next, **link;
    struct http_call *inner; /* NULL: refused, or over */
    struct http_listener listener;
    void *context;
    enum fault fault;
    unsigned left; /* pieces until the cut */
    struct loop_task task;
    bool busy, canceled;
};

struct faulty {
    struct http_transport transport;
    struct loop *loop;
    struct http_transport *inner;
    struct rand *rand;
    struct fault_rates rates;
    struct fault_call *calls;
};

static void call_free(struct fault_call *call)
{
    if (call->inner)
        http_cancel(call->owner->inner, call->inner);
    loop_defer_cancel(call->owner->loop, &call->task);
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    free(call);
}

static void end(struct fault_call *call, const struct err *err)
{
    struct http_listener listener = call->listener;
    void *context = call->context;

    call_free(call);
    listener.on_end(context, err);
}

static void end_unavailable(struct fault_call *call, const char *why)
{
    struct err err = ERR_INIT;

    err_set(&err, ERR_UNAVAILABLE, "%s", why);
    end(call, &err);
}

static void on_head(void *context, int status, const struct http_header *headers)
{
    struct fault_call *call = context;

    if (call->fault != FAULT_LOSE && call->listener.on_head)
        call->listener.on_head(call->context, status, headers);
}

static void on_data(void *context, const void *data, size_t size)
{
    struct fault_call *call = context;

    if (call->fault == FAULT_LOSE)
        return;
    if (call->fault == FAULT_CUT && call->left-- == 0) {
        http_cancel(call->owner->inner, call->inner);
        call->inner = NULL;
        loop_defer(call->owner->loop, &call->task);
        return;
    }
    call->busy = true;
    if (call->listener.on_data)
        call->listener.on_data(call->context, data, size);
    call->busy = false;
    if (call->canceled)
        call_free(call);
}

static void on_end(void *context, const struct err *err)
{
    struct fault_call *call = context;

    call->inner = NULL;
    if (call->fault == FAULT_LOSE)
        end_unavailable(call, "the answer was lost");
    else
        end(call, err);
}

static void on_task(struct loop_task *task)
{
    static const char conflict[] =
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
        "\"message\":\"the object has been modified\",\"reason\":\"Conflict\",\"code\":409}";
    struct fault_call *call = CONTAINER_OF(task, struct fault_call, task);

    if (call->fault != FAULT_CONFLICT) {
        end_unavailable(call, "the connection is gone");
        return;
    }
    call->busy = true;
    if (call->listener.on_head)
        call->listener.on_head(call->context, 409, NULL);
    if (!call->canceled && call->listener.on_data)
        call->listener.on_data(call->context, conflict, strlen(conflict));
    call->busy = false;
    if (call->canceled)
        call_free(call);
    else
        end(call, NULL);
}

static bool draw(struct faulty *faulty, unsigned rate)
{
    return rand_below(faulty->rand, 1000) < rate;
}

static enum fault draw_fault(struct faulty *faulty, const struct http_request *request)
{
    bool watch = request->query && strstr(request->query, "watch=");
    bool change = str_eq(request->method, "PUT") || str_eq(request->method, "PATCH");

    if (draw(faulty, faulty->rates.refuse))
        return FAULT_REFUSE;
    if (watch)
        return draw(faulty, faulty->rates.cut) ? FAULT_CUT : FAULT_NONE;
    if (draw(faulty, faulty->rates.lose))
        return FAULT_LOSE;
    return change && draw(faulty, faulty->rates.conflict) ? FAULT_CONFLICT : FAULT_NONE;
}

static struct http_call *fault_start(struct http_transport *transport,
                                     const struct http_request *request, int64_t timeout_ms,
                                     const struct http_listener *listener, void *context)
{
    static const struct http_listener ears = {on_head, on_data, on_end};
    struct faulty *faulty = CONTAINER_OF(transport, struct faulty, transport);
    struct fault_call *call = mem_zalloc(sizeof(*call));

    call->call.transport = transport;
    call->owner = faulty;
    call->listener = *listener;
    call->context = context;
    call->task.callback = on_task;
    call->next = faulty->calls;
    call->link = &faulty->calls;
    if (call->next)
        call->next->link = &call->next;
    faulty->calls = call;

    call->fault = draw_fault(faulty, request);
    if (call->fault == FAULT_CUT)
        call->left = (unsigned)rand_below(faulty->rand, CUT_AFTER_MAX);
    if (call->fault == FAULT_REFUSE || call->fault == FAULT_CONFLICT)
        loop_defer(faulty->loop, &call->task);
    else
        call->inner = http_start(faulty->inner, request, timeout_ms, &ears, call);
    return &call->call;
}

static void fault_cancel(struct http_transport *transport, struct http_call *base)
{
    struct fault_call *call = CONTAINER_OF(base, struct fault_call, call);

    if (call->busy)
        call->canceled = true;
    else
        call_free(call);
}

static void fault_free(struct http_transport *transport)
{
    struct faulty *faulty = CONTAINER_OF(transport, struct faulty, transport);

    while (faulty->calls)
        call_free(faulty->calls);
    free(faulty);
}

static const struct http_transport_ops OPS = {
    .start = fault_start, .cancel = fault_cancel, .free = fault_free};

struct http_transport *fault_transport_new(struct loop *loop, struct http_transport *inner,
                                           struct rand *rand, const struct fault_rates *rates)
{
    struct faulty *faulty = mem_zalloc(sizeof(*faulty));

    faulty->transport.ops = &OPS;
    faulty->loop = loop;
    faulty->inner = inner;
    faulty->rand = rand;
    faulty->rates = *rates;
    return &faulty->transport;
}

void fault_transport_set(struct http_transport *transport, const struct fault_rates *rates)
{
    CONTAINER_OF(transport, struct faulty, transport)->rates = *rates;
}
