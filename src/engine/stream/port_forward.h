/* Starts sessions of port forwarding, one function per protocol. port_forward_request.c calls these
 * functions. A session takes ownership of the stream. It runs until the peer (the client)
 * disconnects, the server stops, or the pod ends, and then frees itself. A session of
 * port_forward_websocket_new() also ends when all its connections to the pod are closed. `key` is
 * the key of the pod in the store. `key` and `pod` are copied. */
#ifndef TRAINYARD_ENGINE_STREAM_PORT_FORWARD_H
#define TRAINYARD_ENGINE_STREAM_PORT_FORWARD_H

#include "engine/engine.h"
#include "net/stream/stream.h"

/* Port forwarding over SPDY, directly or inside WebSocket messages. The peer opens two streams per
 * forwarded connection. */
void port_forward_spdy_new(struct engine *engine, struct stream *stream, const char *key,
                           const struct json *pod);

/* Port forwarding over WebSocket, as Kubernetes' Python client uses it. The request names the
 * ports, and each port has one connection. Port i of the list, counted from 0, has channel 2i for
 * data and channel 2i+1 for errors. The server's first message on each channel is the port number
 * as two bytes in little-endian order. */
struct port_forward_ports {
    int ports[127]; /* at most 127 ports, because channel 255 is reserved */
    size_t count;
    /* Protocol v5: a message of byte 255 and a channel number closes that channel. */
    bool half_closes;
};

void port_forward_websocket_new(struct engine *engine, struct stream *stream, const char *key,
                                const struct json *pod, const struct port_forward_ports *ports);

#endif
