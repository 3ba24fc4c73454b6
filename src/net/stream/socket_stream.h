/* A stream on a connected TCP socket, without TLS or as a TLS server. */
#ifndef TRAINYARD_NET_STREAM_SOCKET_STREAM_H
#define TRAINYARD_NET_STREAM_SOCKET_STREAM_H

#include "loop/loop.h"
#include "net/stream/stream.h"

struct tls_server;

/* Takes ownership of the non-blocking descriptor, even on failure. If no pending byte can be sent
 * for `stall_timeout_ms`, the stream fails. `tls` must outlive the stream; NULL means no TLS.
 * Returns 0 or a negative error. */
int socket_stream_new(struct loop *loop, int fd, struct tls_server *tls, int64_t stall_timeout_ms,
                      struct stream **ret, struct err *err);

/* For streams whose bytes are forwarded. If the peer closes its side while reading is paused, the
 * end is reported only after all bytes are read, so that no byte is lost. Must be called before
 * stream_start(). */
void socket_stream_keep_all(struct stream *stream);

#endif
