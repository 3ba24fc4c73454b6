/* Who stands at a door that more want to come to than it holds; time is what the test says. */
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

static int knock(const struct door *door)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)socket_local_port(door->listener)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* Until it is at the listener: the kernel may take a moment. */
static void wait_for_knock(const struct door *door)
{
    struct pollfd ready = {.fd = door->listener, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, -1), 1);
}

/* Nobody's time is up: whoever comes last is taken in, and the first of the silent goes for it. */
static void the_first_of_a_silent_crowd_go_for_the_last(void **state)
{
    struct door door = {.listener = -1, .identity = {.size = SIZE}};
    const struct ty_task self = {.role = TY_ROLE_WORKER, .host = "127.0.0.1"};
    struct err err = ERR_INIT;
    int fds[CROWD];
    char byte;
    assert_int_equal(door_open(&door, &self, SIZE, &err), 0);
    for (int i = 0; i < CROWD; i++) {
        assert_true(door_has_room(&door, SIZE));
        fds[i] = knock(&door);
        wait_for_knock(&door);
        door_accept(&door, &door.identity, NOW);
    }
    int stay = (int)door.guests.count;
    assert_in_range(stay, SIZE, CROWD - 1);
    for (int i = 0; i < CROWD - stay; i++)
        assert_int_equal(recv(fds[i], &byte, 1, 0), 0);
    for (int i = CROWD - stay; i < CROWD; i++)
        assert_int_equal(recv(fds[i], &byte, 1, MSG_DONTWAIT), -1);
    assert_false(door_is_wanted(&door, NOW)); /* by any that has not said who it is */
    assert_int_equal(door.guests.count, stay);
    assert_false(door_is_wanted(&door, NOW + DOOR_ATTEMPT_MAX_MS));
    assert_int_equal(door.guests.count, 0);
    for (int i = 0; i < CROWD; i++)
        close(fds[i]);
    door_close(&door);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_a_silent_crowd_go_for_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
