/* The fixture of the tests of a server's connection: a service with a few paths, and a stream in
 * memory to it, in virtual time. */
#ifndef TRAINYARD_TESTS_UNIT_NET_HTTP_CONNECTION_WORLD_H
#define TRAINYARD_TESTS_UNIT_NET_HTTP_CONNECTION_WORLD_H

#include "memory_stream.h"
#include "net/http/connection.h"

enum { PEERS = 4 };

struct world {
    struct loop *loop;
    struct http_service service;
    struct memory_stream *peer;
    bool closed;
    struct http_exchange *held;
    int requests, cancelled, drained, closed_count, admissions;
    struct budget_group memory;
    struct memory_stream *peers[PEERS]; /* further connections */
    bool peers_closed[PEERS];
    char log[256]; /* the requested paths */
    bool end_in_later_turn;
    struct loop_task task;
};

/* The setup and teardown for cmocka. */
int connection_world_setup(void **state);
int connection_world_teardown(void **state);
#define TEST(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, connection_world_setup, connection_world_teardown)

/* Runs the loop until all immediate effects have happened. */
void run(struct world *world);
/* Sends this text as the peer. */
void say(struct world *world, const char *text);
/* Returns all responses since the last call, without the Date lines. */
const char *heard(struct world *world);

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define POST_ECHO(body, length)                                                                    \
    "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " length "\r\n\r\n" body
#define ECHOED(body, length)                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " length "\r\n\r\n" body

#endif
