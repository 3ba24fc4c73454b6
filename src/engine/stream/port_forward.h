/* Sessions of port forwarding, one function per protocol that carries them. Each takes the line and
 * lives by itself, until the peer leaves, the server ends, or the pod has ended. `key` is the pod's
 * in the store. The pod is copied. */
#ifndef TRAINYARD_ENGINE_PORT_FORWARD_H
#define TRAINYARD_ENGINE_PORT_FORWARD_H

#include "engine/engine.h"
#include "net/stream/stream.h"

/* SPDY: the peer opens a pair of streams for each connection. */
void port_forward_spdy_new(struct engine *engine, struct stream *stream, const char *key,
                           const struct json *pod);

/* WebSocket, as Kubernetes' client for Python asks for it: the ports are known from the beginning
 * and there is one connection to each. Port number i of the list has channel 2i for its bytes and
 * channel 2i+1 for an error. The server's first message on each is the port, in two bytes with the
 * lower one first. */
struct port_forward_ports {
    int ports[127]; /* channel 255 has a meaning of its own */
    size_t count;
    bool half_closes; /* v5: the bytes 255 and a channel's number say that nothing more comes on it
                       */
};

void port_forward_websocket_new(struct engine *engine, struct stream *stream, const char *key,
                                const struct json *pod, const struct port_forward_ports *ports);

#endif
