/* A transport that injects faults, for simulations. It wraps another transport. At random it
 * refuses a call, delays it, or delivers it and loses the answer. It may answer a write with a
 * conflict or as invalid. It may cut a watch, or deliver its events late, some of them twice or
 * swapped with a neighbour. The same random numbers give the same faults. */
#ifndef TRAINYARD_TESTS_LIB_FAULT_TRANSPORT_H
#define TRAINYARD_TESTS_LIB_FAULT_TRANSPORT_H

#include "base/rand.h"
#include "loop/loop.h"
#include "net/http/http.h"

struct fault_rates { /* per thousand calls */
    unsigned refuse, slow, lose, conflict, invalid;
    unsigned cut, lag; /* per thousand watches */
};

/* `inner` and `rand` must outlive the transport. */
struct http_transport *fault_transport_new(struct loop *loop, struct http_transport *inner,
                                           struct rand *rand, const struct fault_rates *rates);
void fault_transport_set(struct http_transport *transport, const struct fault_rates *rates);

/* Sets a hook that runs before each call that changes something. So a test can make the caller die
 * between any two of its writes. The hook must not free the caller itself, but use loop_defer(). */
void fault_transport_on_write(struct http_transport *transport, void (*hook)(void *context),
                              void *context);

#endif
