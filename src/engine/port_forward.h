/* A session of `kubectl port-forward`: SPDY on an upgraded connection, a forwarded connection for
 * each pair of streams that the peer opens. It lives by itself, until the peer leaves, the server
 * ends, or the pod has ended. */
#ifndef TRAINYARD_ENGINE_PORT_FORWARD_H
#define TRAINYARD_ENGINE_PORT_FORWARD_H

#include "engine/engine.h"
#include "net/stream.h"

/* Takes the line. `key` is the pod's in the store. The pod is copied. */
void port_forward_new(struct engine *engine, struct stream *line, const char *key,
                      const struct json *pod);

#endif
