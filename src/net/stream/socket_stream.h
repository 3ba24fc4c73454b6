/* A stream on a connected TCP socket, plain or as the server's side of TLS. */
#ifndef TRAINYARD_NET_SOCKET_STREAM_H
#define TRAINYARD_NET_SOCKET_STREAM_H

#include "loop/loop.h"
#include "net/stream/stream.h"

struct tls_server;

/* Takes the descriptor (non-blocking) in any case. `stall_timeout_ms`: a peer that takes no byte of
 * what is pending for so long is given up. `tls` may be NULL and must outlive the stream. */
int socket_stream_new(struct loop *loop, int fd, struct tls_server *tls, int64_t stall_timeout_ms,
                      struct stream **ret, struct err *err);

/* For streams whose bytes are passed on: a peer that ends its side while reading is paused is
 * noticed only after all it said was read. Before stream_start(). */
void socket_stream_keep_all(struct stream *stream);

#endif
