/* A transport before another one that keeps a program polite: so many calls a second, so many under
 * way, and a pause where the server asks for one. What must wait waits in the order it came.
 *
 * It also counts what was asked and what was answered. A watch takes its part of the rate but waits
 * for nothing: it is one request and then a long silence, and whoever watches holds no place that
 * others need. */
#ifndef TRAINYARD_NET_HTTP_THROTTLE_H
#define TRAINYARD_NET_HTTP_THROTTLE_H

#include "loop/loop.h"
#include "net/http/http.h"

struct prometheus;

struct http_throttle_options {
    double rate;      /* calls a second; 0: no limit */
    size_t burst;     /* calls at once after a silence; 0: as many as the rate, at least one */
    size_t calls_max; /* under way at a time, watches aside; 0: no limit */
    struct prometheus *metrics; /* rest_client_requests_total; or NULL */
};

/* `inner` and the metrics must outlive it. */
struct http_transport *http_throttle_new(struct loop *loop, struct http_transport *inner,
                                         const struct http_throttle_options *options);

/* Start nothing any more; `done` comes once, from the loop, when nothing but watches is under way.
 * For the end of a program: calls that wait never go, those that went are answered. */
void http_throttle_drain(struct http_transport *throttle, void (*done)(void *context),
                         void *context);

/* Calls that wait for their turn. */
size_t http_throttle_waiting(const struct http_transport *throttle);

/* The milliseconds that a Retry-After header asks for, at most `most_ms`; -1 where there is none,
 * or a date: only seconds are understood. */
int64_t http_retry_after_ms(const struct http_header *headers, int64_t most_ms);

#endif
