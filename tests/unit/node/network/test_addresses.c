/* Tests addresses of the pod network: each is given once, reused only late, and never beyond the
 * range. */
#include "node_test.h"

#include "node/network/addresses.h"

static void each_address_is_given_once(void **state)
{
    static struct addresses addresses;
    char text[INET_ADDRSTRLEN];
    struct err err;
    for (int i = 0; i < POD_NETWORK_PODS_MAX; i++)
        assert_int_equal(addresses_take(&addresses, 1, text, &err), 0);
    assert_string_equal(text, "10.244.2.254");
    assert_int_equal(addresses_take(&addresses, 1, text, &err), -ERR_TOO_MANY);
    assert_int_equal(addresses_take(&addresses, 0, text, &err), 0);
    assert_string_equal(text, "10.244.1.1");
    addresses_give_back(&addresses, "10.244.2.17");
    assert_int_equal(addresses_take(&addresses, 1, text, &err), 0);
    assert_string_equal(text, "10.244.2.17");
}

static void freed_address_is_reused_last(void **state)
{
    static struct addresses addresses;
    char text[INET_ADDRSTRLEN];
    addresses_take(&addresses, 0, text, NULL);
    addresses_give_back(&addresses, text);
    addresses_take(&addresses, 0, text, NULL);
    assert_string_equal(text, "10.244.1.2");
}

static void reserved_addresses_are_skipped(void **state)
{
    static struct addresses addresses;
    char text[INET_ADDRSTRLEN];
    addresses_reserve(&addresses, "10.244.1.1");
    addresses_reserve(&addresses, "127.0.0.1");
    addresses_reserve(&addresses, "10.244.0.1");
    addresses_reserve(&addresses, "10.244.1.255");
    addresses_reserve(&addresses, "no address");
    addresses_reserve(&addresses, NULL);
    addresses_take(&addresses, 0, text, NULL);
    assert_string_equal(text, "10.244.1.2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_address_is_given_once),
        cmocka_unit_test(freed_address_is_reused_last),
        cmocka_unit_test(reserved_addresses_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
