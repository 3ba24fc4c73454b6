/* GET and POST pods/NAME/portforward: the question is checked here, the connection's protocol
 * changed, and the session left to port_forward_spdy.c or port_forward_websocket.c. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/rest.h"
#include "engine/stream/port_forward.h"
#include "net/stream/websocket_handshake.h"
#include "net/stream/websocket_stream.h"

#include <string.h>

static const char SPDY[] = "SPDY/3.1", PROTOCOL[] = "portforward.k8s.io",
                  OFFER[] = "X-Stream-Protocol-Version";

/* What WebSocket may carry, the most wanted first: SPDY in its messages, as kubectl since 1.31 asks
 * for it, or channels, as other clients do. */
static const struct websocket_protocol {
    const char *name;
    bool channels, half_closes;
} WEBSOCKET_PROTOCOLS[] = {
    {.name = "SPDY/3.1+portforward.k8s.io"},
    {.name = "v5.channel.k8s.io", .channels = true, .half_closes = true},
    {.name = "v4.channel.k8s.io", .channels = true},
};

static int choose_websocket(const struct http_request *request,
                            const struct websocket_protocol **ret, struct err *err)
{
    const char *header = "Sec-WebSocket-Protocol",
               *offer = http_header_get(request->headers, header);
    for (size_t i = 0; i < ARRAY_SIZE(WEBSOCKET_PROTOCOLS); i++) {
        const struct websocket_protocol *protocol = &WEBSOCKET_PROTOCOLS[i];
        if (!http_header_has_word(request->headers, header, protocol->name))
            continue;
        *ret = protocol;
        return websocket_check(request, protocol->name, err);
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "unable to upgrade: unable to negotiate protocol: client supports [%.100s], "
                   "server accepts [SPDY/3.1+portforward.k8s.io v5.channel.k8s.io "
                   "v4.channel.k8s.io]",
                   offer ? offer : "");
}

/* Newer versions of kubectl fall back to bare SPDY where WebSocket is refused; `ret` is NULL for
 * it. */
static int check_upgrade(const struct http_request *request, const struct websocket_protocol **ret,
                         struct err *err)
{
    const struct http_header *headers = request->headers;
    if (websocket_is_asked(request))
        return choose_websocket(request, ret, err);
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
    *ret = NULL;
    return 0;
}

/* The ports of the query: "ports=80,81", also repeated. */
static int read_ports(struct rest *rest, struct port_forward_ports *ret, struct err *err)
{
    const char *text;
    for (size_t i = 0; (text = http_query_get_nth(rest->arena, rest->exchange->request->query,
                                                  "ports", i)) != NULL;
         i++) {
        for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
            const char *word = arena_strndup(rest->arena, at, strcspn(at, ","));
            int64_t port;
            if (str_to_int64(word, 1, 65535, &port, NULL) < 0)
                return err_set(err, ERR_BAD_REQUEST,
                               "unable to parse \"%.20s\" as a port: ports are numbers from 1 to "
                               "65535",
                               word);
            if (ret->count == ARRAY_SIZE(ret->ports))
                return err_set(err, ERR_BAD_REQUEST,
                               "a session forwards at most %zu ports: open another one",
                               ARRAY_SIZE(ret->ports));
            ret->ports[ret->count++] = (int)port;
        }
    }
    return ret->count ? 0 : err_set(err, ERR_BAD_REQUEST, "query parameter \"ports\" is required");
}

static int upgrade(struct rest *rest, const struct websocket_protocol *protocol,
                   struct stream **ret, struct err *err)
{
    const struct http_header chosen = {.name = OFFER, .value = PROTOCOL};
    return protocol ? websocket_upgrade(rest->exchange, protocol->name, ret, err)
                    : http_upgrade(rest->exchange, SPDY, &chosen, ret, err);
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

static void begin_session(struct rest *rest, const struct websocket_protocol *protocol,
                          struct stream *line, const struct json *pod,
                          const struct port_forward_ports *ports)
{
    const char *key =
        registry_key(rest->arena, rest->route.resource, rest->route.namespace_, rest->route.name);
    if (protocol && protocol->channels) {
        port_forward_websocket_new(rest->engine, line, key, pod, ports);
        return;
    }
    if (protocol)
        line = websocket_stream_new(engine_loop(rest->engine), line);
    port_forward_spdy_new(rest->engine, line, key, pod);
}

void rest_port_forward(struct rest *rest)
{
    struct err err = ERR_INIT;
    struct json *pod = NULL;
    int64_t revision;
    const struct websocket_protocol *protocol = NULL;
    struct port_forward_ports ports = {0};
    struct stream *line = NULL;
    if (rest_load(rest, rest->route.name, &pod, &revision, &err) < 0 ||
        check_upgrade(rest->exchange->request, &protocol, &err) < 0 ||
        check_pod(rest, pod, &err) < 0 ||
        (protocol && protocol->channels && read_ports(rest, &ports, &err) < 0) ||
        upgrade(rest, protocol, &line, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    ports.half_closes = protocol && protocol->half_closes;
    begin_session(rest, protocol, line, pod, &ports);
}
