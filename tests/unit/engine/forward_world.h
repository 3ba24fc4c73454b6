/* The fixture of the tests of port forwarding: an API server with the running pod "x", kubectl's
 * connection to the server and the pod's own connection, all in memory and in virtual time. */
#ifndef TRAINYARD_TESTS_UNIT_ENGINE_FORWARD_WORLD_H
#define TRAINYARD_TESTS_UNIT_ENGINE_FORWARD_WORLD_H

#include "api_line.h"

#include "net/stream/spdy.h"
#include "net/stream/websocket.h"

#define PATH  "/api/v1/namespaces/default/pods/x/portforward"
#define OFFER "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
#define WEBSOCKET                                                                                  \
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"                   \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define V1 "X-Stream-Protocol-Version: portforward.k8s.io\r\n"

enum { CONNECTS_MAX = 8 };

struct connect {
    int port;
    engine_connect_done *done;
    void *context;
    bool canceled;
};

struct world {
    struct api_line line;
    bool tunnels; /* the connection is a WebSocket that carries SPDY */
    struct websocket_reader tunnel;
    struct spdy_writer writer;
    struct spdy_reader reader;
    struct connect connects[CONNECTS_MAX];
    int connect_count;
    struct memory_stream *pod; /* the pod's connection; NULL: not connected yet */
    bool pod_closed;
};

/* The setup and teardown for cmocka. */
int forward_world_setup(void **state);
int forward_world_teardown(void **state);
#define TEST(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, forward_world_setup, forward_world_teardown)

/* Runs the loop until all immediate effects have happened. */
void run(struct world *world);
/* Sends one request of kubectl. Returns the status of its response. */
int ask(struct world *world, const char *method, const char *path, const char *headers);
void set_phase(struct world *world, const char *phase);
/* Sets the pod's phase to Failed, as another client. */
void end_pod(struct world *world);
/* Completes the requested connection to the pod with this number. */
void connected(struct world *world, int number);

/* The mask that kubectl uses in WebSocket frames. */
extern const unsigned char MASK[4];

#endif
