/* Parses HTTP responses; see response_reader.h. */
#include "net/http/response_reader.h"

#include <string.h>

enum { HEADER_MAX = 16 * 1024 };

static struct http_response_reader *reader_of(http_parser *parser)
{
    return parser->data;
}

static int on_header_bytes(http_parser *parser, const char *data, size_t size)
{
    struct http_response_reader *self = reader_of(parser);

    self->header_size += size;
    if (self->header_size > HEADER_MAX) {
        err_set(&self->err, ERR_TOO_LARGE, "the header of the response is longer than %d bytes",
                HEADER_MAX);
        return -1;
    }
    return 0;
}

static int on_headers_complete(http_parser *parser)
{
    struct http_response_reader *self = reader_of(parser);

    /* "100 Continue" and other 1xx responses come before the final response. */
    if (parser->status_code >= 200)
        self->status = (int)parser->status_code;
    return 0;
}

static int on_reader_body(http_parser *parser, const char *data, size_t size)
{
    struct http_response_reader *self = reader_of(parser);

    buf_append(&self->body, data, size);
    if (self->body.overflowed) {
        err_set(&self->err, ERR_TOO_LARGE, "the response is larger than %zu bytes", self->body.max);
        return -1;
    }
    return 0;
}

static int on_message_complete(http_parser *parser)
{
    struct http_response_reader *self = reader_of(parser);

    if (self->status == 0)
        return 0;
    self->whole = true;
    http_parser_pause(parser, 1); /* stop at the end of the response */
    return 0;
}

static const http_parser_settings SETTINGS = {
    .on_status = on_header_bytes,
    .on_header_field = on_header_bytes,
    .on_header_value = on_header_bytes,
    .on_headers_complete = on_headers_complete,
    .on_body = on_reader_body,
    .on_message_complete = on_message_complete,
};

void http_response_reader_init(struct http_response_reader *reader, size_t body_max)
{
    *reader = (struct http_response_reader){0};
    http_parser_init(&reader->parser, HTTP_RESPONSE);
    reader->parser.data = reader;
    buf_init(&reader->body, body_max);
}

void http_response_reader_release(struct http_response_reader *reader)
{
    buf_release(&reader->body);
}

static int reader_execute(struct http_response_reader *reader, const char *data, size_t size,
                          struct err *err)
{
    if (reader->whole)
        return 0;
    http_parser_execute(&reader->parser, &SETTINGS, data, size);
    enum http_errno parser_error = HTTP_PARSER_ERRNO(&reader->parser);
    if (reader->whole)
        return 0;
    if (reader->parser.upgrade)
        return err_set(err, ERR_BAD_REQUEST, "the server switched to another protocol");
    if (parser_error == HPE_OK)
        return 0;
    if (reader->err.code == ERR_NONE)
        err_set(&reader->err, ERR_BAD_REQUEST, "the response is not HTTP (%s)",
                http_errno_description(parser_error));
    if (err)
        *err = reader->err;
    return -(int)reader->err.code;
}

int http_response_reader_feed(struct http_response_reader *reader, const char *data, size_t size,
                              struct err *err)
{
    return size ? reader_execute(reader, data, size, err) : 0;
}

int http_response_reader_end(struct http_response_reader *reader, struct err *err)
{
    int result = reader_execute(reader, NULL, 0, err);

    if (result < 0 || reader->whole)
        return result;
    return err_set(err, ERR_UNAVAILABLE,
                   "the connection was closed before the response was complete");
}
