/* Tests quantities: cases from the documentation and the behaviour of Kubernetes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/quantity.h"
#include "read_json.h"

static struct kube_quantity parse(const char *text)
{
    struct kube_quantity quantity;
    struct err err = ERR_INIT;
    if (kube_quantity_parse(text, &quantity, &err) < 0)
        mem_panic("%s", err.message);
    return quantity;
}

static void a_quantity_is_written_in_canonical_form(void **state)
{
    static const struct {
        const char *text, *canonical;
        int64_t value, milli;
    } CASES[] = {
        {"0", "0", 0, 0},
        {"-0", "0", 0, 0},
        {"0Gi", "0", 0, 0},
        {"500m", "500m", 1, 500},
        {"0.5", "500m", 1, 500},
        {"0.50", "500m", 1, 500},
        {".5", "500m", 1, 500},
        {"1.", "1", 1, 1000},
        {"1.5", "1500m", 2, 1500},
        {"1000m", "1", 1, 1000},
        {"1000", "1k", 1000, 1000000},
        {"1024", "1024", 1024, 1024000},
        {"1Ki", "1Ki", 1024, 1024000},
        {"1024Ki", "1Mi", 1048576, 1048576000},
        {"0.5Gi", "512Mi", 536870912, 536870912000},
        {"1.5Gi", "1536Mi", 1610612736, 1610612736000},
        {"0.5Ki", "512", 512, 512000},
        {"1Gi", "1Gi", 1073741824, 1073741824000},
        {"12e6", "12e6", 12000000, 12000000000},
        {"1e3", "1e3", 1000, 1000000},
        {"1E3", "1e3", 1000, 1000000},
        {"100e0", "100", 100, 100000},
        {"1e-3", "1e-3", 1, 1},
        {"1E", "1E", 1000000000000000000, INT64_MAX},
        {"1n", "1n", 1, 1},
        {"0.1n", "1n", 1, 1},
        {"1.0000000001", "1000000001n", 2, 1001},
        {"100u", "100u", 1, 1},
        {"-1500m", "-1500m", -2, -1500},
        {"-1Gi", "-1Gi", -1073741824, -1073741824000},
        {"+5", "5", 5, 5000},
        {"9223372036854775807", "9223372036854775807", INT64_MAX, INT64_MAX},
        {"9223372036854775808", "9223372036854775807", INT64_MAX, INT64_MAX},
        {"1e999999999", "9223372036854775807", INT64_MAX, INT64_MAX},
        {"16Ei", "9223372036854775807", INT64_MAX, INT64_MAX},
        {"1e-999999999", "1e-9", 1, 1},
        {"0.0000000001Ki", "103n", 1, 1},
        /* Digits after the 18th of a fraction count, too. */
        {"0.0000000000000000001Ki", "1n", 1, 1},
        {"-0.0000000000000000001Ki", "-1n", -1, -1},
        {"0.0000000000000000001Ei", "115292151n", 1, 116},
        {"0.5000000000000000000000000000Ki", "512", 512, 512000},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct kube_quantity quantity = parse(CASES[i].text);
        char text[KUBE_QUANTITY_TEXT_MAX];
        kube_quantity_format(&quantity, text);
        assert_string_equal(text, CASES[i].canonical);
        assert_int_equal(kube_quantity_value(&quantity), CASES[i].value);
        assert_int_equal(kube_quantity_milli(&quantity), CASES[i].milli);
        struct kube_quantity again = parse(text);
        assert_int_equal(kube_quantity_compare(&again, &quantity), 0);
    }
}

static void invalid_quantities_are_rejected(void **state)
{
    static const char *const BAD[] = {"",    ".",   "m",   "1 ",  " 1",   "1.2.3", "1e",  "1e+",
                                      "1ee", "1Kk", "0x1", "1ki", "1e3m", "--1",   "abc", "1 Gi"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct kube_quantity quantity;
        assert_int_equal(kube_quantity_parse(BAD[i], &quantity, NULL), -ERR_INVALID);
    }
    assert_int_equal(kube_quantity_parse(NULL, &(struct kube_quantity){0}, NULL), -ERR_INVALID);
}

static void quantities_are_added_and_compared(void **state)
{
    struct kube_quantity sum = {0}, a = parse("1Gi"), b = parse("512Mi"), c = parse("100m");
    char text[KUBE_QUANTITY_TEXT_MAX];
    kube_quantity_add(&sum, &a);
    kube_quantity_add(&sum, &b);
    kube_quantity_format(&sum, text);
    assert_string_equal(text, "1536Mi");
    assert_int_equal(kube_quantity_compare(&sum, &a), 1);
    assert_int_equal(kube_quantity_compare(&a, &sum), -1);
    sum = (struct kube_quantity){0};
    for (int i = 0; i < 10; i++)
        kube_quantity_add(&sum, &c);
    kube_quantity_format(&sum, text);
    assert_string_equal(text, "1");
    struct kube_quantity most = parse("9223372036854775807");
    kube_quantity_add(&most, &most);
    assert_int_equal(kube_quantity_value(&most), INT64_MAX);
    struct kube_quantity least = parse("-9223372036854775807");
    kube_quantity_add(&least, &least);
    assert_int_equal(kube_quantity_value(&least), -INT64_MAX);
}

static void quantities_are_read_from_json_numbers(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_quantity quantity;
    assert_int_equal(kube_quantity_from_json(read_json(arena, "2"), &quantity, NULL), 0);
    assert_int_equal(kube_quantity_milli(&quantity), 2000);
    assert_int_equal(kube_quantity_from_json(read_json(arena, "0.5"), &quantity, NULL), 0);
    assert_int_equal(kube_quantity_milli(&quantity), 500);
    assert_int_equal(kube_quantity_from_json(read_json(arena, "'250m'"), &quantity, NULL), 0);
    assert_int_equal(kube_quantity_milli(&quantity), 250);
    assert_int_equal(kube_quantity_from_json(NULL, &quantity, NULL), 0);
    assert_int_equal(kube_quantity_milli(&quantity), 0);
    assert_int_equal(kube_quantity_from_json(read_json(arena, "true"), &quantity, NULL),
                     -ERR_INVALID);
}

/* The limit and one past it. */
static void text_has_a_limit(void **state)
{
    enum { LONGEST = 128 };
    for (size_t size = LONGEST; size <= LONGEST + 1; size++) {
        char text[LONGEST + 2] = "";
        struct kube_quantity quantity;
        memset(text, '0', size);
        assert_int_equal(kube_quantity_parse(text, &quantity, NULL) == 0, size <= LONGEST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantity_is_written_in_canonical_form),
        cmocka_unit_test(invalid_quantities_are_rejected),
        cmocka_unit_test(quantities_are_added_and_compared),
        cmocka_unit_test(quantities_are_read_from_json_numbers),
        cmocka_unit_test(text_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
