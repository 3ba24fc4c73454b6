/* GET and POST pods/NAME/portforward: the question is checked here, the connection's protocol
 * changed, and the session left to port_forward.c. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/port_forward.h"
#include "engine/rest.h"

#include <string.h>
#include <strings.h>

static const char SPDY[] = "SPDY/3.1", PROTOCOL[] = "portforward.k8s.io",
                  OFFER[] = "X-Stream-Protocol-Version";

/* Whether one of the header's lines has the word between its commas. *ret_any: there is a line. */
static bool header_has(const struct http_header *headers, const char *name, const char *word,
                       bool *ret_any)
{
    size_t size = strlen(word);
    *ret_any = false;
    for (; headers; headers = headers->next) {
        if (!str_eq_nocase(headers->name, name))
            continue;
        *ret_any = true;
        for (const char *at = headers->value; *at;) {
            at += strspn(at, ", \t");
            size_t here = strcspn(at, ", \t");
            if (here == size && strncasecmp(at, word, size) == 0)
                return true;
            at += here;
        }
    }
    return false;
}

/* kubectl tries a protocol on WebSocket first; refused, it comes again with SPDY. */
static int check_upgrade(const struct http_request *request, struct err *err)
{
    bool any;
    if (!header_has(request->headers, "Connection", "Upgrade", &any) ||
        !header_has(request->headers, "Upgrade", SPDY, &any))
        return err_set(err, ERR_BAD_REQUEST,
                       "unable to upgrade: port forwarding needs the headers 'Connection: Upgrade' "
                       "and 'Upgrade: %s'",
                       SPDY);
    if (!header_has(request->headers, OFFER, PROTOCOL, &any) && any)
        return err_set(err, ERR_FORBIDDEN,
                       "unable to upgrade: unable to negotiate protocol: client supports "
                       "[%.100s], server accepts [%s]",
                       http_header_get(request->headers, OFFER), PROTOCOL);
    return 0;
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
    const struct http_header chosen = {.name = OFFER, .value = PROTOCOL};
    if (rest_load(rest, rest->route.name, &pod, &revision, &err) < 0 ||
        check_upgrade(rest->exchange->request, &err) < 0 || check_pod(rest, pod, &err) < 0 ||
        http_upgrade(rest->exchange, SPDY, &chosen, &line, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    const char *key =
        rest_key(rest->arena, rest->route.resource, rest->route.namespace_, rest->route.name);
    port_forward_new(rest->engine, line, key, pod);
}
