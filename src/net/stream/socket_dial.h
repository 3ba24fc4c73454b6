/* A new TCP connection to an address, as a stream. */
#ifndef TRAINYARD_NET_SOCKET_DIAL_H
#define TRAINYARD_NET_SOCKET_DIAL_H

#include "loop/loop.h"
#include "net/stream/stream.h"

struct socket_dial;

/* `stream` is the caller's, to be started and closed; NULL where there is no connection, and `err`
 * says why. */
typedef void socket_dial_done(void *context, struct stream *stream, const struct err *err);

/* `address` is a number of either family, not a name. `done` comes once, from the loop, never from
 * within; then the returned pointer is no more. */
struct socket_dial *socket_dial_start(struct loop *loop, const char *address, int port,
                                      int64_t timeout_ms, socket_dial_done *done, void *context);
/* `done` does not come any more. */
void socket_dial_cancel(struct socket_dial *dial);

#endif
