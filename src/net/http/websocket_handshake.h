/* The server side of the WebSocket handshake (RFC 6455, 4.2): upgrades an HTTP exchange to a stream
 * that carries WebSocket frames. */
#ifndef TRAINYARD_NET_HTTP_WEBSOCKET_HANDSHAKE_H
#define TRAINYARD_NET_HTTP_WEBSOCKET_HANDSHAKE_H

#include "net/http/http.h"

/* Returns whether the request asks for WebSocket. Its other headers may still be invalid. */
bool websocket_is_requested(const struct http_request *request);

enum { WEBSOCKET_ACCEPT_SIZE = 29 };

/* Computes the value of Sec-WebSocket-Accept from the client's Sec-WebSocket-Key. The value shows
 * the client that the server supports WebSocket. Returns 0 or a negative error. */
int websocket_accept_key(const char *key, char ret[WEBSOCKET_ACCEPT_SIZE], struct err *err);

/* Returns 0 if the headers of the request are valid and offer this sub-protocol, else a negative
 * error. */
int websocket_check(const struct http_request *request, const char *protocol, struct err *err);

/* Checks the request and calls http_upgrade(). The caller passes the stream *ret to
 * websocket_session_new() or websocket_stream_new(). Returns 0, or a negative error; then the
 * handler must still send a response. */
int websocket_upgrade(struct http_exchange *exchange, const char *protocol, struct stream **ret,
                      struct err *err);

#endif
