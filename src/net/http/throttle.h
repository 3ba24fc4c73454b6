/* A transport that wraps another transport. It limits the call rate and the number of calls in
 * flight, and it pauses when the server asks for a pause (429 with Retry-After). Waiting calls
 * start in their order.
 *
 * It also counts requests by status code and method. A watch uses a token of the rate limit but
 * never waits, except during http_throttle_drain(). A watch does not count as a call in flight,
 * because it stays open for a long time. */
#ifndef TRAINYARD_NET_HTTP_THROTTLE_H
#define TRAINYARD_NET_HTTP_THROTTLE_H

#include "loop/loop.h"
#include "net/http/http.h"

struct prometheus;

struct http_throttle_options {
    double rate;      /* calls per second; 0: no limit */
    size_t burst;     /* maximum number of calls at once after idle time; 0: the rate, at least 1 */
    size_t calls_max; /* maximum number of calls in flight, not counting watches; 0: no limit */
    struct prometheus *metrics; /* for the counter rest_client_requests_total; may be NULL */
};

/* `inner` and the metrics must outlive the transport. */
struct http_transport *http_throttle_new(struct loop *loop, struct http_transport *inner,
                                         const struct http_throttle_options *options);

/* After this no further call starts, not even a watch. `done` is called once, from the loop, when
 * only watches are in flight. Used when a program shuts down: waiting calls are never sent and
 * their callbacks are not called, and calls in flight can end. */
void http_throttle_drain(struct http_transport *throttle, void (*done)(void *context),
                         void *context);

/* Returns the number of waiting calls. */
size_t http_throttle_waiting(const struct http_transport *throttle);

/* Returns the delay of the Retry-After header in milliseconds, but at most `max_ms`. Returns -1 if
 * there is no such header or its value is not a number of seconds, for example a date. */
int64_t http_retry_after_ms(const struct http_header *headers, int64_t max_ms);

#endif
