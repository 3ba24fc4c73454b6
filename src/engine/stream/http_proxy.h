/* The proxy of pods/NAME/proxy, services/NAME/proxy and nodes/NAME/proxy. For pods and services, it
 * forwards requests to the HTTP server of a pod. For nodes, the API server itself responds.
 * http_proxy.c handles the requests. This header declares the parts that http_proxy.c uses: the
 * target, the request, the response, and the tunnel after a switch of protocol. All parts except
 * the tunnel are pure. */
#ifndef TRAINYARD_ENGINE_STREAM_HTTP_PROXY_H
#define TRAINYARD_ENGINE_STREAM_HTTP_PROXY_H

#include "base/buf.h"
#include "base/json/json.h"
#include "net/http/http.h"

#include <http_parser.h>

struct stream;
struct list_head;

/* ---- http_proxy_target.c --------------------------------------------------------------------- */

/* The parsed form of "web", "web:80", "web:http" or "http:web:80". Missing parts are "". */
struct http_proxy_name {
    const char *scheme, *name, *port;
};

/* Parses the name and returns 0. Returns -ERR_BAD_REQUEST with Kubernetes' message if the name is
 * invalid, or -ERR_UNSUPPORTED if the scheme is https. `kind` is "pod" or "service". */
int http_proxy_name_parse(struct arena *arena, const char *text, const char *kind,
                          struct http_proxy_name *ret, struct err *err);

/* Sets *ret to the port of the pod and returns 0. The port is the number in `text`, or, if `text`
 * is "", the first container port of the pod, or 80 if the pod has none. Returns -ERR_BAD_REQUEST
 * if `text` is not a port. */
int http_proxy_pod_port(const struct json *pod, const char *text, int *ret, struct err *err);

/* Sets *ret to the name of a service port and returns 0. The ports of the endpoints have the same
 * name. `text` is the name or the number of the port; a name is not checked. Returns
 * -ERR_UNAVAILABLE if the service has no port with the number. */
int http_proxy_service_port(const struct json *service, const char *text, const char **ret,
                            struct err *err);

/* Picks an address of `subsets` that has the port. `seed` chooses the subset at which the search
 * begins, and the address in the subset that is found. Returns -ERR_UNAVAILABLE if no subset has
 * the port and an address. */
int http_proxy_pick_endpoint(const struct json *subsets, const char *service, const char *port,
                             uint64_t seed, const struct json **ret_address, int *ret_port,
                             struct err *err);

/* ---- http_proxy_request.c -------------------------------------------------------------------- */

/* Returns whether a header is a hop-by-hop header, which must not be forwarded. `headers` are all
 * headers of the message, because its Connection header may name further hop-by-hop headers. */
bool http_proxy_is_hop_header(const struct http_header *headers, const char *name);

/* Returns the protocol in the client's Upgrade header, or NULL. */
const char *http_proxy_upgrade_of(const struct http_request *request);

/* Appends the request for the pod's server to `ret`, with the body but without the client's
 * credentials. */
void http_proxy_write_request(struct arena *arena, const struct http_request *request,
                              const char *path, const char *host, struct buf *ret);

/* Returns the headers of the response to the client. `prefix` is the path of the proxy. It is
 * prepended to a Location that is only a path. */
struct http_header *http_proxy_answer_headers(struct arena *arena, const struct http_header *from,
                                              const char *prefix);

/* ---- http_proxy_answer.c --------------------------------------------------------------------- */

struct http_proxy_answer_handler {
    /* Called once with the final status and the headers. `length` is the size of the body, or -1 if
     * it is unknown. After a status 101, the bytes after the headers are not reported; see
     * `ret_used` of http_proxy_answer_feed(). */
    void (*on_head)(void *context, int status, const struct http_header *headers, int64_t length);
    void (*on_body)(void *context, const char *data, size_t size);
};

/* The parser of a response. */
struct http_proxy_answer {
    http_parser parser;
    const struct http_proxy_answer_handler *handler;
    void *context;
    struct arena *arena; /* owns the headers */
    struct http_header *headers;
    size_t header_size, header_count; /* in bytes; in lines */
    struct buf name, value;           /* the header that is being read */
    bool in_value;                    /* the value of this header is being read */
    bool no_body;                     /* the request is HEAD */
    bool head_done;                   /* on_head was called */
    bool whole;                       /* the response is complete */
    bool switched;  /* the status was 101; the bytes after the headers belong to another protocol */
    struct err err; /* why a callback stopped the parser */
};

void http_proxy_answer_init(struct http_proxy_answer *answer, bool no_body,
                            const struct http_proxy_answer_handler *handler, void *context);
void http_proxy_answer_release(struct http_proxy_answer *answer);
/* Parses bytes of the response. Sets *ret_used to the number of bytes that belong to the response.
 * Returns 0, or an error if the response is malformed or its headers are too large. */
int http_proxy_answer_feed(struct http_proxy_answer *answer, const char *data, size_t size,
                           size_t *ret_used, struct err *err);
/* Called when the pod's server has ended its side, which may also be the end of the body. Returns
 * 0, or an error if the response is incomplete. */
int http_proxy_answer_end(struct http_proxy_answer *answer, struct err *err);

/* ---- http_proxy_tunnel.c --------------------------------------------------------------------- */

/* Forwards bytes between the client and the pod. Takes ownership of both streams. The client's
 * stream must not be started yet; the pod's stream must be started. The tunnel ends when both
 * sides have ended, when one side fails, or when the server stops. `early` are bytes that the
 * pod has sent already. */
void http_proxy_tunnel_new(struct list_head *open_calls, struct stream *client, struct stream *pod,
                           const char *early, size_t early_size);

#endif
