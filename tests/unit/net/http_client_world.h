/* The fixture of the tests of the https transport: a client and its server on one loop. */
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
    struct loop_timer guard; /* fails a test that hangs */
    struct tls_pair ca, other_ca, pair;
    struct tls_server *tls;
    struct http_server *server;
    struct http_transport *transport;
    char url[64];
    bool server_closed;
    int cancelled;
    struct http_exchange *held;
    char peers[PEERS_MAX][32]; /* the address of each connection that the server saw */
    size_t peer_count;
    char path[64]; /* path of the last request */
};

/* The setup and teardown for cmocka. *state is the world. */
int world_setup(void **state);
int world_teardown(void **state);

/* Replaces the client by another one. */
void world_use_client(struct world *world, const struct http_client_options *options);

/* Handles a request: /describe responds with the request, /names with the host names, /hold never
 * responds, /stream begins a response, /refuse responds 401. Any other path returns the body. */
void world_handle(struct http_exchange *exchange, void *context);
void world_server_closed(void *context);

/* The result of a call. */
struct answer {
    struct world *world;
    struct http_call *call;
    int status, ended;
    char type[32];
    struct buf body;
    struct err err;
    /* The actions of the callbacks. With go_on, on_end does not stop the loop. */
    bool stop_on_data, cancel_on_data, free_on_data, free_on_end, go_on;
    struct answer *start_on_end;
};

void answer_start(struct answer *answer, struct world *world, const char *method, const char *path,
                  const void *body, size_t size, int64_t timeout_ms);

#endif
