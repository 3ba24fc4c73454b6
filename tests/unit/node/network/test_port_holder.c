/* Tests which process holds a port of the machine: lines of /proc/net/tcp and udp, and this
 * process. */
#include "node_test.h"
#include "own_network.h"

#include "node/network/port_holder.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static void lines_of_proc_net_are_parsed(void **state)
{
    static const struct {
        const char *line;
        uint64_t inode, datagrams;
    } CASES[] = {
        {"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid", 0},
        /* 127.0.0.1:30390, listening */
        {"   0: 0100007F:76B6 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        "
         "0 4711 1 0000000000000000 100 0 0 10 0",
         4711},
        /* every address */
        {"   1: 00000000:76B6 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        "
         "0 4712 1 0",
         4712},
        {"   1: 00000000000000000000000000000000:76B6 00000000000000000000000000000000:0000 0A "
         "00000000:00000000 00:00000000 00000000     0        0 4713 1 0",
         4713},
        /* 127.0.0.2, another port, a connection, nonsense */
        {"   2: 0200007F:76B6 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1", 0},
        {"   2: 0100007F:76B7 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1", 0},
        {"   2: 0100007F:76B6 0100007F:1234 01 00000000:00000000 00:00000000 00000000 0 0 1 1", 0},
        {"   2: 0:76B6 0:0 0A", 0},
        /* datagrams: bound, and bound to one peer */
        {"   3: 0100007F:76B6 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 4714 2",
         0, 4714},
        {"   3: 0100007F:76B6 0100007F:1234 01 00000000:00000000 00:00000000 00000000 0 0 1 2", 0},
        {"", 0},
    };
    struct in_addr address = {.s_addr = inet_addr("127.0.0.1")};
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        assert_int_equal(node_port_holder_inode(CASES[i].line, SOCK_STREAM, address, 30390),
                         CASES[i].inode);
        assert_int_equal(node_port_holder_inode(CASES[i].line, SOCK_DGRAM, address, 30390),
                         CASES[i].datagrams);
    }
}

static bool find_holder(int type, const struct sockaddr_in *address, char *text, size_t size)
{
    return node_port_holder(type, address->sin_addr, ntohs(address->sin_port), text, size);
}

/* TCP and UDP ports of the same number are separate: a holder of one does not hold the other. */
static void assert_process_holds_port(int type)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    char text[128] = "", expected[64];
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(type == SOCK_STREAM ? listen(fd, 1) : 0, 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    assert_true(find_holder(type, &address, text, sizeof(text)));
    snprintf(expected, sizeof(expected), "(process %d)", (int)getpid());
    assert_non_null(strstr(text, expected));
    int other = type == SOCK_STREAM ? SOCK_DGRAM : SOCK_STREAM;
    assert_true(!find_holder(other, &address, text, sizeof(text)) || !strstr(text, expected));
    close(fd);
    assert_false(find_holder(type, &address, text, sizeof(text)));
}

static void own_ports_are_found(void **state)
{
    assert_process_holds_port(SOCK_STREAM);
    assert_process_holds_port(SOCK_DGRAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_of_proc_net_are_parsed),
                                       cmocka_unit_test(own_ports_are_found)};
    (void)own_network_enter();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
