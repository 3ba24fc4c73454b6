/* Bytes of a connection to requests: the grammar is http-parser's, the limits and refusals are
 * ours. Pure: no sockets, no clock. One request at a time; what follows it stays with the caller.
 */
#ifndef TRAINYARD_NET_HTTP_PARSE_H
#define TRAINYARD_NET_HTTP_PARSE_H

#include "base/buf.h"
#include "net/http.h"

#include <http_parser.h>

enum http_parse_result {
    HTTP_PARSE_MORE,    /* all taken, the request is not whole yet */
    HTTP_PARSE_DONE,    /* `request` and `body` are whole */
    HTTP_PARSE_REFUSED, /* answer `refusal_status` and close: the rest cannot be understood */
};

struct http_parse {
    size_t header_max, body_max;
    http_parser parser;
    struct arena *arena; /* of this request */
    struct http_request request;
    struct http_header **last_header;
    const char *field; /* the header line under way: its name, once that is whole */
    struct buf token;  /* the piece under way of target, name or value */
    bool value_seen;   /* the token is a value */
    size_t header_size, header_count;
    struct buf body;     /* the caller takes it over when done */
    bool head_done;      /* all header lines are there; false again after http_parse_start() */
    bool wants_continue; /* the client waits for "100 Continue" before it sends the body */
    bool keep_alive;     /* another request may follow */
    int refusal_status;
    char refusal[160];
};

void http_parse_init(struct http_parse *parse, size_t header_max, size_t body_max);
void http_parse_release(struct http_parse *parse);

/* Be ready for the next request, whose strings go into the arena. */
void http_parse_start(struct http_parse *parse, struct arena *arena);

enum http_parse_result http_parse_feed(struct http_parse *parse, const char *data, size_t size,
                                       size_t *ret_used);

/* The minor version the client speaks: 0 or 1. */
static inline int http_parse_minor(const struct http_parse *parse)
{
    return parse->parser.http_minor;
}

#endif
