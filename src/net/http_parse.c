/* Requests out of bytes; see http_parse.h. Whatever could be read in two ways is refused, so that
 * no proxy before us and we after it can disagree where a request ends. */
#include "net/http_parse.h"

#include "base/str.h"
#include "net/http_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HEADERS_MAX = 256, LINE_COST = 4 /* what a header line costs beside its text */ };

static struct http_parse *self_of(http_parser *parser)
{
    return parser->data;
}

/* Remember why; the non-zero result stops http-parser. */
static int refuse(struct http_parse *self, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(struct http_parse *self, int status, const char *format, ...)
{
    self->refusal_status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(self->refusal, sizeof(self->refusal), format, args);
    va_end(args);
    return -1;
}

static char *take_token(struct http_parse *self)
{
    char *text = arena_strndup(self->arena, self->token.data, self->token.size);
    buf_clear(&self->token);
    return text;
}

static int add_to_token(struct http_parse *self, const char *data, size_t size)
{
    self->header_size += size;
    if (self->header_size > self->header_max)
        return refuse(self, 431, "the header is longer than %zu bytes", self->header_max);
    buf_append(&self->token, data, size);
    return 0;
}

/* ---- the request line ------------------------------------------------------------------------ */

static bool has_bad_escape(const char *text, size_t size)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    for (const char *at = memchr(text, '%', size); at;
         at = memchr(at + 1, '%', size - (size_t)(at + 1 - text))) {
        size_t left = size - (size_t)(at - text);
        if (left < 3 || !memchr(digits, at[1], sizeof(digits) - 1) ||
            !memchr(digits, at[2], sizeof(digits) - 1) || (at[1] == '0' && at[2] == '0'))
            return true;
    }
    return false;
}

/* The target in origin form ("/path?query") or absolute form ("http://host/path?query"). */
static int set_target(struct http_parse *self)
{
    const char *target = take_token(self);
    if (target[0] != '/' && strcmp(target, "*") != 0) {
        const char *authority = strstr(target, "://");
        const char *path = authority ? strpbrk(authority + 3, "/?#") : NULL;
        target = path ? path : "/";
        if (!authority)
            return refuse(self, 400, "the request's target must begin with '/'");
    }
    size_t size = strcspn(target, "#");
    const char *mark = memchr(target, '?', size);
    size_t path_size = mark ? (size_t)(mark - target) : size;
    if (has_bad_escape(target, path_size))
        return refuse(self, 400, "the request's path has an escape that is not allowed");
    self->request.path =
        path_size ? http_percent_decode(self->arena, target, path_size, false) : "/";
    self->request.query = mark ? arena_strndup(self->arena, mark + 1, size - path_size - 1) : "";
    return 0;
}

static int on_url(http_parser *parser, const char *data, size_t size)
{
    return add_to_token(self_of(parser), data, size);
}

/* ---- header lines ---------------------------------------------------------------------------- */

static int end_line(struct http_parse *self)
{
    if (!self->request.path) { /* the token is the target still */
        int result = set_target(self);
        if (result)
            return result;
    }
    if (!self->field)
        return 0;
    self->header_size += LINE_COST;
    if (++self->header_count > HEADERS_MAX)
        return refuse(self, 431, "the request has more than %d header lines", HEADERS_MAX);
    while (self->token.size && strchr(" \t", self->token.data[self->token.size - 1]))
        self->token.size--;
    struct http_header *header = ARENA_NEW(self->arena, struct http_header);
    header->name = self->field;
    header->value = take_token(self);
    *self->last_header = header;
    self->last_header = &header->next;
    self->field = NULL;
    self->value_seen = false;
    return 0;
}

static int on_header_field(http_parser *parser, const char *data, size_t size)
{
    struct http_parse *self = self_of(parser);
    if (self->head_done) /* a trailer: it has no say in what was decided by the header */
        return 0;
    if (!self->request.path || self->value_seen) {
        int result = end_line(self);
        if (result)
            return result;
    }
    return add_to_token(self, data, size);
}

static int on_header_value(http_parser *parser, const char *data, size_t size)
{
    struct http_parse *self = self_of(parser);
    if (self->head_done)
        return 0;
    if (!self->value_seen) {
        self->value_seen = true;
        self->field = take_token(self);
    }
    return add_to_token(self, data, size);
}

static size_t count_headers(const struct http_header *headers, const char *name)
{
    size_t count = 0;
    for (; headers; headers = headers->next)
        count += str_eq_nocase(headers->name, name);
    return count;
}

/* How the body's end is told must be beyond doubt. */
static int check_framing(struct http_parse *self)
{
    const struct http_header *headers = self->request.headers;
    size_t lengths = count_headers(headers, "Content-Length");
    size_t encodings = count_headers(headers, "Transfer-Encoding");
    if (lengths + encodings > 1)
        return refuse(self, 400, "the request tells its length more than once");
    if (encodings && self->parser.http_minor == 0)
        return refuse(self, 400, "a request of HTTP/1.0 cannot have a transfer encoding");
    const char *encoding = http_header_get(headers, "Transfer-Encoding");
    if (encoding && !str_eq_nocase(encoding, "chunked"))
        return refuse(self, 501, "no transfer encoding but 'chunked' is supported");
    const char *length = http_header_get(headers, "Content-Length");
    if (length && (!*length || strspn(length, "0123456789") != strlen(length)))
        return refuse(self, 400, "the request's Content-Length is not a number");
    if (length && self->parser.content_length > self->body_max)
        return refuse(self, 413, "the request's body is longer than %zu bytes", self->body_max);
    return 0;
}

static int on_headers_complete(http_parser *parser)
{
    struct http_parse *self = self_of(parser);
    int result = end_line(self);
    if (result)
        return result;
    self->head_done = true;
    self->request.method = http_method_str((enum http_method)parser->method);
    if (parser->http_major != 1 || parser->http_minor > 1)
        return refuse(self, 505, "HTTP/1.0 and HTTP/1.1 are spoken here, not HTTP/%d.%d",
                      parser->http_major, parser->http_minor);
    if (parser->method == HTTP_CONNECT)
        return refuse(self, 501, "CONNECT is not supported: this is no proxy");
    size_t hosts = count_headers(self->request.headers, "Host");
    if (hosts > 1 || (hosts == 0 && parser->http_minor > 0))
        return refuse(self, 400, "the request must have exactly one Host header");
    result = check_framing(self);
    if (result)
        return result;
    const char *expect = http_header_get(self->request.headers, "Expect");
    if (expect && !str_eq_nocase(expect, "100-continue"))
        return refuse(self, 417, "no expectation but '100-continue' can be met");
    self->wants_continue = expect && parser->http_minor > 0;
    /* Offers of another protocol are for the answerer to see in the headers; here the request goes
     * on as HTTP. */
    parser->upgrade = 0;
    return 0;
}

/* ---- the body -------------------------------------------------------------------------------- */

static int on_body(http_parser *parser, const char *data, size_t size)
{
    struct http_parse *self = self_of(parser);
    buf_append(&self->body, data, size);
    if (self->body.overflowed)
        return refuse(self, 413, "the request's body is longer than %zu bytes", self->body_max);
    return 0;
}

static int on_message_complete(http_parser *parser)
{
    struct http_parse *self = self_of(parser);
    self->keep_alive = http_should_keep_alive(parser);
    self->request.body = self->body.data;
    self->request.body_size = self->body.size;
    /* What follows is the next request, and not to be looked at before this one is answered. */
    http_parser_pause(parser, 1);
    return 0;
}

static const http_parser_settings SETTINGS = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

/* ---- the caller's side ----------------------------------------------------------------------- */

void http_parse_init(struct http_parse *self, size_t header_max, size_t body_max)
{
    *self = (struct http_parse){.header_max = header_max, .body_max = body_max};
    buf_init(&self->token, header_max);
    buf_init(&self->body, body_max);
}

void http_parse_release(struct http_parse *self)
{
    buf_release(&self->token);
    buf_release(&self->body);
}

void http_parse_start(struct http_parse *self, struct arena *arena)
{
    http_parser_init(&self->parser, HTTP_REQUEST);
    self->parser.data = self;
    self->arena = arena;
    self->request = (struct http_request){0};
    self->last_header = &self->request.headers;
    self->field = NULL;
    buf_clear(&self->token);
    buf_clear(&self->body);
    self->value_seen = self->head_done = self->wants_continue = self->keep_alive = false;
    self->header_size = self->header_count = 0;
    self->refusal_status = 0;
}

enum http_parse_result http_parse_feed(struct http_parse *self, const char *data, size_t size,
                                       size_t *ret_used)
{
    *ret_used = size;
    if (size == 0) /* to http-parser this is the end of the connection */
        return HTTP_PARSE_MORE;
    *ret_used = http_parser_execute(&self->parser, &SETTINGS, data, size);
    enum http_errno error = HTTP_PARSER_ERRNO(&self->parser);
    if (self->refusal_status)
        return HTTP_PARSE_REFUSED;
    if (error == HPE_PAUSED)
        return HTTP_PARSE_DONE;
    if (error == HPE_OK)
        return HTTP_PARSE_MORE;
    if (error == HPE_HEADER_OVERFLOW)
        refuse(self, 431, "the header is longer than %zu bytes", self->header_max);
    else
        refuse(self, 400, "the request is not HTTP/1.1: %s", http_errno_description(error));
    return HTTP_PARSE_REFUSED;
}
