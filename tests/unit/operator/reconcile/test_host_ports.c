/* Tests the table of held ports, and the option for their range. */
#include "operator/reconcile/host_ports.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_held_ports_are_found(void **state)
{
    struct host_ports *ports = host_ports_new(100, 200);

    assert_int_equal(host_ports_first(ports), 100);
    assert_int_equal(host_ports_last(ports), 200);
    host_ports_set(ports, "tfjob/a/x", (int[]){100, 101}, 2);
    assert_true(host_ports_held_by_others(ports, "tfjob/a/y", 100));
    assert_false(host_ports_held_by_others(ports, "tfjob/a/x", 100));
    assert_false(host_ports_held_by_others(ports, "tfjob/a/y", 102));

    /* Both jobs hold the port, because a user copied the annotation. */
    host_ports_set(ports, "tfjob/a/y", (int[]){101}, 1);
    assert_true(host_ports_held_by_others(ports, "tfjob/a/x", 101));
    assert_true(host_ports_held_by_others(ports, "tfjob/a/y", 101));

    /* Setting the ports replaces the earlier ones. */
    host_ports_set(ports, "tfjob/a/x", (int[]){150}, 1);
    assert_false(host_ports_held_by_others(ports, "tfjob/a/z", 100));
    assert_false(host_ports_held_by_others(ports, "tfjob/a/y", 101));
    host_ports_set(ports, "tfjob/a/x", NULL, 0);
    assert_false(host_ports_held_by_others(ports, "tfjob/a/z", 150));
    host_ports_free(ports);
}

static void test_invalid_port_numbers_are_ignored(void **state)
{
    struct host_ports *ports = host_ports_new(100, 200);

    host_ports_set(ports, "tfjob/a/x", (int[]){0, -1, 65536, INT32_MAX, 65535}, 5);
    assert_true(host_ports_held_by_others(ports, "", 65535));
    assert_false(host_ports_held_by_others(ports, "", -1));
    assert_false(host_ports_held_by_others(ports, "", 65536));
    host_ports_free(ports);
}

static void test_ports_of_a_kind_are_forgotten(void **state)
{
    struct host_ports *ports = host_ports_new(100, 200);

    for (int i = 0; i < 50; i++) {
        _cleanup_free_ char *one = mem_printf("tfjob/a/%d", i);
        _cleanup_free_ char *other = mem_printf("pytorchjob/a/%d", i);

        host_ports_set(ports, one, (int[]){100 + i}, 1);
        host_ports_set(ports, other, (int[]){150 + i}, 1);
    }
    host_ports_forget(ports, "tfjob/");
    for (int i = 0; i < 50; i++) {
        assert_false(host_ports_held_by_others(ports, "", 100 + i));
        assert_true(host_ports_held_by_others(ports, "", 150 + i));
    }
    host_ports_free(ports);
}

static void test_all_kinds_must_report(void **state)
{
    struct host_ports *ports = host_ports_new(100, 200);

    host_ports_expect_report(ports);
    host_ports_expect_report(ports);
    host_ports_reported(ports);
    assert_false(host_ports_all_reported(ports));
    host_ports_reported(ports);
    assert_true(host_ports_all_reported(ports));
    host_ports_free(ports);
}

static void test_port_ranges_are_parsed(void **state)
{
    static const char *const bad[] = {
        NULL,      "",    "20000", "-",     "1-",    "-1",   "0-5",
        "5-65536", "6-5", "a-b",   "1-2-3", "1 - 2", "1-2x", "00000000000000000000001-2"};
    struct err err = ERR_INIT;
    int first = 0, last = 0;

    assert_int_equal(host_ports_parse_range("20000-29999", &first, &last, &err), 0);
    assert_int_equal(first, 20000);
    assert_int_equal(last, 29999);
    assert_int_equal(host_ports_parse_range("7-7", &first, &last, &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(host_ports_parse_range(bad[i], &first, &last, &err), -ERR_BAD_REQUEST);
    assert_int_equal(first, 7); /* unchanged on failure */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_ports_are_found),
        cmocka_unit_test(test_invalid_port_numbers_are_ignored),
        cmocka_unit_test(test_ports_of_a_kind_are_forgotten),
        cmocka_unit_test(test_all_kinds_must_report),
        cmocka_unit_test(test_port_ranges_are_parsed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
