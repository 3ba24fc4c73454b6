/* The handshake of WebSocket (RFC 6455, 4.2): an HTTP request becomes a line of frames. */
#ifndef TRAINYARD_NET_WEBSOCKET_HANDSHAKE_H
#define TRAINYARD_NET_WEBSOCKET_HANDSHAKE_H

#include "net/http/http.h"

/* Whether the request asks for it; what it says may still be wrong. */
bool websocket_is_requested(const struct http_request *request);

enum { WEBSOCKET_ACCEPT_SIZE = 29 };

/* What proves that the answerer speaks the protocol: made from Sec-WebSocket-Key. */
int websocket_accept_key(const char *key, char ret[WEBSOCKET_ACCEPT_SIZE], struct err *err);

/* Check what the request says, and that it offers this sub-protocol. */
int websocket_check(const struct http_request *request, const char *protocol, struct err *err);

/* The above, then http_upgrade(): `ret` is the line for a websocket_session or websocket_stream. */
int websocket_upgrade(struct http_exchange *exchange, const char *protocol, struct stream **ret,
                      struct err *err);

#endif
