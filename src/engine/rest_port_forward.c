/* GET and POST pods/NAME/portforward: the question is checked here, the connection's protocol
 * changed, and the session left to port_forward.c. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/port_forward.h"
#include "engine/rest.h"
#include "net/websocket_handshake.h"
#include "net/websocket_stream.h"

static const char SPDY[] = "SPDY/3.1", PROTOCOL[] = "portforward.k8s.io",
                  OFFER[] = "X-Stream-Protocol-Version", TUNNEL[] = "SPDY/3.1+portforward.k8s.io";

/* kubectl since 1.31 asks for WebSocket with SPDY in its messages, older ones for SPDY itself, as
 * do newer ones where WebSocket is refused. */
static int check_upgrade(const struct http_request *request, struct err *err)
{
    const struct http_header *headers = request->headers;
    if (websocket_is_asked(request))
        return websocket_check(request, TUNNEL, err);
    if (!http_header_has_word(headers, "Connection", "Upgrade") ||
        !http_header_has_word(headers, "Upgrade", SPDY))
        return err_set(err, ERR_BAD_REQUEST,
                       "unable to upgrade: port forwarding needs the headers 'Connection: Upgrade' "
                       "and 'Upgrade: %s' or 'Upgrade: websocket'",
                       SPDY);
    if (!http_header_has_word(headers, OFFER, PROTOCOL) && http_header_get(headers, OFFER))
        return err_set(err, ERR_FORBIDDEN,
                       "unable to upgrade: unable to negotiate protocol: client supports "
                       "[%.100s], server accepts [%s]",
                       http_header_get(headers, OFFER), PROTOCOL);
    return 0;
}

/* The line on which SPDY is spoken. */
static int upgrade(struct rest *rest, struct stream **ret, struct err *err)
{
    const struct http_header chosen = {.name = OFFER, .value = PROTOCOL};
    if (!websocket_is_asked(rest->exchange->request))
        return http_upgrade(rest->exchange, SPDY, &chosen, ret, err);
    struct stream *line;
    int result = websocket_upgrade(rest->exchange, TUNNEL, &line, err);
    if (result == 0)
        *ret = websocket_stream_new(engine_loop(rest->engine), line);
    return result;
}

static int check_pod(struct rest *rest, const struct json *pod, struct err *err)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "Pending");
    if (!engine_backend(rest->engine)->connect)
        return err_set(err, ERR_UNAVAILABLE,
                       "no node of this server runs pods, so pod \"%s\" has no ports",
                       rest->route.name);
    if (!str_eq(phase, "Running"))
        return err_set(err, ERR_BAD_REQUEST,
                       "unable to forward port because pod is not running. Current status=%s",
                       phase);
    return 0;
}

void rest_port_forward(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *pod = NULL;
    int64_t revision;
    struct stream *line = NULL;
    if (rest_load(rest, rest->route.name, &pod, &revision, &err) < 0 ||
        check_upgrade(rest->exchange->request, &err) < 0 || check_pod(rest, pod, &err) < 0 ||
        upgrade(rest, &line, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    const char *key =
        rest_key(rest->arena, rest->route.resource, rest->route.namespace_, rest->route.name);
    port_forward_new(rest->engine, line, key, pod);
}
