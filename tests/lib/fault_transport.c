/* Faults between a client and a server; see fault_transport.h. */
#include "fault_transport.h"

#include "base/json/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "net/http/internal.h"

#include <stdlib.h>
#include <string.h>

enum fault {
    FAULT_NONE,
    FAULT_REFUSE,
    FAULT_LOSE,
    FAULT_CONFLICT,
    FAULT_INVALID,
    FAULT_CUT,
    FAULT_LAG,
};

enum {
    CUT_AFTER_MAX = 20,
    SLOW_MS = 3000,
    LAG_MS = 1500,
    MISCHIEF = 100 /* per thousand events */
};

/* An event that is held back. */
struct piece {
    struct piece *next;
    size_t size;
    char data[];
};

struct fault_call {
    struct http_call call;
    struct faulty *owner;
    struct fault_call *next, **link;
    struct http_call *inner; /* NULL: the call was refused or has ended */
    struct http_callbacks listener;
    void *context;
    enum fault fault;
    unsigned left; /* pieces until the watch is cut */
    struct piece *held, **held_end;
    bool over; /* the watch has ended and only its held events are left */
    struct err over_err;
    bool over_failed;
    struct http_request request; /* the request of a slow call, in the arena */
    struct arena *arena;
    int64_t timeout_ms;
    struct loop_timer timer;
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
    void (*hook)(void *context);
    void *hook_context;
};

static void call_free(struct fault_call *call)
{
    if (call->inner)
        http_cancel(call->owner->inner, call->inner);
    loop_defer_cancel(call->owner->loop, &call->task);
    loop_timer_stop(&call->timer);
    while (call->held) {
        struct piece *piece = call->held;

        call->held = piece->next;
        free(piece);
    }
    arena_free(call->arena);
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    free(call);
}

static void end(struct fault_call *call, const struct err *err)
{
    struct http_callbacks listener = call->listener;
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

static bool draw(struct faulty *faulty, unsigned rate)
{
    return rand_below(faulty->rand, 1000) < rate;
}

/* Returns false if the call is gone. */
static bool deliver(struct fault_call *call, const void *data, size_t size)
{
    call->busy = true;
    if (call->listener.on_data)
        call->listener.on_data(call->context, data, size);
    call->busy = false;
    if (call->canceled) {
        call_free(call);
        return false;
    }
    return true;
}

/* Holds back the events. They come as whole lines, and each line becomes a piece. */
static void hold(struct fault_call *call, const char *data, size_t size)
{
    bool idle = !call->held;

    while (size > 0) {
        const char *end = memchr(data, '\n', size);
        size_t length = end ? (size_t)(end - data) + 1 : size;
        struct piece *piece = mem_zalloc(sizeof(*piece) + length);

        piece->size = length;
        memcpy(piece->data, data, length);
        *call->held_end = piece;
        call->held_end = &piece->next;
        data += length;
        size -= length;
    }
    if (idle)
        loop_timer_start(&call->timer, (int64_t)rand_below(call->owner->rand, LAG_MS));
}

static const char *uid_in(struct arena *arena, const struct piece *piece)
{
    struct json *event = NULL;

    if (json_parse(arena, piece->data, piece->size, NULL, &event, NULL) < 0)
        return NULL;
    return kube_meta_uid(json_get(event, "object"));
}

/* Events about one object must stay in order, as a server keeps them. */
static bool are_of_one_object(const struct piece *a, const struct piece *b)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *x = uid_in(arena, a), *y = uid_in(arena, b);

    return str_is_empty(x) || str_is_empty(y) || str_eq(x, y);
}

static void let_go(struct fault_call *call)
{
    while (call->held) {
        struct piece *piece = call->held, *next = piece->next;

        if (next && draw(call->owner, MISCHIEF) && !are_of_one_object(piece, next)) {
            piece->next = next->next;
            next->next = piece;
            call->held = piece = next;
        }
        call->held = piece->next;
        for (int times = draw(call->owner, MISCHIEF) ? 2 : 1; times > 0; times--) {
            if (!deliver(call, piece->data, piece->size)) {
                free(piece);
                return;
            }
        }
        free(piece);
    }
    call->held_end = &call->held;
    if (call->over)
        end(call, call->over_failed ? &call->over_err : NULL);
}

static void on_data(void *context, const void *data, size_t size)
{
    struct fault_call *call = context;

    if (call->fault == FAULT_LOSE)
        return;
    if (call->fault == FAULT_LAG) {
        hold(call, data, size);
        return;
    }
    if (call->fault == FAULT_CUT && call->left-- == 0) {
        http_cancel(call->owner->inner, call->inner);
        call->inner = NULL;
        loop_defer(call->owner->loop, &call->task);
        return;
    }
    deliver(call, data, size);
}

static void on_end(void *context, const struct err *err)
{
    struct fault_call *call = context;

    call->inner = NULL;
    if (call->held) {
        call->over = true;
        call->over_failed = err != NULL;
        if (err)
            call->over_err = *err;
    } else if (call->fault == FAULT_LOSE)
        end_unavailable(call, "the answer was lost");
    else
        end(call, err);
}

static void on_task(struct loop_task *task)
{
#define FAILURE                                                                                    \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","           \
    "\"message\":"
    static const char conflict[] =
        FAILURE "\"the object has been modified\",\"reason\":\"Conflict\",\"code\":409}";
    static const char invalid[] =
        FAILURE "\"the object does not fit\",\"reason\":\"Invalid\",\"code\":422}";
#undef FAILURE
    struct fault_call *call = CONTAINER_OF(task, struct fault_call, task);
    const char *answer = call->fault == FAULT_INVALID ? invalid : conflict;

    if (call->fault != FAULT_CONFLICT && call->fault != FAULT_INVALID) {
        end_unavailable(call, "the connection is gone");
        return;
    }
    call->busy = true;
    if (call->listener.on_head)
        call->listener.on_head(call->context, call->fault == FAULT_INVALID ? 422 : 409, NULL);
    if (!call->canceled && call->listener.on_data)
        call->listener.on_data(call->context, answer, strlen(answer));
    call->busy = false;
    if (call->canceled)
        call_free(call);
    else
        end(call, NULL);
}

static bool is_change(const struct http_request *request)
{
    return !str_eq(request->method, "GET");
}

static enum fault draw_fault(struct faulty *faulty, const struct http_request *request)
{
    bool watch = request->query && strstr(request->query, "watch=");
    bool change = str_eq(request->method, "PUT") || str_eq(request->method, "PATCH");

    if (draw(faulty, faulty->rates.refuse))
        return FAULT_REFUSE;
    if (watch)
        return draw(faulty, faulty->rates.cut)   ? FAULT_CUT
               : draw(faulty, faulty->rates.lag) ? FAULT_LAG
                                                 : FAULT_NONE;
    if (draw(faulty, faulty->rates.lose))
        return FAULT_LOSE;
    if (!change)
        return FAULT_NONE;
    return draw(faulty, faulty->rates.conflict)                           ? FAULT_CONFLICT
           : faulty->rates.invalid && draw(faulty, faulty->rates.invalid) ? FAULT_INVALID
                                                                          : FAULT_NONE;
}

static const struct http_callbacks EARS = {on_head, on_data, on_end};

/* Starts a slow call, or delivers the held events of a watch. */
static void on_timer(struct loop_timer *timer)
{
    struct fault_call *call = CONTAINER_OF(timer, struct fault_call, timer);

    if (call->fault == FAULT_LAG)
        let_go(call);
    else
        call->inner = http_start(call->owner->inner, &call->request, call->timeout_ms, &EARS, call);
}

static void start_slowly(struct fault_call *call, const struct http_request *request,
                         int64_t timeout_ms)
{
    call->arena = arena_new();
    call->request = (struct http_request){
        .method = arena_strdup(call->arena, request->method),
        .path = arena_strdup(call->arena, request->path),
        .query = arena_strdup(call->arena, request->query ? request->query : ""),
        .body = request->body_size ? arena_strndup(call->arena, request->body, request->body_size)
                                   : NULL,
        .body_size = request->body_size,
        .peer = "simulated",
    };
    for (const struct http_header *header = request->headers; header; header = header->next)
        http_header_add(call->arena, &call->request.headers,
                        arena_strdup(call->arena, header->name),
                        arena_strdup(call->arena, header->value));
    call->timeout_ms = timeout_ms;
    loop_timer_start(&call->timer, (int64_t)rand_below(call->owner->rand, SLOW_MS));
}

static struct http_call *fault_start(struct http_transport *transport,
                                     const struct http_request *request, int64_t timeout_ms,
                                     const struct http_callbacks *listener, void *context)
{
    struct faulty *faulty = CONTAINER_OF(transport, struct faulty, transport);
    struct fault_call *call = mem_zalloc(sizeof(*call));

    call->call.transport = transport;
    call->owner = faulty;
    call->listener = *listener;
    call->context = context;
    call->task.callback = on_task;
    call->held_end = &call->held;
    loop_timer_init(faulty->loop, &call->timer, on_timer);
    call->next = faulty->calls;
    call->link = &faulty->calls;
    if (call->next)
        call->next->link = &call->next;
    faulty->calls = call;

    if (faulty->hook && is_change(request))
        faulty->hook(faulty->hook_context);
    call->fault = draw_fault(faulty, request);
    if (call->fault == FAULT_CUT)
        call->left = (unsigned)rand_below(faulty->rand, CUT_AFTER_MAX);
    if (call->fault == FAULT_REFUSE || call->fault == FAULT_CONFLICT ||
        call->fault == FAULT_INVALID)
        loop_defer(faulty->loop, &call->task);
    else if (call->fault == FAULT_NONE && is_change(request) && draw(faulty, faulty->rates.slow))
        start_slowly(call, request, timeout_ms);
    else
        call->inner = http_start(faulty->inner, request, timeout_ms, &EARS, call);
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

void fault_transport_on_write(struct http_transport *transport, void (*hook)(void *context),
                              void *context)
{
    struct faulty *faulty = CONTAINER_OF(transport, struct faulty, transport);

    faulty->hook = hook;
    faulty->hook_context = context;
}
