/* The HTTP/1.1 server on the loop, over TLS or plain TCP. */
#ifndef TRAINYARD_NET_HTTP_SERVER_H
#define TRAINYARD_NET_HTTP_SERVER_H

#include "loop/loop.h"
#include "net/http/http.h"

struct budget_group;
struct buf;
struct tls_server;

/* Bytes that all clients of a server together may make it keep, as requests and as answers that
 * they have not read: sixteen of the largest bodies. */
enum { HTTP_MEMORY_MAX = 48 * 1024 * 1024 };

/* Write the JSON body of an answer that no handler gives, for this sentence is about a request that
 * could not be read. */
typedef void http_write_refusal(int status, const char *sentence, struct buf *body);

struct http_server_options {
    int listen_fd;          /* a listening TCP socket; stays the caller's where making one fails */
    struct tls_server *tls; /* NULL: plain HTTP; must outlive the server */
    /* Called with each request once its header is complete, before its body is read or "100
     * Continue" is sent; NULL: every request is admitted. To refuse, it answers the exchange before
     * it returns: the handler is not called, and a connection whose request has a body is closed
     * after the answer. To admit, it only returns, and may lower exchange->body_max. It gets the
     * handler's context. */
    http_handler *admit;
    size_t body_max;   /* bytes; 0: 3 MiB */
    size_t header_max; /* bytes of all header lines; 0: 64 KiB */
    /* May be shared by several servers, and must outlive them; NULL: one of its own, of
     * HTTP_MEMORY_MAX bytes, of which a user or address gets half. */
    struct budget_group *memory;
    size_t connections_max; /* 0: 4096; one more takes the place of the one that has asked nothing
                               for the longest time, or is closed at once */
    int64_t handshake_timeout_ms, header_timeout_ms, body_timeout_ms,
        idle_timeout_ms;               /* 0: default */
    int64_t silence_timeout_ms;        /* see net/http/server.c; 0: 30 s, at least 4 s */
    http_write_refusal *write_refusal; /* NULL: the sentence as plain text */
};

struct http_server;

int http_server_new(struct loop *loop, const struct http_server_options *options,
                    http_handler *handler, void *context, struct http_server **ret,
                    struct err *err);

/* Stop listening, close every connection (exchanges are cancelled), then call `closed`. */
void http_server_close(struct http_server *server, void (*closed)(void *context), void *context);

/* A listening TCP socket on address:port (port 0: any free), non-blocking, close-on-exec. */
int http_listen(const char *address, int port, int *ret_fd, int *ret_port, struct err *err);

#endif
