/* pods/NAME/proxy, services/NAME/proxy and nodes/NAME/proxy: requests that are passed on to the
 * HTTP server of a pod. These are the parts of http_proxy.c: the target, the request, the response,
 * and the tunnel after a change of protocol. All but the tunnel are pure. */
#ifndef TRAINYARD_ENGINE_STREAM_HTTP_PROXY_H
#define TRAINYARD_ENGINE_STREAM_HTTP_PROXY_H

#include "base/buf.h"
#include "base/json/json.h"
#include "net/http/http.h"

#include <http_parser.h>

struct stream;
struct list_head;

/* ---- http_proxy_target.c --------------------------------------------------------------------- */

/* "web", "web:80", "web:http", "http:web:80"; missing parts are "". */
struct http_proxy_name {
    const char *scheme, *name, *port;
};

/* Returns -ERR_BAD_REQUEST with Kubernetes' message, or -ERR_UNSUPPORTED for https. `kind` is "pod"
 * or "service". */
int http_proxy_name_parse(struct arena *arena, const char *text, const char *kind,
                          struct http_proxy_name *ret, struct err *err);

/* The port of a pod: the number in `text`, or the first container port, or 80. */
int http_proxy_pod_port(const struct json *pod, const char *text, int *ret, struct err *err);

/* The name of a port of a service, which its endpoints use. `text` is that name or the number of
 * the port. */
int http_proxy_service_port(const struct json *service, const char *text, const char **ret,
                            struct err *err);

/* Picks an address that has the port. `seed` chooses the address at which the search begins. */
int http_proxy_pick_endpoint(const struct json *subsets, const char *service, const char *port,
                             uint64_t seed, const struct json **ret_address, int *ret_port,
                             struct err *err);

/* ---- http_proxy_request.c -------------------------------------------------------------------- */

/* Whether a header is about one connection only and is not passed on. The Connection header in
 * `headers`, the headers of the message, may name further ones. */
bool http_proxy_is_hop_header(const struct http_header *headers, const char *name);

/* The protocol that the client asks to change to, or NULL. */
const char *http_proxy_upgrade_of(const struct http_request *request);

/* Writes the request for the pod's server, with its body, but without the client's credentials. */
void http_proxy_write_request(struct arena *arena, const struct http_request *request,
                              const char *path, const char *host, struct buf *ret);

/* The headers of the response to the client. `prefix` is the path of the proxy; a Location on the
 * same server is moved below it. */
struct http_header *http_proxy_answer_headers(struct arena *arena, const struct http_header *from,
                                              const char *prefix);

/* ---- http_proxy_answer.c --------------------------------------------------------------------- */

struct http_proxy_answer_handler {
    /* After a status 101 the bytes that follow the header are not kept: see `ret_used`. `length` is
     * -1 if it is not known. */
    void (*on_head)(void *context, int status, const struct http_header *headers, int64_t length);
    void (*on_body)(void *context, const char *data, size_t size);
};

struct http_proxy_answer {
    http_parser parser;
    const struct http_proxy_answer_handler *handler;
    void *context;
    struct arena *arena; /* of the headers */
    struct http_header *headers;
    size_t header_size, header_count;
    struct buf name, value; /* the header that is being read */
    bool in_value;          /* the name of that header is complete */
    bool no_body;           /* the request is HEAD */
    bool head_done;         /* on_head was called */
    bool whole;             /* the response is complete */
    bool switched; /* the status was 101; the bytes that follow belong to another protocol */
    struct err err;
};

void http_proxy_answer_init(struct http_proxy_answer *answer, bool no_body,
                            const struct http_proxy_answer_handler *handler, void *context);
void http_proxy_answer_release(struct http_proxy_answer *answer);
/* `ret_used` is the number of bytes that belong to the response. */
int http_proxy_answer_feed(struct http_proxy_answer *answer, const char *data, size_t size,
                           size_t *ret_used, struct err *err);
/* The server has ended its side, which may be the end of the body. */
int http_proxy_answer_end(struct http_proxy_answer *answer, struct err *err);

/* ---- http_proxy_tunnel.c --------------------------------------------------------------------- */

/* Passes bytes on between the client, whose stream is not started yet, and the pod, whose stream
 * is. Takes both streams. Ends when either of them or the server ends. `early` are bytes that came
 * from the pod already. */
void http_proxy_tunnel_new(struct list_head *open_calls, struct stream *client, struct stream *pod,
                           const char *early, size_t early_size);

#endif
