/* The WebSocket handshake (RFC 6455, 4.2): turns an HTTP exchange into a stream of frames. */
#ifndef TRAINYARD_NET_HTTP_WEBSOCKET_HANDSHAKE_H
#define TRAINYARD_NET_HTTP_WEBSOCKET_HANDSHAKE_H

#include "net/http/http.h"

/* Whether the request asks for WebSocket. Its other headers may still be invalid. */
bool websocket_is_requested(const struct http_request *request);

enum { WEBSOCKET_ACCEPT_SIZE = 29 };

/* Computes the value of Sec-WebSocket-Accept from the client's Sec-WebSocket-Key. The value shows
 * the client that the server supports WebSocket. */
int websocket_accept_key(const char *key, char ret[WEBSOCKET_ACCEPT_SIZE], struct err *err);

/* Returns 0 if the headers of the request are valid and offer this sub-protocol, else a negative
 * error. */
int websocket_check(const struct http_request *request, const char *protocol, struct err *err);

/* Checks the request and calls http_upgrade(). The caller passes the stream *ret to
 * websocket_session_new() or websocket_stream_new(). */
int websocket_upgrade(struct http_exchange *exchange, const char *protocol, struct stream **ret,
                      struct err *err);

#endif
