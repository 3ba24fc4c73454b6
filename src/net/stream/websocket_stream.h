/* The payload of a WebSocket session's messages as a stream, for protocols that expect a connection
 * but are carried in messages: SPDY, as kubectl tunnels it since 1.31. The bounds of the messages
 * have no meaning.
 *
 * WebSocket cannot close one direction: after stream_shut() nothing can be written, but the peer
 * learns of it only with stream_finish(). */
#ifndef TRAINYARD_NET_STREAM_WEBSOCKET_STREAM_H
#define TRAINYARD_NET_STREAM_WEBSOCKET_STREAM_H

#include "loop/loop.h"
#include "net/stream/stream.h"

/* Takes a stream on which the handshake is done. It is started together with the returned stream.
 */
struct stream *websocket_stream_new(struct loop *loop, struct stream *line);

#endif
