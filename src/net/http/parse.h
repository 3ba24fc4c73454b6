/* A strict parser of HTTP/1.0 and HTTP/1.1 requests (RFC 9112). Input that two parsers could
 * understand differently is refused, so that a proxy in front of the server and the server always
 * agree where a request ends. The parser uses no sockets and no clock. The result does not depend
 * on how the bytes are split into pieces. docs/design/wire.md explains why we do not use another
 * parser.
 *
 * The parser handles one request at a time. It does not consume the bytes after the request. */
#ifndef TRAINYARD_NET_HTTP_PARSE_H
#define TRAINYARD_NET_HTTP_PARSE_H

#include "base/buf.h"
#include "net/http/http.h"

enum http_parse_result {
    HTTP_PARSE_MORE,    /* all bytes are consumed; the request is not complete */
    HTTP_PARSE_HEAD,    /* the header is complete: call http_parse_admit() before the next feed */
    HTTP_PARSE_DONE,    /* `request` and `body` are complete */
    HTTP_PARSE_REFUSED, /* send `refusal_status` and close the connection; no further request can be
                           parsed */
};

enum http_parse_stage {
    HTTP_PARSE_REQUEST_LINE,
    HTTP_PARSE_FIELD_LINES,
    HTTP_PARSE_BODY, /* `left` bytes of the Content-Length are missing */
    HTTP_PARSE_CHUNK_LINE,
    HTTP_PARSE_CHUNK, /* `left` bytes of the chunk are missing */
    HTTP_PARSE_CHUNK_END,
    HTTP_PARSE_TRAILERS,
    HTTP_PARSE_END,
};

struct http_parse {
    size_t header_max, body_max;
    enum http_parse_stage stage;
    struct arena *arena; /* memory of the strings of this request */
    struct http_request request;
    /* The end of request.headers, where the next header is added. */
    struct http_header **last_header;
    struct buf line;     /* the start of a line whose end has not arrived yet */
    bool cr_seen;        /* the last byte was a CR, so only LF may follow */
    size_t header_size;  /* bytes of the request line and the field lines so far */
    size_t extra_size;   /* bytes of chunk extensions and trailers so far */
    size_t header_count; /* number of field lines, including trailers */
    uint64_t left;       /* number of bytes of the body or chunk that have not arrived yet */
    struct buf body;     /* the caller takes its memory when the request is complete */
    int minor;           /* minor version of the client's HTTP: 0 or 1 */
    bool has_body;       /* the header announces a body; a chunked body may be empty */
    bool wants_continue; /* the client waits for "100 Continue" before it sends the body */
    bool keep_alive;     /* another request may follow */
    int refusal_status;  /* set with HTTP_PARSE_REFUSED */
    char refusal[160];   /* the reason as a sentence, set with HTTP_PARSE_REFUSED */
};

void http_parse_init(struct http_parse *parse, size_t header_max, size_t body_max);
void http_parse_release(struct http_parse *parse);

/* Prepares the parser for the next request. The strings of the request are allocated in the
 * arena. */
void http_parse_start(struct http_parse *parse, struct arena *arena);

/* Parses bytes until they are consumed or the result is not HTTP_PARSE_MORE. Sets *ret_used to the
 * number of consumed bytes. `size` may be 0: after the header of a request without a body, the call
 * returns HTTP_PARSE_DONE. */
enum http_parse_result http_parse_feed(struct http_parse *parse, const char *data, size_t size,
                                       size_t *ret_used);

/* Must be called after HTTP_PARSE_HEAD. Accepts a body of at most `body_max` bytes. Returns
 * HTTP_PARSE_MORE, or HTTP_PARSE_REFUSED if the header announces a larger body. */
enum http_parse_result http_parse_admit(struct http_parse *parse, size_t body_max);

#endif
