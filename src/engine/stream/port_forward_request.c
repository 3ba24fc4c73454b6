/* GET and POST of pods/NAME/portforward: checks the request, upgrades the connection, and passes it
 * to port_forward_spdy.c or port_forward_websocket.c. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/call.h"
#include "engine/stream/handlers.h"
#include "engine/stream/port_forward.h"
#include "net/http/websocket_handshake.h"
#include "net/stream/websocket_stream.h"

#include <string.h>

static const char SPDY[] = "SPDY/3.1", PROTOCOL[] = "portforward.k8s.io",
                  OFFER[] = "X-Stream-Protocol-Version";

/* The protocols over WebSocket, preferred protocol first. kubectl 1.31 and later send SPDY inside
 * WebSocket messages. Other clients use channels. */
static const struct websocket_protocol {
    const char *name;
    bool channels;    /* messages start with a channel number */
    bool half_closes; /* see port_forward_ports.half_closes */
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

/* Chooses the protocol. Sets *ret to NULL for SPDY without WebSocket, which older versions of
 * kubectl use and newer versions fall back to. */
static int check_upgrade(const struct http_request *request, const struct websocket_protocol **ret,
                         struct err *err)
{
    const struct http_header *headers = request->headers;
    if (websocket_is_requested(request))
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

/* Reads the ports of the query: "ports=80,81". The parameter may be repeated. */
static int read_ports(struct api_call *call, struct port_forward_ports *ret, struct err *err)
{
    const char *text;
    for (size_t i = 0; (text = http_query_get_nth(call->arena, call->exchange->request->query,
                                                  "ports", i)) != NULL;
         i++) {
        for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
            const char *word = arena_strndup(call->arena, at, strcspn(at, ","));
            int64_t port;
            if (str_to_int64(word, 1, 65535, &port, NULL) < 0)
                return err_set(err, ERR_BAD_REQUEST,
                               "unable to parse \"%.20s\" as a port: ports are numbers from 1 to "
                               "65535",
                               word);
            if (ret->count == ARRAY_SIZE(ret->ports))
                return err_set(
                    err, ERR_BAD_REQUEST,
                    "a session forwards at most %zu ports: open another session for more",
                    ARRAY_SIZE(ret->ports));
            ret->ports[ret->count++] = (int)port;
        }
    }
    return ret->count ? 0 : err_set(err, ERR_BAD_REQUEST, "query parameter \"ports\" is required");
}

static int port_forward_upgrade(struct api_call *call, const struct websocket_protocol *protocol,
                                struct stream **ret, struct err *err)
{
    const struct http_header chosen = {.name = OFFER, .value = PROTOCOL};
    return protocol ? websocket_upgrade(call->exchange, protocol->name, ret, err)
                    : http_upgrade(call->exchange, SPDY, &chosen, ret, err);
}

static int port_forward_check_pod(struct api_call *call, const struct json *pod, struct err *err)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "Pending");
    if (!engine_backend(call->engine)->connect)
        return err_set(err, ERR_UNAVAILABLE,
                       "no node of this server runs pods, so pod \"%s\" has no ports",
                       call->route.name);
    if (!str_eq(phase, "Running"))
        return err_set(err, ERR_BAD_REQUEST,
                       "unable to forward port because pod is not running. Current status=%s",
                       phase);
    return 0;
}

static void begin_session(struct api_call *call, const struct websocket_protocol *protocol,
                          struct stream *stream, const struct json *pod,
                          const struct port_forward_ports *ports)
{
    const char *key =
        stored_key(call->arena, call->route.resource, call->route.namespace_, call->route.name);
    if (protocol && protocol->channels) {
        port_forward_websocket_new(call->engine, stream, key, pod, ports);
        return;
    }
    if (protocol)
        stream = websocket_stream_new(engine_loop(call->engine), stream);
    port_forward_spdy_new(call->engine, stream, key, pod);
}

void port_forward_handle(struct api_call *call)
{
    struct err err = ERR_INIT;
    struct json *pod = NULL;
    int64_t revision;
    const struct websocket_protocol *protocol = NULL;
    struct port_forward_ports ports = {0};
    struct stream *stream = NULL;
    if (api_load(call, call->route.name, &pod, &revision, &err) < 0 ||
        check_upgrade(call->exchange->request, &protocol, &err) < 0 ||
        port_forward_check_pod(call, pod, &err) < 0 ||
        (protocol && protocol->channels && read_ports(call, &ports, &err) < 0) ||
        port_forward_upgrade(call, protocol, &stream, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    ports.half_closes = protocol && protocol->half_closes;
    begin_session(call, protocol, stream, pod, &ports);
}
