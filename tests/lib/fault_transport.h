/* A transport that loses things: it stands before another one and, as the dice fall, refuses a
 * call, delivers it and loses the answer, answers a write with a conflict, or ends a watch in the
 * middle. For simulation: the same dice give the same faults. */
#ifndef TRAINYARD_TESTS_LIB_FAULT_TRANSPORT_H
#define TRAINYARD_TESTS_LIB_FAULT_TRANSPORT_H

#include "base/rand.h"
#include "loop/loop.h"
#include "net/http.h"

struct fault_rates { /* of a thousand calls */
    unsigned refuse, lose, conflict, cut;
};

/* `inner` and `rand` must outlive it. */
struct http_transport *fault_transport_new(struct loop *loop, struct http_transport *inner,
                                           struct rand *rand, const struct fault_rates *rates);
void fault_transport_set(struct http_transport *transport, const struct fault_rates *rates);

#endif
