/* Tests times and durations as Kubernetes writes them. */
#include "base/moment.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_format(void **state)
{
    char text[MOMENT_TEXT_MAX];
    moment_format(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
    moment_format(1794708000999, text);
    assert_string_equal(text, "2026-11-15T02:00:00Z");
    moment_format(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59Z");
    moment_format_micro(1794708000123456, text);
    assert_string_equal(text, "2026-11-15T02:00:00.123456Z");
    moment_format_micro(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999999Z");
}

static void test_parse(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } ROWS[] = {{"1970-01-01T00:00:00Z", 0},
                {"2026-11-15T02:00:00Z", 1794708000000},
                {"2026-11-15T02:00:00.5Z", 1794708000500},
                {"2026-11-15T02:00:00.123456789Z", 1794708000123},
                {"2026-11-15T03:30:00+01:30", 1794708000000},
                {"2026-11-14T21:00:00-05:00", 1794708000000},
                {"2024-02-29T00:00:00Z", 1709164800000}};
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        int64_t ms;
        struct err err = ERR_INIT;
        if (moment_parse(ROWS[i].text, &ms, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(ms, ROWS[i].ms);
    }
    static const char *const BAD[] = {"",
                                      "2026",
                                      "2026-11-15",
                                      "2026-11-15T02:00:00",
                                      "2026-13-15T02:00:00Z",
                                      "2026-00-15T02:00:00Z",
                                      "2026-11-31T02:00:00Z",
                                      "2026-02-29T02:00:00Z",
                                      "2100-02-29T02:00:00Z",
                                      "2026-11-15T24:00:00Z",
                                      "2026-11-15T02:60:00Z",
                                      "2026-11-15T02:00:00.Z",
                                      "2026-11-15T02:00:00+1:00",
                                      "2026-11-15T02:00:00Zx",
                                      "26-11-15T02:00:00Z"};
    for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
        int64_t ms = 7;
        assert_int_equal(moment_parse(BAD[i], &ms, NULL), -ERR_BAD_REQUEST);
        assert_int_equal(ms, 7);
    }
}

static void test_age(void **state)
{
    enum { MINUTE = 60, HOUR = 3600, DAY = 86400, YEAR = 365 * DAY };
    static const struct {
        int64_t seconds;
        const char *text;
    } ROWS[] = {{-5, "0s"},
                {0, "0s"},
                {119, "119s"},
                {120, "2m"},
                {192, "3m12s"},
                {10 * MINUTE + 5, "10m"},
                {179 * MINUTE, "179m"},
                {3 * HOUR, "3h"},
                {3 * HOUR + 5 * MINUTE, "3h5m"},
                {8 * HOUR + 5 * MINUTE, "8h"},
                {47 * HOUR, "47h"},
                {2 * DAY, "2d"},
                {2 * DAY + 3 * HOUR, "2d3h"},
                {8 * DAY + 3 * HOUR, "8d"},
                {2 * YEAR - 1, "729d"},
                {2 * YEAR, "2y"},
                {(int64_t)3 * YEAR + 40 * DAY, "3y40d"},
                {(int64_t)9 * YEAR + 40 * DAY, "9y"}};
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        char text[MOMENT_TEXT_MAX];
        moment_format_age(ROWS[i].seconds * 1000, text);
        assert_string_equal(text, ROWS[i].text);
    }
}

static void test_duration(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } ROWS[] = {{"0", 0},       {"0s", 0},         {"90s", 90000},   {"1m30s", 90000},
                {"500ms", 500}, {"1.5h", 5400000}, {"1.001s", 1001}, {".5s", 500},
                {"1500us", 2},  {"1500µs", 2},     {"100ns", 0},     {"2h45m1s1ms", 9901001}};
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        int64_t ms;
        struct err err = ERR_INIT;
        if (moment_parse_duration(ROWS[i].text, &ms, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(ms, ROWS[i].ms);
    }
    static const char *const BAD[] = {"",     "1",    "s",     "1d",   "-1s", "1 s",
                                      "1e3s", "0x1s", "1..5s", "infs", ".s",  "99999999999999h"};
    for (size_t i = 0; i < ARRAY_SIZE(BAD); i++)
        assert_int_equal(moment_parse_duration(BAD[i], &(int64_t){0}, NULL), -ERR_BAD_REQUEST);
}

/* Years with fewer or more than four digits. */
static void test_far_years(void **state)
{
    int64_t ms;
    char text[MOMENT_TEXT_MAX];
    static const char *const FAR[] = {"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
                                      "0999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"};
    for (size_t i = 0; i < ARRAY_SIZE(FAR); i++) {
        assert_int_equal(moment_parse(FAR[i], &ms, NULL), 0);
        moment_format(ms, text);
        assert_string_equal(text, FAR[i]);
    }
    /* In UTC these times lie in years that cannot be written. */
    assert_int_equal(moment_parse("9999-12-31T23:59:59-00:01", &ms, NULL), -ERR_BAD_REQUEST);
    assert_int_equal(moment_parse("0000-01-01T00:00:00+00:01", &ms, NULL), -ERR_BAD_REQUEST);
    moment_format_micro(-62135596800000000 + 5, text);
    assert_string_equal(text, "0001-01-01T00:00:00.000005Z");
}

static void test_after(void **state)
{
    static const int64_t end_ms = 253402300799999; /* the end of year 9999 */
    char text[MOMENT_TEXT_MAX];
    assert_int_equal(moment_after(1500, 0), 1500);
    assert_int_equal(moment_after(1500, 90), 91500);
    assert_int_equal(moment_after(-5000, 3), -2000);
    assert_int_equal(moment_after(999, 253402300798), end_ms - 1000);
    assert_int_equal(moment_after(999, 253402300799), end_ms);
    assert_int_equal(moment_after(1000, 253402300799), end_ms);
    assert_int_equal(moment_after(1500, INT64_MAX / 1000 + 1), end_ms);
    assert_int_equal(moment_after(1500, INT64_MAX), end_ms);
    assert_int_equal(moment_after(end_ms, INT64_MAX), end_ms);
    moment_format(end_ms, text);
    assert_string_equal(text, "9999-12-31T23:59:59Z");
}

static void test_clocks(void **state)
{
    int64_t first = moment_monotonic_ns();
    assert_true(moment_monotonic_ns() >= first);
    assert_true(moment_wall_ms() > 1700000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),    cmocka_unit_test(test_parse),
        cmocka_unit_test(test_age),       cmocka_unit_test(test_duration),
        cmocka_unit_test(test_far_years), cmocka_unit_test(test_after),
        cmocka_unit_test(test_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
