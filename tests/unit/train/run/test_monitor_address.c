/* Tests the texts that --monitor accepts, and the address and port that they mean. */
#include "base/mem.h"
#include "train/run/monitor_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void addresses_are_parsed(void **state)
{
    static const struct {
        const char *text, *address;
        int port; /* -1: off, -2: rejected */
    } ROWS[] = {
        {"9100", "", 9100},
        {":9100", "", 9100},
        {"0.0.0.0:9100", "0.0.0.0", 9100},
        {"127.0.0.1:1", "127.0.0.1", 1},
        {"localhost:80", "127.0.0.1", 80},
        {"[::1]:0", "::1", 0},
        {"off", "", -1},
        {"false", "", -1}, /* what YAML makes of off */
        {"", "", -1},
        {"on", NULL, -2},
        {"65536", NULL, -2},
        {"-1", NULL, -2},
        {"127.0.0.1:", NULL, -2},
        {"127.0.0.1", NULL, -2},
        {"a-name-that-is-much-longer-than-any-address-of-this-world-could-ever-be:1", NULL, -2},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        char address[MONITOR_ADDRESS_MAX];
        int port = -3, result = monitor_address_parse(ROWS[i].text, address, &port, NULL);
        assert_int_equal(result, ROWS[i].port == -2 ? -ERR_USAGE : 0);
        if (result < 0)
            continue;
        assert_int_equal(port, ROWS[i].port);
        assert_string_equal(address, ROWS[i].address);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(addresses_are_parsed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
