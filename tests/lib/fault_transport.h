/* A transport that loses things: it stands before another one and, as the dice fall, refuses a
 * call, takes its time with it, delivers it and loses the answer, answers a write with a conflict
 * or as invalid, ends a watch in the middle, or brings its events late, some twice and neighbours
 * swapped. For simulation: the same dice give the same faults. */
#ifndef TRAINYARD_TESTS_LIB_FAULT_TRANSPORT_H
#define TRAINYARD_TESTS_LIB_FAULT_TRANSPORT_H

#include "base/rand.h"
#include "loop/loop.h"
#include "net/http/http.h"

struct fault_rates { /* of a thousand calls */
    unsigned refuse, slow, lose, conflict, invalid;
    unsigned cut, lag; /* of watches */
};

/* `inner` and `rand` must outlive it. */
struct http_transport *fault_transport_new(struct loop *loop, struct http_transport *inner,
                                           struct rand *rand, const struct fault_rates *rates);
void fault_transport_set(struct http_transport *transport, const struct fault_rates *rates);

/* Called whenever a call that changes something is started, before it is: the place where a caller
 * may be made to die between any two of its writes. Not from within: by loop_defer(). */
void fault_transport_on_write(struct http_transport *transport, void (*hook)(void *context),
                              void *context);

#endif
