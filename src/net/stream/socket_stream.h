/* A stream on a connected TCP socket, plain or as the server's side of TLS. */
#ifndef TRAINYARD_NET_STREAM_SOCKET_STREAM_H
#define TRAINYARD_NET_STREAM_SOCKET_STREAM_H

#include "loop/loop.h"
#include "net/stream/stream.h"

struct tls_server;

/* Takes the non-blocking descriptor even on failure. A peer that takes no pending byte for
 * `stall_timeout_ms` counts as gone. `tls` may be NULL and must outlive the stream. */
int socket_stream_new(struct loop *loop, int fd, struct tls_server *tls, int64_t stall_timeout_ms,
                      struct stream **ret, struct err *err);

/* For streams whose bytes are forwarded: when the peer closes its side while reading is paused,
 * this is noticed only after all its bytes are read, so that none is lost. Must be called before
 * stream_start(). */
void socket_stream_keep_all(struct stream *stream);

#endif
