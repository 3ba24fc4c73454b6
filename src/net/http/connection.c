/* Implements the lifecycle of a connection of the HTTP server; see connection.h. A table lists its
 * states and the allowed transitions. Events of the stream, of the timer and of responses cause the
 * transitions. This file uses no sockets, only the stream. */
#include "net/http/connection.h"

#include "base/mem.h"
#include "net/http/response.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum state {
    OPENING,
    IDLE,
    READING_HEAD,
    READING_BODY,
    ANSWERING,
    UPGRADED,
    FINISHING,
    CLOSED,
};

static const struct state_row STATES[] = {
    [OPENING] = {"opening", STATE_BIT(IDLE) | STATE_BIT(CLOSED)},
    [IDLE] = {"idle", STATE_BIT(READING_HEAD) | STATE_BIT(FINISHING) | STATE_BIT(CLOSED)},
    [READING_HEAD] = {"reading a header", STATE_BIT(READING_BODY) | STATE_BIT(ANSWERING) |
                                              STATE_BIT(FINISHING) | STATE_BIT(CLOSED)},
    [READING_BODY] = {"reading a body",
                      STATE_BIT(ANSWERING) | STATE_BIT(FINISHING) | STATE_BIT(CLOSED)},
    [ANSWERING] = {"answering", STATE_BIT(IDLE) | STATE_BIT(UPGRADED) | STATE_BIT(FINISHING) |
                                    STATE_BIT(CLOSED)},
    [UPGRADED] = {"upgraded", STATE_BIT(CLOSED)},
    [FINISHING] = {"finishing", STATE_BIT(CLOSED)},
    [CLOSED] = {"closed", 0, .final = true},
};

enum {
    IN_MAX = 32 * 1024,     /* bytes of later requests; with more, reading pauses */
    OUT_HIGH = 16 * 1024,   /* bytes of unsent responses; with more, no further request is parsed */
    REQUESTS_PER_TURN = 16, /* a maximum, so that other connections are served too */
};

/* ---- state transitions ----------------------------------------------------------------------- */

static int state_of(const struct http_connection *self)
{
    return self->life.state;
}

static void connection_move(struct http_connection *self, enum state state)
{
    struct http_service *service = self->service;
    state_machine_move(&self->life, state);
    switch (state) {
    case IDLE:
        /* The list starts with the connection that was served last. */
        list_remove(&self->link);
        list_push(&service->connections, &self->link);
        loop_timer_start(&self->timer, service->idle_timeout_ms);
        break;
    case READING_HEAD:
        loop_timer_start(&self->timer, service->header_timeout_ms);
        break;
    case READING_BODY:
        loop_timer_start(&self->timer, service->body_timeout_ms);
        break;
    default: /* no limit for a response; the stream has time limits for its end */
        loop_timer_stop(&self->timer);
    }
}

void http_connection_close(struct http_connection *self)
{
    if (state_of(self) == CLOSED)
        return;
    bool upgraded = state_of(self) == UPGRADED;
    connection_move(self, CLOSED);
    http_connection_forget_payer(self);
    loop_defer_cancel(self->service->loop, &self->task);
    stream_close(self->stream);
    /* After an upgrade, the stream may be closed while the handler is still running and uses the
     * response. */
    if (self->response && !(upgraded && self->in_handler))
        http_response_abandon(TAKE(self->response));
    if (upgraded)
        http_upgrade_cancel(self);
}

/* Starts to close the connection. The written bytes are still sent. No further request is read. */
static void connection_finish(struct http_connection *self)
{
    connection_move(self, FINISHING);
    buf_release(&self->in);
    buf_release(&self->parse.body);
    http_connection_reduce_charge(self, false);
    stream_finish(self->stream);
}

/* Sends an error response and finishes the connection. Used if a request is invalid, takes too
 * long, or needs too much memory. */
static void connection_refuse(struct http_connection *self, int status, const char *sentence)
{
    struct buf head, body;
    buf_init(&head, 4096);
    const char *type = http_service_refusal(self->service, status, sentence, &body);
    buf_printf(&head,
               "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
               "%sConnection: close\r\n\r\n",
               status, http_status_text(status), http_service_date(self->service), type, body.size,
               status == 429 ? "Retry-After: " HTTP_RETRY_AFTER_S "\r\n" : "");
    stream_write(self->stream, head.data, head.size);
    stream_write(self->stream, body.data, body.size);
    buf_release(&head);
    buf_release(&body);
    connection_finish(self);
}

void http_connection_end_for_memory(struct http_connection *self)
{
    int state = state_of(self);
    if (state == READING_HEAD || state == READING_BODY)
        connection_refuse(self, 429, HTTP_NO_MEMORY);
    else
        http_connection_close(self);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Returns whether the connection still handles HTTP requests. */
static bool is_http(const struct http_connection *self)
{
    int state = state_of(self);
    return state != UPGRADED && state != CLOSED && state != FINISHING;
}

/* Frees the complete response, then closes the connection or prepares it for the next request. */
static void connection_end_response(struct http_connection *self)
{
    struct http_response *response = TAKE(self->response);
    bool cut =
        response->left > 0 && !response->no_body; /* fewer bytes were written than announced */
    bool keep_alive = response->keep_alive;
    self->spare = http_response_free(response);
    http_connection_reduce_charge(self, false);
    if (!is_http(self)) /* the connection was upgraded, or it is closing */
        return;
    if (cut)
        http_connection_close(self);
    else if (keep_alive)
        connection_move(self, IDLE);
    else
        connection_finish(self);
}

static void connection_call_handler(struct http_connection *self, http_handler *handler)
{
    self->in_handler = true;
    handler(&self->response->exchange, self->service->context);
    self->in_handler = false;
}

static void connection_start_response(struct http_connection *self)
{
    struct http_response *response = self->response;
    connection_move(self, ANSWERING);
    if (!response->exchange.ended) { /* else the admission function has already sent a response */
        http_response_take_body(response);
        response->handled = true;
        connection_call_handler(self, self->service->handler);
    }
    if (self->response && self->response->exchange.ended)
        connection_end_response(self);
    else if (state_of(self) == ANSWERING)
        http_connection_charge_handled(self);
}

/* Called when the header of a request is complete. Calls the admission function before the body is
 * read. */
static void connection_admit(struct http_connection *self, bool body_has_begun)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct http_parse *parse = &self->parse;
    struct http_response *response = self->response = http_response_new(self);
    /* If the admission function refuses the request, the body stays unread. Then the start of the
     * next request is unknown and the connection must be closed. */
    response->keep_alive = parse->keep_alive && !parse->has_body;
    if (self->service->admit)
        connection_call_handler(self, self->service->admit);
    /* So far the peer's address is the payer. Now the user may be known. */
    http_connection_forget_payer(self);
    if (response->exchange.ended && parse->has_body) {
        connection_move(self, ANSWERING);
        connection_end_response(self);
        return;
    }
    if (response->exchange.begun && !response->exchange.ended)
        mem_panic("http: the admission of %s %s must answer it whole or not at all",
                  response->request.method, response->request.path);
    if (!response->exchange.ended)
        response->keep_alive = parse->keep_alive;
    if (http_parse_admit(parse, response->exchange.body_max) == HTTP_PARSE_REFUSED) {
        connection_refuse(self, parse->refusal_status, parse->refusal);
        return;
    }
    if (parse->wants_continue && parse->has_body && !body_has_begun)
        stream_write(self->stream, go_on, sizeof(go_on) - 1);
    if (parse->has_body)
        connection_move(self, READING_BODY);
}

void http_connection_response_ended(struct http_connection *self)
{
    /* If the handler is still running, it may use the exchange again, so do not free the response
     * yet. */
    if (!self->in_handler)
        loop_defer(self->service->loop, &self->task);
}

struct stream *http_connection_upgrade(struct http_connection *self)
{
    connection_move(self, UPGRADED);
    http_connection_forget_payer(self); /* the new protocol has its own limits */
    http_upgrade_init(self);
    return &self->upgrade.stream;
}

static bool is_reading(const struct http_connection *self)
{
    int state = state_of(self);
    return state == IDLE || state == READING_HEAD || state == READING_BODY;
}

/* Passes bytes to the parser. Returns the number of bytes that were consumed. */
static size_t connection_parse(struct http_connection *self, const char *data, size_t size)
{
    if (state_of(self) == IDLE) {
        struct arena *arena = TAKE(self->spare);
        http_parse_start(&self->parse, arena ? arena : arena_new());
        connection_move(self, READING_HEAD);
    }
    size_t used;
    enum http_parse_result result = http_parse_feed(&self->parse, data, size, &used);
    if (result == HTTP_PARSE_REFUSED) {
        connection_refuse(self, self->parse.refusal_status, self->parse.refusal);
        return size;
    }
    if (result == HTTP_PARSE_HEAD) {
        connection_admit(self, used < size);
        if (!is_reading(self)) /* refused */
            return size;
        if (!self->parse.has_body) /* a request without a body is complete now */
            result = http_parse_feed(&self->parse, NULL, 0, &(size_t){0});
    }
    /* The admission function may have sent a response. */
    bool is_answered = self->response && self->response->exchange.ended;
    if (!is_answered && !http_connection_charge_request(self)) {
        connection_refuse(self, 429, HTTP_NO_MEMORY);
        return size;
    }
    if (result == HTTP_PARSE_DONE)
        connection_start_response(self);
    return used;
}

static bool may_read(const struct http_connection *self)
{
    return is_reading(self) && stream_pending(self->stream) < OUT_HIGH;
}

/* Parses as many requests from these bytes as the state allows. Returns the number of bytes that
 * were consumed. */
static size_t take_requests(struct http_connection *self, const char *data, size_t size)
{
    size_t used = 0;
    for (int requests = 0; used < size && may_read(self);) {
        if (state_of(self) == IDLE && requests++ == REQUESTS_PER_TURN) {
            loop_defer(self->service->loop, &self->task);
            break;
        }
        used += connection_parse(self, data + used, size - used);
    }
    return used;
}

/* Ends a complete response, then parses the requests that were received during it. */
static void connection_continue(struct http_connection *self)
{
    if (self->response && self->response->exchange.ended)
        connection_end_response(self);
    if (self->in.size) {
        /* Work on a local buffer, because a handler may close the connection. */
        struct buf in = self->in;
        buf_init(&self->in, IN_MAX + IN_MAX);
        size_t used = take_requests(self, in.data, in.size);
        if (used < in.size && state_of(self) != CLOSED && state_of(self) != FINISHING)
            buf_append(&self->in, in.data + used, in.size - used);
        buf_release(&in);
        http_connection_charge_ahead(self); /* a failure needs no action: `in` did not grow */
    }
    if (!is_http(self))
        return;
    if (self->peer_ended && is_reading(self) && !self->in.size)
        connection_finish(self);
    else
        stream_pause(self->stream, self->in.size >= IN_MAX);
}

static void on_connection_task(struct loop_task *task)
{
    connection_continue(CONTAINER_OF(task, struct http_connection, task));
}

static void on_connection_timer(struct loop_timer *timer)
{
    struct http_connection *self = CONTAINER_OF(timer, struct http_connection, timer);
    switch (state_of(self)) {
    case READING_HEAD:
        connection_refuse(self, 408, "the request's header took too long");
        break;
    case READING_BODY:
        connection_refuse(self, 408, "the request's body took too long");
        break;
    case IDLE:
        connection_finish(self);
        break;
    default:
        http_connection_close(self);
    }
}

/* ---- callbacks of the stream ----------------------------------------------------------------- */

static void on_connection_open(void *context)
{
    struct http_connection *self = context;
    connection_move(self, IDLE);
    /* Until the first request, the time limit is the same as for a slow header. */
    loop_timer_start(&self->timer, self->service->header_timeout_ms);
}

static void on_connection_data(void *context, const char *data, size_t size)
{
    struct http_connection *self = context;
    size_t used = self->in.size ? 0 : take_requests(self, data, size);
    if (used == size || state_of(self) == CLOSED || state_of(self) == FINISHING)
        return;
    buf_append(&self->in, data + used, size - used);
    if (self->in.overflowed || /* the stream delivered too many bytes after it was paused */
        !http_connection_charge_ahead(self))
        http_connection_close(self);
    else if (self->in.size >= IN_MAX)
        stream_pause(self->stream, true);
}

static void on_connection_sent(void *context)
{
    struct http_connection *self = context;
    struct http_response *response = self->response;
    http_connection_reduce_charge(self, true);
    if (response && !response->exchange.ended && response->exchange.on_drain)
        response->exchange.on_drain(&response->exchange);
    else if (!response || state_of(self) == READING_BODY)
        connection_continue(self);
}

static void on_connection_end(void *context, const struct err *err)
{
    struct http_connection *self = context;
    self->peer_ended = true;
    /* A peer may close its sending side and still wait for the response. For a streamed response,
     * such as a watch, the peer counts as gone. */
    int state = state_of(self);
    bool streams =
        state == ANSWERING && !self->response->exchange.ended && self->response->exchange.on_cancel;
    if (err || streams || state == OPENING)
        http_connection_close(self);
    else if (state != ANSWERING)
        connection_continue(self);
}

void http_connection_gone(struct http_connection *self)
{
    struct http_service *service = self->service;
    if (state_of(self) != CLOSED)
        connection_move(self, CLOSED);
    if (self->response) /* the stream of an upgrade was closed in the same turn */
        self->spare = http_response_free(TAKE(self->response));
    loop_defer_cancel(service->loop, &self->task);
    http_connection_forget_payer(self);
    list_remove(&self->link);
    service->connection_count--;
    arena_free(self->parse.arena);
    arena_free(self->spare);
    http_parse_release(&self->parse);
    buf_release(&self->in);
    free(self->peer);
    state_machine_release(&self->life);
    free(self);
    service->on_closed(service);
}

static void on_connection_closed(void *context)
{
    http_connection_gone(context);
}

static const struct stream_handler STREAM_HANDLER = {
    .on_open = on_connection_open,
    .on_data = on_connection_data,
    .on_sent = on_connection_sent,
    .on_end = on_connection_end,
    .on_closed = on_connection_closed,
};

void http_connection_new(struct http_service *service, struct stream *stream, const char *peer)
{
    struct http_connection *self = mem_zalloc(sizeof(*self));
    self->service = service;
    self->stream = stream;
    self->peer = mem_strdup(peer);
    self->task.callback = on_connection_task;
    loop_timer_init(service->loop, &self->timer, on_connection_timer);
    state_machine_init(&self->life, "http connection", STATES, ARRAY_SIZE(STATES), OPENING);
    http_parse_init(&self->parse, service->header_max, 0);
    buf_init(&self->in, IN_MAX + IN_MAX);
    list_push(&service->connections, &self->link);
    service->connection_count++;
    loop_timer_start(&self->timer, service->handshake_timeout_ms);
    stream_start(stream, &STREAM_HANDLER, self);
}

bool http_service_drop_waiting(struct http_service *service)
{
    struct http_connection *longest = NULL;
    LIST_EACH (struct http_connection, each, &service->connections, link)
        if (state_of(each) == OPENING || state_of(each) == IDLE || state_of(each) == READING_HEAD)
            longest = each;
    if (longest)
        http_connection_close(longest);
    return longest;
}

const char *http_service_refusal(struct http_service *service, int status, const char *sentence,
                                 struct buf *body)
{
    buf_init(body, 4096);
    if (service->write_refusal)
        service->write_refusal(status, sentence, body);
    else
        buf_printf(body, "%s\n", sentence);
    return service->write_refusal ? "application/json" : "text/plain; charset=utf-8";
}

const char *http_service_date(struct http_service *service)
{
    int64_t second = loop_wall_ms(service->loop) / 1000;
    if (second != service->date_second) {
        service->date_second = second;
        struct tm parts;
        time_t time = (time_t)second;
        strftime(service->date, sizeof(service->date), "%a, %d %b %Y %H:%M:%S GMT",
                 gmtime_r(&time, &parts));
    }
    return service->date;
}
