/* Sessions of port forwarding, one function per protocol. Each takes the stream and lives until the
 * peer disconnects, the server ends, or the pod ends. `key` is the key of the pod in the store. The
 * pod is copied. */
#ifndef TRAINYARD_ENGINE_STREAM_PORT_FORWARD_H
#define TRAINYARD_ENGINE_STREAM_PORT_FORWARD_H

#include "engine/engine.h"
#include "net/stream/stream.h"

/* SPDY: the peer opens a pair of streams per connection. */
void port_forward_spdy_new(struct engine *engine, struct stream *stream, const char *key,
                           const struct json *pod);

/* WebSocket, as Kubernetes' Python client uses it: the request names the ports, and there is one
 * connection per port. Port i of the list has channel 2i for its bytes and channel 2i+1 for errors.
 * The server's first message on each channel is the port, in two bytes, the lower one first. */
struct port_forward_ports {
    int ports[127]; /* 127 ports, because channel 255 has a meaning of its own */
    size_t count;
    bool half_closes; /* v5: the bytes 255 and a channel's number close that channel */
};

void port_forward_websocket_new(struct engine *engine, struct stream *stream, const char *key,
                                const struct json *pod, const struct port_forward_ports *ports);

#endif
