/* Sends one GET request for a small document on a stream, with HTTP/1.1. Does not follow redirects.
 * Used for requests to untrusted programs, so the size and the time of the response are limited. */
#ifndef TRAINYARD_NET_HTTP_FETCH_H
#define TRAINYARD_NET_HTTP_FETCH_H

#include "loop/loop.h"
#include "net/stream/stream.h"

struct http_fetch;

struct http_fetch_options {
    const char *host; /* the value of the Host header, with the port if needed */
    const char *path; /* "/progress" */
    size_t body_max;  /* a larger body is an error */
    int64_t timeout_ms;
};

/* Called with the status and the body, or with an error: the connection was lost, the time limit
 * passed, the response was too large, or it was not HTTP. `body` is valid only during the call. */
typedef void http_fetch_done(void *context, int status, const char *body, size_t size,
                             const struct err *err);

/* Starts the request. Takes ownership of the stream, which must not be started yet. `done` is
 * called once, from the loop. After `done` the returned pointer is no longer valid. */
struct http_fetch *http_fetch_start(struct loop *loop, struct stream *stream,
                                    const struct http_fetch_options *options, http_fetch_done *done,
                                    void *context);
/* Cancels the request and closes the stream. `done` is not called after this. Must not be called
 * after `done`. */
void http_fetch_cancel(struct http_fetch *fetch);

#endif
