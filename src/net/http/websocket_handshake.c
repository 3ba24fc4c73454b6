/* Implements the WebSocket handshake; see websocket_handshake.h. */
#include "net/http/websocket_handshake.h"

#include "base/base64.h"
#include "base/str.h"
#include "tls/tls.h"

#include <stdio.h>
#include <string.h>

enum { KEY_SIZE = 16 }; /* bytes before the base64 encoding */

static const char GUID[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* defined by the protocol */

bool websocket_is_requested(const struct http_request *request)
{
    return http_header_has_word(request->headers, "Connection", "Upgrade") &&
           http_header_has_word(request->headers, "Upgrade", "websocket");
}

static int check_key(const char *key, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *bytes;
    size_t size;
    if (!key || base64_decode(arena, key, &bytes, &size, NULL) < 0 || size != KEY_SIZE)
        return err_set(err, ERR_BAD_REQUEST,
                       "websocket: the header Sec-WebSocket-Key must be 16 bytes in base64");
    return 0;
}

int websocket_accept_key(const char *key, char ret[WEBSOCKET_ACCEPT_SIZE], struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    unsigned char digest[TLS_SHA1_SIZE];
    const char *text = arena_printf(arena, "%s%s", key, GUID);
    int result = tls_sha1(text, strlen(text), digest, err);
    if (result == 0)
        snprintf(ret, WEBSOCKET_ACCEPT_SIZE, "%s", base64_encode(arena, digest, sizeof(digest)));
    return result;
}

int websocket_check(const struct http_request *request, const char *protocol, struct err *err)
{
    const char *version = http_header_get(request->headers, "Sec-WebSocket-Version");
    if (!websocket_is_requested(request) || !str_eq(request->method, "GET"))
        return err_set(err, ERR_BAD_REQUEST,
                       "websocket: needs a GET with the headers 'Connection: Upgrade' and "
                       "'Upgrade: websocket'");
    if (!str_eq(version, "13"))
        return err_set(err, ERR_BAD_REQUEST,
                       "websocket: version %.20s is not supported, only 13 (header "
                       "Sec-WebSocket-Version)",
                       version ? version : "''");
    int result = check_key(http_header_get(request->headers, "Sec-WebSocket-Key"), err);
    if (result < 0)
        return result;
    if (!http_header_has_word(request->headers, "Sec-WebSocket-Protocol", protocol)) {
        const char *offer = http_header_get(request->headers, "Sec-WebSocket-Protocol");
        return err_set(err, ERR_BAD_REQUEST,
                       "unable to upgrade: unable to negotiate protocol: client supports "
                       "[%.100s], server accepts [%s]",
                       offer ? offer : "", protocol);
    }
    return 0;
}

int websocket_upgrade(struct http_exchange *exchange, const char *protocol, struct stream **ret,
                      struct err *err)
{
    char accept[WEBSOCKET_ACCEPT_SIZE];
    int result = websocket_check(exchange->request, protocol, err);
    if (result == 0)
        result = websocket_accept_key(
            http_header_get(exchange->request->headers, "Sec-WebSocket-Key"), accept, err);
    if (result < 0)
        return result;
    struct http_header chosen = {.name = "Sec-WebSocket-Protocol", .value = protocol};
    const struct http_header proof = {"Sec-WebSocket-Accept", accept, &chosen};
    return http_upgrade(exchange, "websocket", &proof, ret, err);
}
