/* The HTTP/1.1 server on the loop, with TLS or plain TCP. */
#ifndef TRAINYARD_NET_HTTP_SERVER_H
#define TRAINYARD_NET_HTTP_SERVER_H

#include "loop/loop.h"
#include "net/http/http.h"

struct budget_group;
struct buf;
struct tls_server;

/* Bytes of requests and unread responses that all clients of a server together may make it keep:
 * sixteen of the largest bodies. */
enum { HTTP_MEMORY_MAX = 48 * 1024 * 1024 };

/* Writes the JSON body of a response that comes from the server, because the request could not be
 * parsed or was refused. */
typedef void http_write_refusal(int status, const char *sentence, struct buf *body);

struct http_server_options {
    int listen_fd; /* a listening TCP socket; stays with the caller if http_server_new() fails */
    struct tls_server *tls; /* NULL: plain HTTP; must outlive the server */
    /* Called for each request when its header is complete, before its body is read or "100
     * Continue" is sent; NULL: every request is admitted. To refuse the request, it answers the
     * exchange before it returns: then the handler is not called, and a connection whose request
     * has a body is closed after the response. To admit the request, it only returns; it may lower
     * exchange->body_max. It gets the handler's context. */
    http_handler *admit;
    size_t body_max;   /* bytes; 0: 3 MiB */
    size_t header_max; /* bytes of all header lines; 0: 64 KiB */
    /* The budget for the memory of clients. Several servers may share one, which must outlive them.
     * NULL: the server makes one of HTTP_MEMORY_MAX bytes, of which each user or address gets at
     * most half. */
    struct budget_group *memory;
    size_t connections_max; /* 0: 4096. A further connection replaces the one that has waited
                               longest without a request; if there is none, the further connection
                               is closed at once */
    /* 0: the defaults of server.c. */
    int64_t handshake_timeout_ms, header_timeout_ms, body_timeout_ms, idle_timeout_ms;
    int64_t silence_timeout_ms; /* time after which a silent peer counts as dead; see server.c; 0:
                                   30 s; at least 4 s */
    http_write_refusal *write_refusal; /* NULL: the message is sent as plain text */
};

struct http_server;

int http_server_new(struct loop *loop, const struct http_server_options *options,
                    http_handler *handler, void *context, struct http_server **ret,
                    struct err *err);

/* Stops listening, cancels the exchanges, closes every connection, then calls `closed`, which may
 * be NULL. */
void http_server_close(struct http_server *server, void (*closed)(void *context), void *context);

/* Opens a listening TCP socket on address:port, non-blocking and close-on-exec. With port 0 the
 * kernel chooses a free port. */
int http_listen(const char *address, int port, int *ret_fd, int *ret_port, struct err *err);

#endif
