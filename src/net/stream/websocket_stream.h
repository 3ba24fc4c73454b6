/* A stream that transfers its bytes in the messages of a WebSocket session. Used for protocols that
 * need a stream but are tunneled through WebSocket: kubectl tunnels SPDY this way since 1.31. The
 * boundaries between messages have no meaning.
 *
 * WebSocket cannot close one direction. After stream_shut() the owner cannot write, but the peer is
 * informed only by stream_finish(). */
#ifndef TRAINYARD_NET_STREAM_WEBSOCKET_STREAM_H
#define TRAINYARD_NET_STREAM_WEBSOCKET_STREAM_H

#include "loop/loop.h"
#include "net/stream/stream.h"

/* Takes ownership of `underlying`, on which the handshake is done and which is not started yet.
 * stream_start() of the returned stream starts `underlying`. Before the start, the owner may only
 * set the stall timeout. */
struct stream *websocket_stream_new(struct loop *loop, struct stream *underlying);

#endif
