/* Tests checks and conversions of strings, with Kubernetes' rules for names; and UTF-8. */
#include "base/str.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

static void test_compare(void **state)
{
    assert_true(str_eq(NULL, NULL) && str_eq("a", "a"));
    assert_false(str_eq(NULL, "") || str_eq("a", "b"));
    assert_true(str_eq_nocase("Yes", "yES"));
    assert_false(str_eq_nocase("Yes", NULL));
    assert_true(str_has_prefix("abc", "ab") && str_has_prefix("abc", "") &&
                !str_has_prefix("ab", "abc"));
    assert_true(str_has_suffix("abc", "bc") && str_has_suffix("abc", "") &&
                !str_has_suffix("c", "bc"));
    assert_true(str_is_empty(NULL) && str_is_empty("") && !str_is_empty(" "));
}

static void test_numbers(void **state)
{
    int64_t whole = 5;
    double real = 5;
    struct err err = ERR_INIT;
    assert_int_equal(str_to_int64("-17", INT64_MIN, INT64_MAX, &whole, &err), 0);
    assert_int_equal(whole, -17);
    assert_int_equal(str_to_int64("9223372036854775807", 0, INT64_MAX, &whole, &err), 0);
    assert_true(whole == INT64_MAX);
    static const char *const BAD[] = {"", " 1", "1 ", "1x", "x", "9223372036854775808", "11", "-1"};
    for (size_t i = 0; i < ARRAY_SIZE(BAD); i++)
        assert_int_equal(str_to_int64(BAD[i], 0, 10, &whole, &err), -ERR_BAD_REQUEST);
    assert_int_equal(str_to_int64(NULL, 0, 10, &whole, &err), -ERR_BAD_REQUEST);
    assert_true(whole == INT64_MAX); /* untouched */
    assert_int_equal(str_to_double("-2.5e3", &real, &err), 0);
    assert_true(real == -2500);
    static const char *const BAD_REAL[] = {"", " 1", "1.5x", "1e999", "nan", "inf"};
    for (size_t i = 0; i < ARRAY_SIZE(BAD_REAL); i++)
        assert_int_equal(str_to_double(BAD_REAL[i], &real, &err), -ERR_BAD_REQUEST);
    assert_string_equal(err.message, "'inf' is not a number");
}

static void test_split(void **state)
{
    struct arena *arena = arena_new();
    size_t count;
    char **pieces = str_split(arena, "a,,b,", ',', &count);
    assert_int_equal(count, 4);
    assert_string_equal(pieces[0], "a");
    assert_string_equal(pieces[1], "");
    assert_string_equal(pieces[2], "b");
    assert_string_equal(pieces[3], "");
    assert_null(pieces[4]);
    pieces = str_split(arena, "", ',', NULL);
    assert_string_equal(pieces[0], "");
    assert_null(pieces[1]);
    arena_free(arena);
}

static void test_nearest(void **state)
{
    static const char *const WORDS[] = {"replicas", "restartPolicy", "template", "up"};
    assert_string_equal(str_nearest("replica", WORDS, 4), "replicas");
    assert_string_equal(str_nearest("tempalte", WORDS, 4), "template");
    assert_string_equal(str_nearest("restartpolicy", WORDS, 4), "restartPolicy");
    assert_null(str_nearest("metadata", WORDS, 4));
    /* Two short words are not near just because they are short. */
    assert_null(str_nearest("xy", WORDS, 4));
    assert_null(str_nearest("x", WORDS, 0));
    char huge[1000];
    memset(huge, 'x', sizeof(huge));
    huge[sizeof(huge) - 1] = '\0';
    assert_null(str_nearest(huge, WORDS, 4));
}

static void test_dns(void **state)
{
    char text[300];
    memset(text, 'a', sizeof(text));
    text[63] = '\0';
    assert_true(str_is_dns_label(text));
    text[63] = 'a';
    text[64] = '\0';
    assert_false(str_is_dns_label(text));
    assert_true(str_is_dns_label("a-1") && str_is_dns_label("1a"));
    assert_false(str_is_dns_label("") || str_is_dns_label(NULL) || str_is_dns_label("-a") ||
                 str_is_dns_label("a-") || str_is_dns_label("A") || str_is_dns_label("a.b") ||
                 str_is_dns_label("a_b"));
    assert_true(str_is_dns1035_label("a1"));
    assert_false(str_is_dns1035_label("1a") || str_is_dns1035_label(""));
    assert_true(str_is_dns_subdomain("kubeflow.org") && str_is_dns_subdomain("a"));
    assert_false(str_is_dns_subdomain("") || str_is_dns_subdomain("a..b") ||
                 str_is_dns_subdomain(".a") || str_is_dns_subdomain("a.") ||
                 str_is_dns_subdomain(NULL));
    for (size_t i = 0; i < 253; i++)
        text[i] = i % 50 == 49 ? '.' : 'a';
    text[253] = '\0';
    assert_true(str_is_dns_subdomain(text));
    /* Only the whole name has a limit: a pod's name may have more than 63 letters without a dot. */
    memset(text, 'a', 253);
    assert_true(str_is_dns_subdomain(text));
    text[253] = 'a';
    text[254] = '\0';
    assert_false(str_is_dns_subdomain(text));
}

static void test_copy(void **state)
{
    char target[4];
    assert_true(str_copy(target, sizeof(target), "abc"));
    assert_string_equal(target, "abc");
    assert_false(str_copy(target, sizeof(target), "abcd"));
    assert_string_equal(target, "abc");
}

static void test_shell_word(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char *const CASES[][2] = {
        {"/home/me/.kube/config", "/home/me/.kube/config"},
        {"", "''"},
        {"/home/me/my state", "'/home/me/my state'"},
        {"it's", "'it'\\''s'"},
        {"~/x", "'~/x'"},
        {"$HOME", "'$HOME'"},
        {"caf\xc3\xa9", "'caf\xc3\xa9'"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        assert_string_equal(str_shell_word(arena, CASES[i][0]), CASES[i][1]);
}

/* Every Unicode character, encoded and decoded. */
static void test_utf8(void **state)
{
    for (uint32_t c = 1; c <= 0x10ffff; c++) {
        char text[4];
        size_t size = utf8_encode(c, text);
        bool is_surrogate = c >= 0xd800 && c <= 0xdfff;
        assert_int_equal(utf8_size(text, size), is_surrogate ? 0 : size);
        assert_int_equal(utf8_size(text, size - 1), 0);
    }
    assert_true(utf8_is_valid("caf\xc3\xa9", 5));
    assert_false(utf8_is_valid("caf\xc3", 4));
    assert_true(utf8_is_valid("", 0));
    assert_false(utf8_is_valid("\xc0\x80", 2));
    char text[32];
    snprintf(text, sizeof(text), "%-*s|", utf8_width("caf\xc3\xa9", 6), "caf\xc3\xa9");
    assert_string_equal(text, "caf\xc3\xa9  |");
    assert_int_equal(utf8_width("ada", 6), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_split),   cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_dns),     cmocka_unit_test(test_copy),
        cmocka_unit_test(test_utf8),    cmocka_unit_test(test_shell_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
