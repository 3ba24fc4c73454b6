/* Tests the transparent pod network: a network is transparent once its rules and routes are set. */
#include "node_test.h"
#include "own_network.h"

#include "node/network/netlink.h"
#include "node/network/pod_network.h"
#include "node/network/transparent.h"

#include <arpa/inet.h>

static bool is_set_up(int fd)
{
    struct err err = ERR_INIT;
    bool laid;
    assert_int_equal(transparent_is_set_up(fd, &laid, &err), 0);
    return laid;
}

static void complete_setup_is_detected(void **state)
{
    _cleanup_fd_ int fd = -1, other = -1;
    struct err err = ERR_INIT;
    struct in_addr gateway;
    unsigned char mac[6];
    if (!own_network_enter())
        skip();
    assert_int_equal(netlink_open(&fd, &err), 0);
    assert_false(is_set_up(fd)); /* it has no route yet */
    inet_pton(AF_INET, POD_NETWORK_GATEWAY, &gateway);
    pod_network_mac(gateway, mac);
    assert_int_equal(netlink_bridge_add(fd, POD_NETWORK_BRIDGE, mac, &err), 0);
    assert_int_equal(netlink_address_add(fd, POD_NETWORK_BRIDGE, gateway, POD_NETWORK_PREFIX, &err),
                     0);
    assert_int_equal(netlink_link_up(fd, POD_NETWORK_BRIDGE, &err), 0);
    assert_false(is_set_up(fd));
    if (transparent_set_up(fd, &err) < 0) {
        /* On a machine without nf_tables pods must not rely on it. */
        print_message("refused here: %s\n", err.message);
        assert_false(is_set_up(fd));
        skip();
    }
    assert_true(is_set_up(fd));
    /* Another network namespace is not affected. */
    assert_int_equal(unshare(CLONE_NEWNET), 0);
    assert_int_equal(netlink_open(&other, &err), 0);
    assert_false(is_set_up(other));
    assert_true(is_set_up(fd));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_setup_is_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
