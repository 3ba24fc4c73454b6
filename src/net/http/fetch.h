/* GET of one small document on a stream, for occasional requests to untrusted programs: the size
 * and the time of the response are limited. One request per stream, HTTP/1.1, no redirects. */
#ifndef TRAINYARD_NET_HTTP_FETCH_H
#define TRAINYARD_NET_HTTP_FETCH_H

#include "loop/loop.h"
#include "net/stream/stream.h"

struct http_fetch;

struct http_fetch_options {
    const char *host; /* the Host header; no port is added */
    const char *path; /* "/progress" */
    size_t body_max;  /* a larger body is an error */
    int64_t timeout_ms;
};

/* Gets the status and the body, or an error: the connection broke, the time limit passed, the
 * response was too large, or it was no HTTP. `body` is freed when the function returns. */
typedef void http_fetch_done(void *context, int status, const char *body, size_t size,
                             const struct err *err);

/* Takes a stream that is not started yet. `done` is called once, from the loop. */
struct http_fetch *http_fetch_start(struct loop *loop, struct stream *stream,
                                    const struct http_fetch_options *options, http_fetch_done *done,
                                    void *context);
/* Cancels the request: `done` is not called any more. */
void http_fetch_cancel(struct http_fetch *fetch);

#endif
