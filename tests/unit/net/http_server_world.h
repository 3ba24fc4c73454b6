/* The fixture of the tests of the server: a server on real sockets, plain or TLS, on the main
 * thread's loop, and blocking clients in another thread. */
#ifndef TRAINYARD_TESTS_UNIT_NET_HTTP_SERVER_WORLD_H
#define TRAINYARD_TESTS_UNIT_NET_HTTP_SERVER_WORLD_H

#include "base/buf.h"
#include "loop/loop.h"
#include "net/http/server.h"
#include "tls/tls.h"

#include <openssl/ssl.h>

enum { BIG = 8 * 1024 * 1024, TICKS = 3 }; /* bytes of /big, lines of /ticks */

struct world {
    struct loop *loop;
    struct http_server *server;
    struct tls_server *tls;
    int port;
    SSL_CTX *client_context; /* NULL: plain */
    void (*client)(struct world *world);
    struct loop_task client_done;
    struct loop_timer ticker;
    struct http_exchange *ticking;
    int ticks;
    _Atomic int cancelled;
    bool closed;
};

/* Runs the client against a server, to its end. Timeouts that are not given are long. */
void serve_client(bool with_tls, const struct http_server_options *limits,
                  void (*client)(struct world *world));

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

struct client {
    int fd;
    SSL *ssl;
};

void client_open(struct client *client, struct world *world);
void client_close(struct client *client);
void client_send(struct client *client, const void *data, size_t size);
void client_say(struct client *client, const char *text);
/* Returns the number of bytes, or 0 at the end of the connection or after an error. */
size_t client_read(struct client *client, void *data, size_t size);
/* Reads until the received bytes contain the text, or the connection ends. */
void client_read_until(struct client *client, struct buf *buf, const char *text);
void expect_end(struct client *client);

#endif
