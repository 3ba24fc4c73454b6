/* Parses a server's response into its status and body. http-parser checks the grammar, and this
 * code checks the limits. It uses no sockets and no clock, and does not store header lines. */
#ifndef TRAINYARD_NET_HTTP_RESPONSE_READER_H
#define TRAINYARD_NET_HTTP_RESPONSE_READER_H

#include "base/buf.h"
#include "base/err.h"

#include <http_parser.h>

struct http_response_reader {
    http_parser parser;
    size_t header_size;
    struct buf body;
    int status;     /* 0 until the header is complete */
    bool whole;     /* the response is complete; later bytes are ignored */
    struct err err; /* the reason if the response was refused */
};

void http_response_reader_init(struct http_response_reader *reader, size_t body_max);
void http_response_reader_release(struct http_response_reader *reader);

/* Parses bytes. Returns 0, or an error if they are not an HTTP response or the response is too
 * large. Sets `whole` when the response is complete. */
int http_response_reader_feed(struct http_response_reader *reader, const char *data, size_t size,
                              struct err *err);
/* To be called when the server has closed its side, which ends a body without a length. Returns 0,
 * or an error if the response is incomplete. */
int http_response_reader_end(struct http_response_reader *reader, struct err *err);

#endif
