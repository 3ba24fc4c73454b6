/* Bytes of a server's answer to its status and body: the grammar is http-parser's, the limits are
 * ours. Pure: no sockets, no clock. The header lines are not kept. */
#ifndef TRAINYARD_NET_HTTP_REPLY_H
#define TRAINYARD_NET_HTTP_REPLY_H

#include "base/buf.h"
#include "base/err.h"

#include <http_parser.h>

struct http_response_reader {
    http_parser parser;
    size_t header_size;
    struct buf body;
    int status; /* 0 until the header is whole */
    bool whole;
    struct err err; /* why it was refused */
};

void http_response_reader_init(struct http_response_reader *reply, size_t body_max);
void http_response_reader_release(struct http_response_reader *reply);

/* Fails where it is no answer or too large; `whole` says that nothing more is needed. */
int http_response_reader_feed(struct http_response_reader *reply, const char *data, size_t size,
                              struct err *err);
/* The server has ended its side, which may be how the body ends. */
int http_response_reader_end(struct http_response_reader *reply, struct err *err);

#endif
