/* Tests which pending peers are dropped when more connect than the listener accepts. The test sets
 * the time. */
#include "comm/group/peer_listener.h"
#include "comm/transport/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIZE = 2, CROWD = 300, NOW = 1000 };

static int connect_peer(const struct peer_listener *peer_listener)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)socket_local_port(peer_listener->fd)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* Waits until the connection has reached the listener, since the kernel may take a moment. */
static void wait_for_connection(const struct peer_listener *peer_listener)
{
    struct pollfd ready = {.fd = peer_listener->fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, -1), 1);
}

/* No handshake has timed out: the newest connection is accepted, and the oldest silent one is
 * dropped for it. */
static void the_oldest_silent_peers_are_dropped_for_new_ones(void **state)
{
    struct peer_listener peer_listener = {.fd = -1, .identity = {.size = SIZE}};
    const struct ty_task self = {.role = TY_ROLE_WORKER, .host = "127.0.0.1"};
    struct err err = ERR_INIT;
    int fds[CROWD];
    char byte;
    assert_int_equal(peer_listener_open(&peer_listener, &self, SIZE, &err), 0);
    for (int i = 0; i < CROWD; i++) {
        assert_true(peer_listener_has_room(&peer_listener, SIZE));
        fds[i] = connect_peer(&peer_listener);
        wait_for_connection(&peer_listener);
        peer_listener_accept(&peer_listener, &peer_listener.identity, NOW);
    }
    int stay = (int)peer_listener.pending_peers.count;
    assert_in_range(stay, SIZE, CROWD - 1);
    for (int i = 0; i < CROWD - stay; i++)
        assert_int_equal(recv(fds[i], &byte, 1, 0), 0);
    for (int i = CROWD - stay; i < CROWD; i++)
        assert_int_equal(recv(fds[i], &byte, 1, MSG_DONTWAIT), -1);
    assert_false(
        peer_listener_is_wanted(&peer_listener, NOW)); /* no pending peer is authenticated */
    assert_int_equal(peer_listener.pending_peers.count, stay);
    assert_false(peer_listener_is_wanted(&peer_listener, NOW + PEER_LISTENER_ATTEMPT_MAX_MS));
    assert_int_equal(peer_listener.pending_peers.count, 0);
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
    peer_listener_close(&peer_listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_silent_peers_are_dropped_for_new_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
