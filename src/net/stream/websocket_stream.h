/* The bytes inside a WebSocket session's messages as a stream of their own, for protocols that were
 * made for a connection and are carried in messages: SPDY, as kubectl tunnels it since 1.31. Where
 * a message begins or ends means nothing.
 *
 * WebSocket knows no half of an end: after stream_shut() nothing can be written, but the peer
 * learns of it only with stream_finish(). */
#ifndef TRAINYARD_NET_WEBSOCKET_STREAM_H
#define TRAINYARD_NET_WEBSOCKET_STREAM_H

#include "loop/loop.h"
#include "net/stream/stream.h"

/* Takes the line, on which the handshake is done; it starts with this stream. */
struct stream *websocket_stream_new(struct loop *loop, struct stream *line);

#endif
