/* A transport in front of another one that limits the call rate and the number of calls in flight,
 * and pauses when the server asks for it (429 with Retry-After). Waiting calls start in their
 * order.
 *
 * It also counts requests and their status codes. A watch uses a token of the rate but never waits,
 * and does not count as a call in flight: it is one request followed by a long silence. */
#ifndef TRAINYARD_NET_HTTP_THROTTLE_H
#define TRAINYARD_NET_HTTP_THROTTLE_H

#include "loop/loop.h"
#include "net/http/http.h"

struct prometheus;

struct http_throttle_options {
    double rate;      /* calls per second; 0: no limit */
    size_t burst;     /* calls at once after a silence; 0: as many as the rate, at least one */
    size_t calls_max; /* calls in flight, without watches; 0: no limit */
    struct prometheus *metrics; /* for the counter rest_client_requests_total; may be NULL */
};

/* `inner` and the metrics must outlive the transport. */
struct http_transport *http_throttle_new(struct loop *loop, struct http_transport *inner,
                                         const struct http_throttle_options *options);

/* Starts no further call. `done` is called once, from the loop, when only watches are in flight.
 * For the shutdown of a program: waiting calls are never sent, and calls in flight are answered. */
void http_throttle_drain(struct http_transport *throttle, void (*done)(void *context),
                         void *context);

/* The number of waiting calls. */
size_t http_throttle_waiting(const struct http_transport *throttle);

/* The delay that a Retry-After header asks for in milliseconds, at most `most_ms`; -1 if there is
 * none or it is a date, since only seconds are supported. */
int64_t http_retry_after_ms(const struct http_header *headers, int64_t most_ms);

#endif
