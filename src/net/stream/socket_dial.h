/* Opens a TCP connection to an address and passes it to a callback as a stream. */
#ifndef TRAINYARD_NET_STREAM_SOCKET_DIAL_H
#define TRAINYARD_NET_STREAM_SOCKET_DIAL_H

#include "loop/loop.h"
#include "net/stream/stream.h"

struct socket_dial;

/* Called with the connected stream, which then belongs to the called function, or with NULL and
 * `err` if the attempt failed or timed out. */
typedef void socket_dial_done(void *context, struct stream *stream, const struct err *err);

/* `address` is an IPv4 or IPv6 address, not a host name. `done` is called once, from the loop. When
 * `done` is called, the returned pointer is no longer valid. */
struct socket_dial *socket_dial_start(struct loop *loop, const char *address, int port,
                                      int64_t timeout_ms, socket_dial_done *done, void *context);
/* Cancels the attempt and frees it. `done` is not called after this. Must not be called after
 * `done`. */
void socket_dial_cancel(struct socket_dial *dial);

#endif
