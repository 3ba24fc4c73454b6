/* Parses the response of the pod's server piece by piece with the library http-parser, and limits
 * the size of its headers; see http_proxy.h. */
#include "engine/stream/http_proxy.h"

#include "base/mem.h"
#include "base/str.h"

#include <limits.h>

enum { HEADER_MAX = 64 * 1024, LINES_MAX = 256 };

static struct http_proxy_answer *http_proxy_answer_of(http_parser *parser)
{
    return parser->data;
}

static int http_proxy_answer_reject(struct http_proxy_answer *self, const char *why)
{
    err_set(&self->err, ERR_TOO_LARGE, "malformed HTTP response: %s", why);
    return -1;
}

/* Called when the header that is being read is complete. Adds it to the headers. */
static void end_header_line(struct http_proxy_answer *self)
{
    self->in_value = false;
    if (self->name.size)
        http_header_add(
            self->arena, &self->headers,
            arena_strndup(self->arena, self->name.data, self->name.size),
            arena_strndup(self->arena, self->value.data ? self->value.data : "", self->value.size));
    buf_clear(&self->name);
    buf_clear(&self->value);
}

static int count_bytes(struct http_proxy_answer *self, size_t size)
{
    self->header_size += size;
    return self->header_size > HEADER_MAX
               ? http_proxy_answer_reject(self, "its header is longer than 64 KiB")
               : 0;
}

static int on_message_begin(http_parser *parser)
{
    struct http_proxy_answer *self = http_proxy_answer_of(parser);
    self->headers = NULL;
    self->header_count = 0;
    return 0;
}

static int on_http_proxy_answer_status(http_parser *parser, const char *data, size_t size)
{
    return count_bytes(http_proxy_answer_of(parser), size);
}

static int on_field(http_parser *parser, const char *data, size_t size)
{
    struct http_proxy_answer *self = http_proxy_answer_of(parser);
    if (self->in_value || !self->name.size) {
        end_header_line(self);
        if (++self->header_count > LINES_MAX)
            return http_proxy_answer_reject(self, "its header has more than 256 lines");
    }
    buf_append(&self->name, data, size);
    return count_bytes(self, size);
}

static int on_value(http_parser *parser, const char *data, size_t size)
{
    struct http_proxy_answer *self = http_proxy_answer_of(parser);
    self->in_value = true; /* even if the value is empty */
    buf_append(&self->value, data, size);
    return count_bytes(self, size);
}

static int64_t length_of(const http_parser *parser)
{
    if (parser->flags & F_CHUNKED || parser->content_length == ULLONG_MAX ||
        parser->content_length > INT64_MAX)
        return -1;
    return (int64_t)parser->content_length;
}

static int on_headers_complete(http_parser *parser)
{
    enum { NO_BODY = 1 };
    struct http_proxy_answer *self = http_proxy_answer_of(parser);
    int status = (int)parser->status_code;
    end_header_line(self);
    if (status < 200 && status != 101)
        return NO_BODY; /* a 1xx status such as "100 Continue" comes before the final response */
    self->head_done = true;
    self->switched = status == 101;
    self->handler->on_head(self->context, status, self->headers, length_of(parser));
    return self->no_body || self->switched ? NO_BODY : 0;
}

static int on_http_proxy_answer_body(http_parser *parser, const char *data, size_t size)
{
    struct http_proxy_answer *self = http_proxy_answer_of(parser);
    self->handler->on_body(self->context, data, size);
    return 0;
}

static int on_message_complete(http_parser *parser)
{
    struct http_proxy_answer *self = http_proxy_answer_of(parser);
    if (!self->head_done)
        return 0;
    self->whole = true;
    http_parser_pause(parser, 1); /* further bytes do not belong to the response */
    return 0;
}

static const http_parser_settings SETTINGS = {
    .on_message_begin = on_message_begin,
    .on_status = on_http_proxy_answer_status,
    .on_header_field = on_field,
    .on_header_value = on_value,
    .on_headers_complete = on_headers_complete,
    .on_body = on_http_proxy_answer_body,
    .on_message_complete = on_message_complete,
};

void http_proxy_answer_init(struct http_proxy_answer *answer, bool no_body,
                            const struct http_proxy_answer_handler *handler, void *context)
{
    *answer = (struct http_proxy_answer){
        .handler = handler, .context = context, .no_body = no_body, .arena = arena_new()};
    http_parser_init(&answer->parser, HTTP_RESPONSE);
    answer->parser.data = answer;
    buf_init(&answer->name, HEADER_MAX + 1);
    buf_init(&answer->value, HEADER_MAX + 1);
}

void http_proxy_answer_release(struct http_proxy_answer *answer)
{
    buf_release(&answer->name);
    buf_release(&answer->value);
    answer->arena = arena_free(answer->arena);
}

static int http_proxy_answer_check(struct http_proxy_answer *self, struct err *err)
{
    enum http_errno code = HTTP_PARSER_ERRNO(&self->parser);
    if (code == HPE_OK || code == HPE_PAUSED)
        return 0;
    if (self->err.code)
        return err_set(err, self->err.code, "%s", self->err.message);
    return err_set(err, ERR_BAD_REQUEST, "malformed HTTP response: %s",
                   http_errno_description(code));
}

int http_proxy_answer_feed(struct http_proxy_answer *answer, const char *data, size_t size,
                           size_t *ret_used, struct err *err)
{
    *ret_used = 0;
    if (answer->whole)
        return 0;
    *ret_used = http_parser_execute(&answer->parser, &SETTINGS, data, size);
    return http_proxy_answer_check(answer, err);
}

int http_proxy_answer_end(struct http_proxy_answer *answer, struct err *err)
{
    if (!answer->whole)
        http_parser_execute(&answer->parser, &SETTINGS, NULL, 0);
    int result = http_proxy_answer_check(answer, err);
    if (result == 0 && !answer->whole)
        result = err_set(err, ERR_UNAVAILABLE, "EOF");
    return result;
}
