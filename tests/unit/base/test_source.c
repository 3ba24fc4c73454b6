/* Tests error messages with a position: the line and the mark below it, for any content of the
 * line. */
#include "base/source.h"

#include "base/json/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "test_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Returns the excerpt below the message, or NULL. */
static const char *excerpt_of(const char *text, size_t line, size_t column, bool secret)
{
    static struct err err;
    const struct source source = {"a.yaml", text, strlen(text), secret};
    err = ERR_INIT;
    assert_int_equal(
        source_err_set(&err, ERR_INVALID, &source, (struct source_place){line, column}, "wrong"),
        -ERR_INVALID);
    char place[64];
    snprintf(place, sizeof(place), "a.yaml:%zu:%zu: wrong", line, column);
    assert_true(str_has_prefix(err.message, place));
    const char *rest = err.message + strlen(place);
    return *rest ? rest + 1 : NULL;
}

static void test_lines(void **state)
{
    static const struct {
        const char *text;
        size_t line, column;
        const char *shown;
    } ROWS[] = {
        {"one\ntwo\nthree", 1, 1, "    one\n    ^"},
        {"one\ntwo\nthree", 2, 3, "    two\n      ^"},
        {"one\ntwo\nthree", 3, 5, "    three\n        ^"},
        {"one\ntwo\n", 2, 9, "    two\n       ^"}, /* past the end of the line */
        {"one\r\ntwo\rthree", 2, 1, "    two\n    ^"},
        {"one\r\ntwo\rthree", 3, 1, "    three\n    ^"},
        {"one\xc2\x85two\xe2\x80\xa8three", 3, 1, "    three\n    ^"},
        {"\xef\xbb\xbfone", 1, 2, "    one\n     ^"},
        {"one\n \t \ntwo", 2, 1, NULL}, /* a blank line is not shown */
        {"one\n", 2, 1, NULL},
        {"one\n", 3, 1, NULL},
        {"one\n", 0, 0, NULL}, /* the position is unknown */
        {"", 1, 1, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        const char *text = excerpt_of(ROWS[i].text, ROWS[i].line, ROWS[i].column, false);
        if (!str_eq(text ? text : "nothing", ROWS[i].shown ? ROWS[i].shown : "nothing"))
            fail_msg("%s:\n%s\nnot\n%s", ROWS[i].text, text, ROWS[i].shown);
    }
}

static void test_characters(void **state)
{
    assert_string_equal(excerpt_of("a:\tb", 1, 4, false), "    a: b\n       ^");
    assert_string_equal(excerpt_of("\xc3\xa4\xc3\xb6: x", 1, 5, false),
                        "    \xc3\xa4\xc3\xb6: x\n        ^");
    /* Characters of two columns each, and a character of none. */
    assert_string_equal(excerpt_of("\xe6\xbc\xa2\xe5\xad\x97: x", 1, 5, false),
                        "    \xe6\xbc\xa2\xe5\xad\x97: x\n          ^");
    assert_string_equal(excerpt_of("e\xcc\x81: x", 1, 5, false), "    e\xcc\x81: x\n       ^");
    /* Control characters are replaced. */
    assert_string_equal(excerpt_of("a\x1b[2J\x7f\xc2\x9b\xff z", 1, 9, false),
                        "    a?[2J??? z\n            ^");
}

static void test_long_lines(void **state)
{
    char line[1001] = "", expected[512];
    for (size_t i = 0; i < 1000; i++)
        line[i] = (char)('0' + i % 10);
    /* A line of the maximum length is shown whole, wherever the mark is. */
    char whole[101];
    memcpy(whole, line, 100);
    whole[100] = 0;
    snprintf(expected, sizeof(expected), "    %s\n%*s^", whole, 4 + 99, "");
    assert_string_equal(excerpt_of(whole, 1, 100, false), expected);
    /* If the line is one longer, the end is cut. */
    line[101] = '\0';
    snprintf(expected, sizeof(expected), "    %.100s\xe2\x80\xa6\n    ^", line);
    assert_string_equal(excerpt_of(line, 1, 1, false), expected);
    /* For a mark near the end, the beginning is cut. */
    snprintf(expected, sizeof(expected), "    \xe2\x80\xa6%.51s\n%*s^", line + 50, 4 + 1 + 40, "");
    assert_string_equal(excerpt_of(line, 1, 91, false), expected);
    /* For a mark in the middle of a long line, both are cut. */
    line[101] = '1';
    snprintf(expected, sizeof(expected), "    \xe2\x80\xa6%.100s\xe2\x80\xa6\n%*s^", line + 459,
             4 + 1 + 40, "");
    assert_string_equal(excerpt_of(line, 1, 500, false), expected);
}

/* If there is no room for the whole excerpt, none is added. */
static void test_excerpt_needs_room(void **state)
{
    char sentence[ERR_MESSAGE_MAX];
    memset(sentence, 's', sizeof(sentence));
    const struct source source = {"a.yaml", "abcdefghij", 10, false};
    for (int length = ERR_MESSAGE_MAX - 60; length < ERR_MESSAGE_MAX; length++) {
        struct err err = ERR_INIT;
        source_err_set(&err, ERR_INVALID, &source, (struct source_place){1, 1}, "%.*s", length,
                       sentence);
        const char *line = strchr(err.message, '\n');
        assert_true(line ? str_eq(line, "\n    abcdefghij\n    ^")
                         : strlen(err.message) > ERR_MESSAGE_MAX - 30);
    }
    assert_int_equal(
        source_err_set(NULL, ERR_INVALID, &source, (struct source_place){1, 1}, "wrong"),
        -ERR_INVALID);
}

static void test_secrets(void **state)
{
    assert_string_equal(excerpt_of("    token: aB3.x/\xc3\xa4 z", 1, 12, true),
                        "        token: ***.*/* *\n               ^");
    assert_string_equal(excerpt_of("- user: {name: a}", 1, 3, true),
                        "    - user: {****: *}\n      ^");
    assert_string_equal(excerpt_of("  aGVsbG8=", 1, 3, true), "      *******=\n      ^");
}

static void test_places(void **state)
{
    static const char TEXT[] = "a: {step: 1, steps: [2]}\nb:\n  c: 3\n";
    const struct source source = {"a.yaml", TEXT, sizeof(TEXT) - 1, false};
    struct json *documents, *a;
    assert_int_equal(yaml_parse(arena, &source, NULL, &documents, NULL), 0);
    a = json_get(documents->first, "a");
    struct source_place name = source_name_place(&source, json_get(a, "step"));
    assert_int_equal(name.line, 1);
    assert_int_equal(name.column, 5);
    name = source_name_place(&source, json_get(a, "steps"));
    assert_int_equal(name.column, 14);
    assert_int_equal(source_value_place(json_get(a, "steps")).column, 21);
    /* The value stands on the line below its name, and the position is that of the value. */
    name = source_name_place(&source, json_get(documents->first, "b"));
    assert_int_equal(name.line, 3);
    assert_int_equal(name.column, 3);
}

static void test_wrapped(void **state)
{
    const struct source source = {"a.yaml", "a: 1", 4, false};
    struct err err = ERR_INIT;
    err_set(&err, ERR_USAGE, "wrong");
    assert_int_equal(source_err_wrap(&err, &source, (struct source_place){1, 4}), -ERR_USAGE);
    assert_string_equal(err.message, "a.yaml:1:4: wrong\n    a: 1\n       ^");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines),      TEST(test_characters),
        TEST(test_long_lines), TEST(test_excerpt_needs_room),
        TEST(test_secrets),    TEST(test_places),
        TEST(test_wrapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
