/* GET of one small document over a line to its server, for questions that are asked now and then
 * of programs nobody has vouched for: whatever they answer, it is bounded in size and time. One
 * request a line, HTTP/1.1, no redirects. */
#ifndef TRAINYARD_NET_HTTP_FETCH_H
#define TRAINYARD_NET_HTTP_FETCH_H

#include "loop/loop.h"
#include "net/stream/stream.h"

struct http_fetch;

struct http_fetch_options {
    const char *host; /* of the Host header; no port is added */
    const char *path; /* "/progress" */
    size_t body_max;  /* more is refused */
    int64_t timeout_ms;
};

/* The document, whatever its status, or err: the line broke, time ran out, it was too large, or it
 * was no HTTP. `body` is gone when this returns. */
typedef void http_fetch_done(void *context, int status, const char *body, size_t size,
                             const struct err *err);

/* Takes the stream, not yet started. `done` comes once, from the loop. */
struct http_fetch *http_fetch_start(struct loop *loop, struct stream *stream,
                                    const struct http_fetch_options *options, http_fetch_done *done,
                                    void *context);
/* `done` does not come any more. */
void http_fetch_cancel(struct http_fetch *fetch);

#endif
