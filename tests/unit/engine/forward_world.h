/* The world of the tests of port forwarding: an API server with the running pod "x", kubectl's line
 * to the server and the pod's own, all in memory and in virtual time. */
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
    bool tunnels; /* it is WebSocket's, with SPDY within */
    struct websocket_reader tunnel;
    struct spdy_writer writer;
    struct spdy_reader reader;
    struct connect connects[CONNECTS_MAX];
    int connect_count;
    struct memory_stream *pod; /* the pod's line, once there */
    bool pod_closed;
};

/* For cmocka. */
int forward_world_setup(void **state);
int forward_world_teardown(void **state);
#define TEST(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, forward_world_setup, forward_world_teardown)

/* Let everything happen that follows at once. */
void run(struct world *world);
/* One request of kubectl's; its status. */
int ask(struct world *world, const char *method, const char *path, const char *headers);
void set_phase(struct world *world, const char *phase);
/* Another client writes that the pod has failed. */
void end_pod(struct world *world);
/* The connection to the pod that was asked for with this number is there. */
void connected(struct world *world, int number);

/* kubectl's mask of WebSocket's frames. */
extern const unsigned char MASK[4];

#endif
