/* The HTTP/1.1 server on the loop, with TLS or plain TCP. */
#ifndef TRAINYARD_NET_HTTP_SERVER_H
#define TRAINYARD_NET_HTTP_SERVER_H

#include "loop/loop.h"
#include "net/http/http.h"

struct budget_group;
struct buf;
struct tls_server;

/* Default maximum of bytes that a server keeps for the requests and unsent responses of all
 * clients: enough for sixteen of the largest bodies. */
enum { HTTP_MEMORY_MAX = 48 * 1024 * 1024 };

/* Writes the JSON body of an error response that the server sends instead of a response of the
 * handler, because the request is invalid, took too long or needs too much memory. */
typedef void http_write_refusal(int status, const char *sentence, struct buf *body);

struct http_server_options {
    int listen_fd; /* a listening TCP socket; the server owns it after http_server_new() succeeds */
    struct tls_server *tls; /* NULL: plain HTTP; must outlive the server */
    /* Called for each request when its header is complete, before its body is read or "100
     * Continue" is sent; NULL: every request is admitted. To refuse the request, the function sends
     * a complete response before it returns. Then the handler is not called, and if the request has
     * a body, the connection is closed after the response. To admit the request, the function
     * returns without a response; it may set exchange->body_max. It gets the same context as the
     * handler. */
    http_handler *admit;
    size_t body_max; /* maximum size of a request's body in bytes; 0: 3 MiB */
    /* Maximum size of the request line and the header lines of a request, in bytes; at most 64 KiB;
     * 0: 64 KiB. */
    size_t header_max;
    /* The budget for the memory of clients. Several servers may share a budget, which must outlive
     * them. If it is NULL, the server creates a budget of HTTP_MEMORY_MAX bytes, and each user or
     * address may use at most half of it. */
    struct budget_group *memory;
    /* Maximum number of connections; 0: 4096. At the limit, a new connection replaces the
     * connection that has waited longest without a complete request header. If there is no such
     * connection, the new connection is closed. */
    size_t connections_max;
    /* Time limits; 0: the defaults of server.c. */
    int64_t handshake_timeout_ms, header_timeout_ms, body_timeout_ms, idle_timeout_ms;
    int64_t silence_timeout_ms; /* TCP keepalive: time after which a silent peer counts as dead; at
                                   least 4 s; 0: 30 s */
    http_write_refusal *write_refusal; /* NULL: error responses are plain text */
};

struct http_server;

/* Starts to accept connections. Returns 0, -ERR_UNSUPPORTED in simulation, -ERR_INVALID if
 * `header_max` is too large, or another negative error. */
int http_server_new(struct loop *loop, const struct http_server_options *options,
                    http_handler *handler, void *context, struct http_server **ret,
                    struct err *err);

/* Stops listening, cancels the exchanges, starts to close every connection, and returns. When all
 * connections are closed, the server is freed and `closed`, which may be NULL, is called from the
 * loop. */
void http_server_close(struct http_server *server, void (*closed)(void *context), void *context);

/* Opens a listening TCP socket on address:port, non-blocking and close-on-exec. With port 0 the
 * kernel chooses a free port. Sets *ret_port, unless ret_port is NULL, to the port. The caller
 * closes *ret_fd. Returns 0 or a negative error. */
int http_listen(const char *address, int port, int *ret_fd, int *ret_port, struct err *err);

#endif
