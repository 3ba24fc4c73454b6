/* Tests the JSON parser: accepted texts and their values, rejected texts and their error
 * messages. */
#include "base/json/json.h"

#include "base/mem.h"
#include "test_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct json *parse(const char *text)
{
    struct err err = ERR_INIT;
    struct json *json = NULL;
    if (json_parse(arena, text, strlen(text), NULL, &json, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return json;
}

static void expect_error_n(const char *text, size_t size, const char *message)
{
    struct err err = ERR_INIT;
    struct json *json = (struct json *)&err; /* must stay untouched */
    assert_int_equal(json_parse(arena, text, size, NULL, &json, &err), -ERR_BAD_REQUEST);
    assert_ptr_equal(json, &err);
    assert_int_equal(err.code, ERR_BAD_REQUEST);
    assert_string_equal(err.message, message);
}

static void expect_error(const char *text, const char *message)
{
    expect_error_n(text, strlen(text), message);
}

static void test_values(void **state)
{
    assert_int_equal(parse(" null ")->type, JSON_NULL);
    assert_true(parse("true")->boolean);
    assert_false(parse("\tfalse\r\n")->boolean);
    assert_int_equal(parse("[]")->count, 0);
    assert_int_equal(parse("{ }")->type, JSON_OBJECT);
    struct json *json = parse("{\"a\": [1, \"two\", {\"three\": null}], \"b\": {}}");
    assert_int_equal(json->count, 2);
    struct json *list = json_get(json, "a");
    assert_int_equal(json_count(list), 3);
    assert_string_equal(json_text(json_element(list, 1)), "two");
    assert_int_equal(json_at(json_element(list, 2), "three", NULL)->type, JSON_NULL);
    assert_string_equal(json->first->name, "a");
    assert_string_equal(json->last->name, "b");
}

static void test_integers_are_exact(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } ROWS[] = {{"0", 0},
                {"7", 7},
                {"-1", -1},
                {"9007199254740993", 9007199254740993},
                {"999999999999999999", 999999999999999999},
                {"1000000000000000000", 1000000000000000000},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct json *json = parse(ROWS[i].text);
        assert_int_equal(json->type, JSON_INT);
        assert_true(json->integer == ROWS[i].value);
    }
}

static void test_other_numbers_keep_their_text(void **state)
{
    static const char *const ROWS[] = {"9223372036854775808",
                                       "-9223372036854775809",
                                       "92233720368547758070",
                                       "123456789012345678901234567890",
                                       "1.0",
                                       "1.50",
                                       "-0",
                                       "-0.0",
                                       "1e3",
                                       "1E+3",
                                       "2.5e-300",
                                       "0.1"};
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct json *json = parse(ROWS[i]);
        assert_int_equal(json->type, JSON_REAL);
        assert_string_equal(json->text, ROWS[i]);
        assert_int_equal(json->size, strlen(ROWS[i]));
        assert_true(json_number(json, 0) == strtod(ROWS[i], NULL));
        assert_string_equal(json_to_string(arena, json), ROWS[i]);
    }
}

static void test_bad_numbers(void **state)
{
    expect_error("-", "1:2: a digit must follow the sign of a number");
    expect_error("01", "1:1: a number may not start with 0");
    expect_error("-01", "1:2: a number may not start with 0");
    expect_error("1.", "1:3: a digit must follow the point of a number");
    expect_error("1.e1", "1:3: a digit must follow the point of a number");
    expect_error("1e", "1:3: a digit must follow the exponent mark of a number");
    expect_error("1e+", "1:4: a digit must follow the exponent mark of a number");
    expect_error("1e999", "1:1: the number is too large");
    expect_error("+1", "1:1: a value is expected here, not '+'");
    expect_error(".5", "1:1: a value is expected here, not '.'");
    expect_error("1 2", "1:3: the end of the text is expected here, not '2'");
    expect_error("0x1f", "1:2: the end of the text is expected here, not 'x'");
    expect_error("NaN", "1:1: a value is expected here, not 'N'");
}

static void test_strings(void **state)
{
    assert_string_equal(json_text(parse("\"\"")), "");
    assert_string_equal(json_text(parse("\"plain run of more than eight bytes\"")),
                        "plain run of more than eight bytes");
    assert_string_equal(json_text(parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")), "\"\\/\b\f\n\r\t");
    assert_string_equal(json_text(parse("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00 end\"")),
                        "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 end");
    assert_string_equal(json_text(parse("\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"")),
                        "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    struct json *json = parse("{\"a\\tb\": \"x\"}");
    assert_string_equal(json_get_string(json, "a\tb", NULL), "x");
    assert_int_equal(json->first->size, 1);
}

/* The byte that ends a run of plain characters is found at every offset within a word. */
static void test_string_ends_at_every_offset(void **state)
{
    for (size_t before = 0; before < 20; before++) {
        char text[64], expected[64];
        snprintf(text, sizeof(text), "\"%.*s\\n%s\"", (int)before, "abcdefghijklmnopqrst", "tail");
        snprintf(expected, sizeof(expected), "%.*s\ntail", (int)before, "abcdefghijklmnopqrst");
        struct json *json = parse(text);
        assert_string_equal(json->text, expected);
        assert_int_equal(json->size, before + 5);
        snprintf(text, sizeof(text), "\"%.*s\x01\"", (int)before, "abcdefghijklmnopqrst");
        char message[80];
        snprintf(message, sizeof(message), "1:%zu: byte 0x01 must be escaped in a string",
                 before + 2);
        expect_error(text, message);
    }
}

static void test_bad_strings(void **state)
{
    expect_error("\"abc", "1:1: the string that starts here does not end");
    expect_error("[\"abc\\", "1:6: a backslash must be followed by one of \" \\ / b f n r t u");
    expect_error("\"a\nb\"", "1:3: byte 0x0a must be escaped in a string");
    expect_error("\"\\x41\"", "1:2: a backslash must be followed by one of \" \\ / b f n r t u");
    expect_error("\"\\u12g4\"", "1:2: \\u is not followed by four hexadecimal digits");
    expect_error("\"\\u12", "1:2: \\u is not followed by four hexadecimal digits");
    expect_error("\"\\u0000\"", "1:2: a string may not hold the NUL character: remove \\u0000");
    expect_error("\"\\ud800\"", "1:2: \\ud800 is half of a surrogate pair");
    expect_error("\"\\udc00\"", "1:2: \\udc00 is half of a surrogate pair");
    expect_error("\"\\ud800\\u0041\"", "1:2: \\ud800 is half of a surrogate pair");
    expect_error("\"\\ud800\\ud800\"", "1:2: \\ud800 is half of a surrogate pair");
    expect_error_n("\"a\0b\"", 5, "1:3: byte 0x00 must be escaped in a string");
    expect_error_n("[1]\0", 4, "1:4: the end of the text is expected here, not byte 0x00");
}

static void test_bad_utf8(void **state)
{
    static const char *const ROWS[] = {
        "\x80",             /* a continuation byte alone */
        "\xc0\xaf",         /* over-long */
        "\xc1\xbf",         /* over-long */
        "\xe0\x9f\xbf",     /* over-long */
        "\xf0\x8f\xbf\xbf", /* over-long */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf4\x90\x80\x80", /* above U+10FFFF */
        "\xf5\x80\x80\x80",
        "\xff",
        "\xe2\x82", /* cut by the quote */
        "\xc3",
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        char text[16], message[64];
        snprintf(text, sizeof(text), "\"%s\"", ROWS[i]);
        snprintf(message, sizeof(message), "1:2: byte 0x%02x is not valid UTF-8",
                 (unsigned char)ROWS[i][0]);
        expect_error(text, message);
        snprintf(text, sizeof(text), "\"%s", ROWS[i]); /* cut by the end of the text */
        expect_error(text, message);
    }
}

static void test_bad_structure(void **state)
{
    expect_error("", "1:1: the text ends where a value is expected");
    expect_error(" \n ", "2:2: the text ends where a value is expected");
    expect_error("[1,]", "1:4: a value is expected here, not ']'");
    expect_error("[1 2]", "1:4: ',' or ']' is expected here, not '2'");
    expect_error("[1", "1:3: the text ends where ',' or ']' is expected");
    expect_error("{\"a\":1,}", "1:8: a name in quotes is expected here, not '}'");
    expect_error("{a:1}", "1:2: a name in quotes is expected here, not 'a'");
    expect_error("{\"a\" 1}", "1:6: ':' is expected here, not '1'");
    expect_error("{\"a\":\n 1\n \"b\"", "3:2: ',' or '}' is expected here, not '\"'");
    expect_error("nul", "1:1: a value is expected here, not 'n'");
    expect_error("[true] x", "1:8: the end of the text is expected here, not 'x'");
    expect_error("\xef\xbb\xbf{}", "1:1: a value is expected here, not byte 0xef");
}

static void test_duplicates(void **state)
{
    expect_error("{\"a\":1,\"a\":2}", "1:8: the name 'a' is duplicated in one object");
    expect_error("{\"a\":1,\n  \"\\u0061\": {\"b\":\n1}}",
                 "2:3: the name 'a' is duplicated in one object");
    expect_error("{\"\":1,\"\":2}", "1:7: the name '' is duplicated in one object");
    parse("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}");

    /* Duplicates at any two positions: found by comparison, by the ascending order, or by the hash
     * set. */
    enum { MEMBERS = 300 };
    const int twice[][2] = {{0, 1},   {3, 31},  {30, 31}, {31, 32},  {0, 32},
                            {32, 33}, {0, 299}, {64, 65}, {150, 299}};
    for (size_t turn = 0; turn < 2 * (ARRAY_SIZE(twice) + 1); turn++) {
        size_t row = turn / 2;
        int width = turn % 2 ? 3 : 1; /* names in ascending order, or not */
        bool clean = row == ARRAY_SIZE(twice);
        _cleanup_buf_ struct buf text;
        buf_init(&text, 65536);
        for (int i = 0; i < MEMBERS; i++)
            buf_printf(&text, "%c\"name-%0*d\":%d", i ? ',' : '{', width,
                       !clean && i == twice[row][1] ? twice[row][0] : i, i);
        buf_append_char(&text, '}');
        struct err err = ERR_INIT;
        struct json *json;
        int result = json_parse(arena, text.data, text.size, NULL, &json, &err);
        assert_int_equal(result, clean ? 0 : -ERR_BAD_REQUEST);
        if (clean)
            assert_int_equal(json_get_int(json, "name-299", -1), 299);
        else
            assert_non_null(strstr(err.message, "is duplicated"));
    }
}

static void test_source_positions(void **state)
{
    struct json *json = parse("{\n  \"a\": 1,\n\n  \"b\": [true,\n    \"x\"]}");
    assert_int_equal(json->line, 1);
    assert_int_equal(json->column, 1);
    assert_int_equal(json_get(json, "a")->line, 2);
    assert_int_equal(json_get(json, "a")->column, 8);
    assert_int_equal(json_get(json, "b")->line, 4);
    assert_int_equal(json_element(json_get(json, "b"), 1)->line, 5);
    assert_int_equal(json_element(json_get(json, "b"), 1)->column, 5);
}

static void test_limits(void **state)
{
    struct err err = ERR_INIT;
    struct json *json;
    const struct json_limits limits = {.depth = 2, .nodes = 4};
    assert_int_equal(json_parse(arena, "[[1,2]]", 7, &limits, &json, &err), 0);
    assert_int_equal(json_parse(arena, "[[[]]]", 6, &limits, &json, &err), -ERR_BAD_REQUEST);
    assert_string_equal(err.message, "1:3: nested more than 2 levels deep");
    assert_int_equal(json_parse(arena, "[[],[],[],[]]", 13, &limits, &json, &err),
                     -ERR_BAD_REQUEST);
    assert_string_equal(err.message, "1:11: more than 4 values");
    /* The end of a list reduces the depth again. */
    assert_int_equal(json_parse(arena, "[[],{}]", 7, &limits, &json, &err), 0);

    char deep[2 * JSON_DEPTH_MAX + 2];
    memset(deep, '[', JSON_DEPTH_MAX);
    memset(deep + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    assert_int_equal(json_parse(arena, deep, 2 * JSON_DEPTH_MAX, NULL, &json, &err), 0);
    memset(deep, '[', JSON_DEPTH_MAX + 1);
    const struct json_limits wished = {.depth = 1000000};
    assert_int_equal(json_parse(arena, deep, sizeof(deep), &wished, &json, &err), -ERR_BAD_REQUEST);
    assert_string_equal(err.message, "1:145: nested more than 144 levels deep");
    assert_int_equal(json_parse(arena, "[", 1, NULL, &json, NULL), -ERR_BAD_REQUEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_values),
        TEST(test_integers_are_exact),
        TEST(test_other_numbers_keep_their_text),
        TEST(test_bad_numbers),
        TEST(test_strings),
        TEST(test_string_ends_at_every_offset),
        TEST(test_bad_strings),
        TEST(test_bad_utf8),
        TEST(test_bad_structure),
        TEST(test_duplicates),
        TEST(test_source_positions),
        TEST(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
