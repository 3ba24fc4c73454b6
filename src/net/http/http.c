/* Query parameters, and the public functions of servers and clients; see http.h. This file only
 * checks the calls. The transports transfer the bytes, and this file calls them through tables of
 * functions. */
#include "net/http/http.h"

#include "base/mem.h"
#include "base/str.h"
#include "net/http/internal.h"

#include <string.h>

struct http_request http_request_copy(struct arena *arena, const struct http_request *request)
{
    return (struct http_request){
        .method = arena_strdup(arena, request->method),
        .path = arena_strdup(arena, request->path),
        .query = arena_strdup(arena, request->query ? request->query : ""),
        .headers = http_headers_copy(arena, request->headers),
        .body = arena_strndup(arena, request->body ? request->body : "", request->body_size),
        .body_size = request->body_size,
    };
}

void http_add_bearer(struct arena *arena, struct http_header **headers, const char *bearer)
{
    if (bearer && !http_header_get(*headers, "Authorization"))
        http_header_add(arena, headers, "Authorization", arena_printf(arena, "Bearer %s", bearer));
}

/* ---- percent escapes and queries ------------------------------------------------------------- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

char *http_percent_decode(struct arena *arena, const char *text, size_t size, bool plus_is_space)
{
    char *decoded = arena_alloc(arena, size + 1), *end = decoded;
    for (size_t i = 0; i < size; i++) {
        int high = text[i] == '%' && size - i > 2 ? hex_value(text[i + 1]) : -1;
        int low = high >= 0 ? hex_value(text[i + 2]) : -1;
        if (low >= 0 && (high || low)) {
            *end++ = (char)(high << 4 | low);
            i += 2;
        } else {
            *end++ = text[i] == '+' && plus_is_space ? ' ' : text[i];
        }
    }
    *end = '\0';
    return decoded;
}

/* Escapes all characters except letters, digits and the characters in `kept`. */
static char *percent_encode(struct arena *arena, const char *text, const char *kept)
{
    static const char digits[] = "0123456789ABCDEF";
    char *encoded = arena_alloc(arena, strlen(text) * 3 + 1), *end = encoded;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            strchr(kept, c)) {
            *end++ = (char)c;
        } else {
            *end++ = '%';
            *end++ = digits[c >> 4];
            *end++ = digits[c & 15];
        }
    }
    *end = '\0';
    return encoded;
}

char *http_query_encode(struct arena *arena, const char *value)
{
    return percent_encode(arena, value, "-._~");
}

char *http_path_encode(struct arena *arena, const char *path)
{
    return percent_encode(arena, path, "-._~/:@!$&'()*+,;=");
}

/* Returns whether `text` is an encoded form of `name`. Compares without a copy, because most
 * parameters of a query do not match. */
static bool query_is_name(const char *text, size_t size, const char *name)
{
    size_t i = 0;
    for (; i < size && *name; i++, name++) {
        char c = text[i] == '+' ? ' ' : text[i];
        if (c == '%' && size - i > 2 && hex_value(text[i + 1]) >= 0 &&
            hex_value(text[i + 2]) >= 0) {
            c = (char)(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
            i += 2;
        }
        if (c != *name)
            return false;
    }
    return i == size && !*name;
}

const char *http_query_get_nth(struct arena *arena, const char *query, const char *name, size_t n)
{
    while (query && *query) {
        size_t size = strcspn(query, "&");
        const char *equals = memchr(query, '=', size);
        size_t name_size = equals ? (size_t)(equals - query) : size;
        if (size && query_is_name(query, name_size, name) && n-- == 0)
            return equals ? http_percent_decode(arena, equals + 1, size - name_size - 1, true) : "";
        query += size + (query[size] == '&');
    }
    return NULL;
}

const char *http_query_get(struct arena *arena, const char *query, const char *name)
{
    return http_query_get_nth(arena, query, name, 0);
}

bool http_query_flag(const char *query, const char *name)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *value = http_query_get(arena, query, name);
    return value && !str_eq(value, "0") && !str_eq_nocase(value, "false");
}

const char *http_status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } texts[] = {
        {100, "Continue"},
        {101, "Switching Protocols"},
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (texts[i].status == status)
            return texts[i].text;
    return "Unknown";
}

/* ---- the server side ------------------------------------------------------------------------- */

void http_begin(struct http_exchange *exchange, int status, const char *content_type,
                const struct http_header *more, int64_t length)
{
    if (exchange->begun)
        mem_panic("http: the response to %s %s begins twice", exchange->request->method,
                  exchange->request->path);
    exchange->begun = true;
    struct http_header type = {"Content-Type", content_type, (struct http_header *)more};
    exchange->ops->begin(exchange, status, content_type ? &type : more, length);
}

void http_write(struct http_exchange *exchange, const void *data, size_t size)
{
    if (!exchange->begun || exchange->ended)
        mem_panic("http: the response to %s %s is written before it begins or after it ends",
                  exchange->request->method, exchange->request->path);
    if (size) /* an empty chunk would end the response */
        exchange->ops->write(exchange, data, size);
}

void http_end(struct http_exchange *exchange)
{
    if (!exchange->begun || exchange->ended)
        mem_panic("http: the response to %s %s ends twice or before it begins",
                  exchange->request->method, exchange->request->path);
    exchange->ended = true;
    exchange->ops->end(exchange);
}

void http_abort(struct http_exchange *exchange)
{
    if (!exchange->begun || exchange->ended)
        mem_panic("http: the response to %s %s is aborted before it begins or after it ends",
                  exchange->request->method, exchange->request->path);
    exchange->ended = true;
    (exchange->ops->abort ? exchange->ops->abort : exchange->ops->end)(exchange);
}

bool http_reserve(struct http_exchange *exchange, size_t size)
{
    return !exchange->ops->reserve || exchange->ops->reserve(exchange, size);
}

size_t http_pending(struct http_exchange *exchange)
{
    return exchange->ops->pending(exchange);
}

int http_upgrade(struct http_exchange *exchange, const char *protocol,
                 const struct http_header *headers, struct stream **ret, struct err *err)
{
    struct stream *stream =
        exchange->ops->upgrade ? exchange->ops->upgrade(exchange, protocol, headers) : NULL;
    if (!stream)
        return err_set(err, ERR_BAD_REQUEST, "this connection cannot be upgraded to %s", protocol);
    exchange->begun = exchange->ended = true;
    *ret = stream;
    return 0;
}

void http_respond(struct http_exchange *exchange, int status, const char *content_type,
                  const void *body, size_t size)
{
    http_begin(exchange, status, content_type, NULL, (int64_t)size);
    http_write(exchange, body, size);
    http_end(exchange);
}

/* ---- the client side ------------------------------------------------------------------------- */

struct http_call *http_start(struct http_transport *transport, const struct http_request *request,
                             int64_t timeout_ms, const struct http_callbacks *callbacks,
                             void *context)
{
    return transport->ops->start(transport, request, timeout_ms, callbacks, context);
}

void http_cancel(struct http_transport *transport, struct http_call *call)
{
    if (call->transport != transport)
        mem_panic("http: call cancelled on another transport");
    transport->ops->cancel(transport, call);
}

struct http_transport *http_transport_free(struct http_transport *transport)
{
    if (transport)
        transport->ops->free(transport);
    return NULL;
}
