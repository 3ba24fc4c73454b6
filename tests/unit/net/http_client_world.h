/* An https client and its server on one loop: shared by the tests of the transport. */
#ifndef TRAINYARD_TESTS_UNIT_NET_HTTP_CLIENT_WORLD_H
#define TRAINYARD_TESTS_UNIT_NET_HTTP_CLIENT_WORLD_H

#include "base/buf.h"
#include "loop/loop.h"
#include "net/http/client.h"
#include "net/http/server.h"
#include "tls/tls.h"

enum { PEERS_MAX = 64 };

struct world {
    struct loop *loop;
    struct loop_timer guard; /* a test that hangs says so */
    struct tls_pair ca, other_ca, pair;
    struct tls_server *tls;
    struct http_server *server;
    struct http_transport *transport;
    char url[64];
    bool server_closed;
    int cancelled;
    struct http_exchange *held;
    char peers[PEERS_MAX][32]; /* each connection the server saw */
    size_t peer_count;
    char path[64]; /* of the last request */
};

/* As cmocka calls them; *state is the world. */
int world_setup(void **state);
int world_teardown(void **state);

/* Another client in the place of the one there was. */
void world_use_client(struct world *world, const struct http_client_options *options);

/* The server: /describe tells what came, /names who was asked for, /hold never answers, /stream
 * begins to, /refuse is 401; anything else is given back. */
void world_handle(struct http_exchange *exchange, void *context);
void world_server_closed(void *context);

/* What became of a call. */
struct answer {
    struct world *world;
    struct http_call *call;
    int status, ended;
    char type[32];
    struct buf body;
    struct err err;
    bool stop_on_data, cancel_on_data, free_on_data, free_on_end, go_on; /* on_end stops the loop */
    struct answer *start_on_end;
};

void answer_start(struct answer *answer, struct world *world, const char *method, const char *path,
                  const void *body, size_t size, int64_t timeout_ms);

#endif
