/* pods/NAME/proxy, services/NAME/proxy and nodes/NAME/proxy: requests to the API that are passed on
 * to the HTTP server of a pod. The parts of http_proxy.c: where a request goes, what is sent there,
 * what comes back, and what happens after a change of protocol. All but the last are pure. */
#ifndef TRAINYARD_ENGINE_HTTP_PROXY_H
#define TRAINYARD_ENGINE_HTTP_PROXY_H

#include "base/buf.h"
#include "base/json/json.h"
#include "net/http/http.h"

#include <http_parser.h>

struct stream;
struct open_call;

/* ---- Where it goes: http_proxy_target.c ------------------------------------------------------ */

/* "web", "web:80", "web:http", "http:web:80"; the parts that are missing are "". */
struct http_proxy_name {
    const char *scheme, *name, *port;
};

/* ERR_BAD_REQUEST in Kubernetes' words; `kind` is "pod" or "service". https is not spoken:
 * ERR_UNSUPPORTED. */
int http_proxy_name_parse(struct arena *arena, const char *text, const char *kind,
                          struct http_proxy_name *ret, struct err *err);

/* The port of a pod: the one that is named by its number, or the first of its containers, or 80. */
int http_proxy_pod_port(const struct json *pod, const char *text, int *ret, struct err *err);

/* The name of a service's port, which its endpoints use: `text` is that name, or the number of the
 * port. */
int http_proxy_service_port(const struct json *service, const char *text, const char **ret,
                            struct err *err);

/* One of the addresses that have the port. `seed` says with which the search begins. */
int http_proxy_pick_endpoint(const struct json *subsets, const char *service, const char *port,
                             uint64_t seed, const struct json **ret_address, int *ret_port,
                             struct err *err);

/* ---- What is sent: http_proxy_request.c ------------------------------------------------------ */

/* Whether a header says something about one connection only, and is not passed on. `headers` are
 * all of the message: its Connection may name further ones. */
bool http_proxy_is_hop_header(const struct http_header *headers, const char *name);

/* Whether the client asks to change the protocol: the protocol, or NULL. */
const char *http_proxy_upgrade_of(const struct http_request *request);

/* The request for the other server, body included. The client's credentials stay here. */
void http_proxy_write_request(struct arena *arena, const struct http_request *request,
                              const char *path, const char *host, struct buf *ret);

/* The header lines of the answer that the client gets. `prefix` is the path of the proxy: a
 * Location on the same server is moved below it. */
struct http_header *http_proxy_answer_headers(struct arena *arena, const struct http_header *from,
                                              const char *prefix);

/* ---- What comes back: http_proxy_answer.c ---------------------------------------------------- */

struct http_proxy_answer_handler {
    /* Nothing is kept of what follows the header of a status 101: see `used`. `length` is -1 where
     * it is not known. */
    void (*on_head)(void *context, int status, const struct http_header *headers, int64_t length);
    void (*on_body)(void *context, const char *data, size_t size);
};

struct http_proxy_answer {
    http_parser parser;
    const struct http_proxy_answer_handler *handler;
    void *context;
    struct arena *arena; /* of the header lines */
    struct http_header *headers;
    size_t header_size, header_count;
    struct buf name, value; /* of the header line that is being read */
    bool in_value;          /* the name of that line is complete */
    bool no_body;           /* the request was HEAD */
    bool head_done;         /* on_head was called */
    bool whole;             /* nothing more belongs to it */
    bool switched;          /* it was a 101; the bytes that follow are another protocol's */
    struct err err;
};

void http_proxy_answer_init(struct http_proxy_answer *answer, bool no_body,
                            const struct http_proxy_answer_handler *handler, void *context);
void http_proxy_answer_release(struct http_proxy_answer *answer);
/* `ret_used` are the bytes that belong to the answer. */
int http_proxy_answer_feed(struct http_proxy_answer *answer, const char *data, size_t size,
                           size_t *ret_used, struct err *err);
/* The server has ended its side, which may be how the body ends. */
int http_proxy_answer_end(struct http_proxy_answer *answer, struct err *err);

/* ---- After a change of protocol: http_proxy_tunnel.c ----------------------------------------- */

/* Passes bytes on between the client, whose line is not started yet, and the pod, whose line is.
 * Takes both; ends with either, or with the server. `early` came from the pod. */
void http_proxy_tunnel_new(struct open_call *open_calls, struct stream *client, struct stream *pod,
                           const char *early, size_t early_size);

#endif
