/* Writes responses as HTTP/1.1; see response.h. Handlers use it through http_begin(), http_write()
 * and http_end(). A handler cannot write into another response: control characters in header values
 * become spaces, surplus bytes are dropped, and after too few bytes the connection is closed. */
#include "net/http/response.h"

#include "base/mem.h"
#include "base/str.h"
#include "net/http/connection.h"

#include <stdio.h>
#include <string.h>

static struct http_response *response_of(struct http_exchange *exchange)
{
    return CONTAINER_OF(exchange, struct http_response, exchange);
}

static void response_refuse(struct http_exchange *exchange);

/* Writes one header line. Control characters in the value become spaces, because a line break would
 * start another header or another response. */
static void write_header(struct buf *head, const char *name, const char *value)
{
    buf_printf(head, "%s: ", name);
    for (; *value; value++)
        buf_append_char(head, (unsigned char)*value < ' ' && *value != '\t' ? ' ' : *value);
    buf_append_str(head, "\r\n");
}

/* Writes the headers that tell the client where the response ends. */
static void write_framing(struct http_response *response, struct buf *head, int status,
                          int64_t length)
{
    bool never_has_body = status == 204 || status == 304 || status < 200;
    response->no_body = never_has_body || str_eq(response->request.method, "HEAD");
    response->left = length;
    if (never_has_body)
        response->left = -1;
    else if (length >= 0)
        buf_printf(head, "Content-Length: %lld\r\n", (long long)length);
    else if (response->minor > 0)
        response->chunked = !response->no_body;
    else
        response->keep_alive = false; /* closing the connection ends the response */
    if (response->chunked)
        buf_append_str(head, "Transfer-Encoding: chunked\r\n");
    if (!response->keep_alive)
        buf_append_str(head, "Connection: close\r\n");
    else if (response->minor == 0)
        buf_append_str(head, "Connection: keep-alive\r\n");
}

static void response_begin(struct http_exchange *exchange, int status,
                           const struct http_header *headers, int64_t length)
{
    struct http_response *response = response_of(exchange);
    if (!response->connection)
        return;
    /* Only a GET is refused here, because the client can repeat it safely. A handler with on_drain
     * writes in pieces, so it never needs memory for the whole response. */
    if (length > 0 && str_eq(response->request.method, "GET") && !exchange->on_drain &&
        !http_connection_charge_response(response->connection, (size_t)length)) {
        response_refuse(exchange);
        return;
    }
    struct buf head;
    buf_init(&head, 1024 * 1024);
    buf_printf(&head, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, http_status_text(status),
               http_service_date(response->connection->service));
    for (; headers; headers = headers->next)
        write_header(&head, headers->name, headers->value);
    write_framing(response, &head, status, length);
    buf_append_str(&head, "\r\n");
    stream_write(response->connection->stream, head.data, head.size);
    buf_release(&head);
}

static void write_data(struct http_exchange *exchange, const void *data, size_t size)
{
    struct http_response *response = response_of(exchange);
    if (response->left >= 0 && (uint64_t)response->left < size)
        size = (size_t)response->left; /* more bytes would be taken for the next response */
    if (response->left >= 0)
        response->left -= (int64_t)size;
    if (!response->connection || response->no_body || size == 0)
        return;
    struct stream *stream = response->connection->stream;
    char line[32];
    if (response->chunked)
        stream_write(stream, line, (size_t)snprintf(line, sizeof(line), "%zx\r\n", size));
    stream_write(stream, data, size);
    if (response->chunked)
        stream_write(stream, "\r\n", 2);
    http_connection_charge_written(response->connection);
}

/* Sends 429 instead of a response for which there is no room. The bytes that the handler writes
 * later are dropped. */
static void response_refuse(struct http_exchange *exchange)
{
    struct http_response *response = response_of(exchange);
    struct buf body;
    struct http_header retry = {"Retry-After", HTTP_RETRY_AFTER_S, NULL};
    struct http_header type = {"Content-Type", NULL, &retry};
    type.value = http_service_refusal(response->connection->service, 429, HTTP_NO_MEMORY, &body);
    response_begin(exchange, 429, &type, (int64_t)body.size);
    write_data(exchange, body.data, body.size);
    response->no_body = true;
    buf_release(&body);
}

static void response_end(struct http_exchange *exchange)
{
    struct http_response *response = response_of(exchange);
    if (!response->connection) {
        arena_free(http_response_free(response));
        return;
    }
    if (response->chunked)
        stream_write(response->connection->stream, "0\r\n\r\n", 5);
    http_connection_response_ended(response->connection);
}

/* Leaves the response incomplete, so that the connection is closed. */
static void response_abort(struct http_exchange *exchange)
{
    struct http_response *response = response_of(exchange);
    response->chunked = response->no_body = false;
    response->left = 1;
    response_end(exchange);
}

static bool response_reserve(struct http_exchange *exchange, size_t size)
{
    struct http_response *response = response_of(exchange);
    return response->connection && http_connection_charge_response(response->connection, size);
}

static size_t response_pending(struct http_exchange *exchange)
{
    struct http_response *response = response_of(exchange);
    return response->connection ? stream_pending(response->connection->stream) : 0;
}

static struct stream *response_upgrade(struct http_exchange *exchange, const char *protocol,
                                       const struct http_header *headers)
{
    struct http_response *response = response_of(exchange);
    struct http_connection *connection = response->connection;
    if (!connection)
        return NULL;
    struct buf head;
    buf_init(&head, 1024 * 1024);
    buf_printf(&head, "HTTP/1.1 101 %s\r\nDate: %s\r\nConnection: Upgrade\r\n",
               http_status_text(101), http_service_date(connection->service));
    write_header(&head, "Upgrade", protocol);
    for (; headers; headers = headers->next)
        write_header(&head, headers->name, headers->value);
    buf_append_str(&head, "\r\n");
    stream_write(connection->stream, head.data, head.size);
    buf_release(&head);
    struct stream *stream = http_connection_upgrade(connection);
    http_connection_response_ended(connection);
    return stream;
}

static const struct http_exchange_ops OPS = {
    .begin = response_begin,
    .write = write_data,
    .end = response_end,
    .abort = response_abort,
    .reserve = response_reserve,
    .pending = response_pending,
    .upgrade = response_upgrade,
};

struct http_response *http_response_new(struct http_connection *connection)
{
    struct http_parse *parse = &connection->parse;
    struct http_response *response = ARENA_NEW(parse->arena, struct http_response);
    response->connection = connection;
    response->arena = parse->arena;
    response->request = parse->request;
    response->request.peer = arena_strdup(parse->arena, connection->peer);
    response->request.body = "";
    buf_init(&response->body, 0);
    response->minor = parse->minor;
    response->keep_alive = parse->keep_alive;
    response->left = -1;
    response->exchange = (struct http_exchange){.ops = &OPS,
                                                .request = &response->request,
                                                .arena = response->arena,
                                                .body_max = connection->service->body_max};
    parse->arena = NULL;
    return response;
}

void http_response_take_body(struct http_response *response)
{
    struct http_parse *parse = &response->connection->parse;
    response->body = parse->body;
    buf_init(&parse->body, parse->body_max);
    response->request.body = response->body.data;
    response->request.body_size = response->body.size;
}

struct arena *http_response_free(struct http_response *response)
{
    enum { KEPT_MAX = 64 * 1024 };
    struct arena *arena = response->arena;
    buf_release(&response->body);
    if (arena_used(arena) > KEPT_MAX)
        return arena_free(arena);
    arena_reset(arena);
    return arena;
}

void http_response_abandon(struct http_response *response)
{
    response->connection = NULL;
    if (response->handled && !response->exchange.ended) {
        if (!response->exchange.on_cancel)
            return;
        response->exchange.on_cancel(&response->exchange);
    }
    arena_free(http_response_free(response));
}
