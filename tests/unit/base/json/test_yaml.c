/* Tests YAML as kubectl reads it: scalars, documents, aliases, merges, and errors with their
 * position. Written YAML must parse to the same tree. */
#include "base/json/yaml.h"

#include "base/mem.h"
#include "test_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct json *parse_all(const char *text)
{
    struct err err = ERR_INIT;
    struct json *documents = NULL;
    const struct source source = {"job.yaml", text, strlen(text), false};
    if (yaml_parse(arena, &source, NULL, &documents, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return documents;
}

/* Returns the single document as the shortest JSON. */
static const char *parse_one(const char *text)
{
    struct json *documents = parse_all(text);
    assert_int_equal(json_count(documents), 1);
    return json_to_string(arena, documents->first);
}

/* `message` is expected without the excerpt of the text below it. */
static void expect_error_n(const char *text, size_t size, const struct json_limits *limits,
                           const char *message)
{
    struct err err = ERR_INIT;
    struct json *documents = (struct json *)&err; /* must stay untouched */
    const struct source source = {"job.yaml", text, size, false};
    assert_int_equal(yaml_parse(arena, &source, limits, &documents, &err), -ERR_BAD_REQUEST);
    assert_ptr_equal(documents, &err);
    assert_string_equal(strtok(err.message, "\n"), message);
}

static void expect_error(const char *text, const char *message)
{
    expect_error_n(text, strlen(text), NULL, message);
}

static void test_scalars(void **state)
{
    static const struct {
        const char *yaml, *json;
    } ROWS[] = {
        {"yes", "true"},
        {"Yes", "true"},
        {"on", "true"},
        {"y", "true"},
        {"TRUE", "true"},
        {"no", "false"},
        {"Off", "false"},
        {"n", "false"},
        {"yEs", "\"yEs\""},
        {"~", "null"},
        {"null", "null"},
        {"", "null"},
        {"nil", "\"nil\""},
        {"0", "0"},
        {"12", "12"},
        {"-12", "-12"},
        {"+12", "12"},
        {"1_000_000", "1000000"},
        {"0x1F", "31"},
        {"-0x10", "-16"},
        {"0b101", "5"},
        {"0o17", "15"},
        {"0644", "420"},
        {"08", "8"},
        {"09.5", "9.5"},
        {"0x", "\"0x\""},
        {"0b2", "\"0b2\""},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775808", "9223372036854775808"},
        {"18446744073709551616", "18446744073709551616"},
        {"1.5", "1.5"},
        {"1.0", "1"},
        {"2.", "2"},
        {".5", "0.5"},
        {"+.25", "0.25"},
        {"1e3", "1000"},
        {"1.5e-7", "1.5e-7"},
        {"1e999", "\"1e999\""},
        {"1.2.3", "\"1.2.3\""},
        {"-", "[null]"},
        {"+", "\"+\""},
        {".", "\".\""},
        {"1:20", "\"1:20\""},
        {"2026-11-15", "\"2026-11-15\""},
        {"2026-11-15T02:00:00Z", "\"2026-11-15T02:00:00Z\""},
        {"500m", "\"500m\""},
        {"1Gi", "\"1Gi\""},
        {"'yes'", "\"yes\""},
        {"\"12\"", "\"12\""},
        {"!!str 12", "\"12\""},
        {"! 12", "\"12\""},
        {"!!int '12'", "12"},
        {"!!float 2", "2"},
        {"!!bool 'yes'", "true"},
        {"!!null ''", "null"},
        {"!!timestamp 2026-11-15", "\"2026-11-15\""},
        {"|\n  a\n  b\n", "\"a\\nb\\n\""},
        {">-\n  a\n  b\n", "\"a b\""},
        {"\"\\u00e9\\x41\\n\"", "\"\xc3\xa9"
                                "A\\n\""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        char text[128], expected[128];
        snprintf(text, sizeof(text), "a: %s", ROWS[i].yaml);
        snprintf(expected, sizeof(expected), "{\"a\":%s}", ROWS[i].json);
        if (strcmp(ROWS[i].yaml, "-") == 0)
            snprintf(text, sizeof(text), "a:\n-");
        assert_string_equal(parse_one(text), expected);
    }
}

static void test_keys(void **state)
{
    assert_string_equal(parse_one("1: a\n0x10: b\nyes: c\n1.5: d\n'2': e\n"),
                        "{\"1\":\"a\",\"16\":\"b\",\"true\":\"c\",\"1.5\":\"d\",\"2\":\"e\"}");
    expect_error("~: 1", "job.yaml:1:1: a key may not be null: JSON allows only strings as keys");
    expect_error("? [a]\n: 1",
                 "job.yaml:1:3: a key may not be an array: JSON allows only strings as keys");
    expect_error("a: 1\nb: 2\na: 3\n", "job.yaml:3:1: the key 'a' is duplicated in one mapping");
    expect_error("1: 1\n'1': 2\n", "job.yaml:2:1: the key '1' is duplicated in one mapping");
}

static void test_documents(void **state)
{
    struct json *documents =
        parse_all("---\na: 1\n---\n---\n# nothing\n---\n- b\n...\n---\nnull\n");
    assert_string_equal(json_to_string(arena, documents), "[{\"a\":1},[\"b\"]]");
    assert_int_equal(json_count(parse_all("")), 0);
    assert_int_equal(json_count(parse_all("# only a comment\n")), 0);
    assert_string_equal(parse_one("\xef\xbb\xbf"
                                  "a: 1"),
                        "{\"a\":1}");
    assert_string_equal(parse_one("%YAML 1.1\n---\na: yes\n"), "{\"a\":true}");
}

/* Like kubectl, reads a text that starts with a brace as JSON. */
static void test_text_with_a_brace_is_parsed_as_json(void **state)
{
    assert_string_equal(parse_one(" \n{\"a\":\t\"\\ud83d\\ude00\",\n\t\"b\": [1.0, 1e3]}"),
                        "{\"a\":\"\xf0\x9f\x98\x80\",\"b\":[1.0,1e3]}");
    assert_string_equal(parse_one("{a: yes, b: [1, two]}"), "{\"a\":true,\"b\":[1,\"two\"]}");
    assert_string_equal(parse_one("[{\"a\": 1}]"), "[{\"a\":1}]");
}

static void test_source_positions(void **state)
{
    struct json *document = parse_all("# c\nspec:\n  replicas: 2\n  list:\n    - x\n")->first;
    struct json *replicas = json_at(document, "spec", "replicas", NULL);
    assert_int_equal(replicas->line, 3);
    assert_int_equal(replicas->column, 13);
    assert_int_equal(json_element(json_at(document, "spec", "list", NULL), 0)->line, 5);
    /* In JSON, too, a column is a character. */
    document = parse_all("{\"\xc3\xa4\": [\"\xe2\x82\xac\", 1],\n"
                         " \"\xc3\xb6\": {\"b\": 2}, \"c\": 3}")
                   ->first;
    const struct json *list = json_get(document, "\xc3\xa4");
    assert_int_equal(list->column, 7);
    assert_int_equal(json_element(list, 0)->column, 8);
    assert_int_equal(json_element(list, 1)->column, 13);
    assert_int_equal(json_at(document, "\xc3\xb6", "b", NULL)->line, 2);
    assert_int_equal(json_at(document, "\xc3\xb6", "b", NULL)->column, 13);
    assert_int_equal(json_get(document, "c")->column, 22);
}

static void test_aliases(void **state)
{
    assert_string_equal(parse_one("a: &x {b: [1, text]}\nc: *x\nd: [*x, &y s, *y]\n"),
                        "{\"a\":{\"b\":[1,\"text\"]},\"c\":{\"b\":[1,\"text\"]},"
                        "\"d\":[{\"b\":[1,\"text\"]},\"s\",\"s\"]}");
    assert_string_equal(parse_one("a: &x 1\nb: &x 2\nc: *x\n"), "{\"a\":1,\"b\":2,\"c\":2}");
    assert_string_equal(parse_one("&k a: 1\nb: *k\n"), "{\"a\":1,\"b\":\"a\"}");
    /* An expanded alias is a copy: changing it does not change the anchor's value. */
    struct json *document = parse_all("a: &x {b: 1}\nc: *x\n")->first;
    json_set_int(arena, json_get(document, "c"), "b", 2);
    assert_string_equal(json_to_string(arena, document), "{\"a\":{\"b\":1},\"c\":{\"b\":2}}");

    expect_error("a: *x", "job.yaml:1:4: no anchor '&x' is defined before this alias");
    expect_error("a: &x [*x]",
                 "job.yaml:1:8: the alias '*x' is inside the value that it refers to");
    expect_error("a: &x 1\n---\nb: *x\n",
                 "job.yaml:3:4: no anchor '&x' is defined before this alias");
}

static void test_alias_bombs(void **state)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 65536);
    buf_append_str(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 40; i++)
        buf_printf(&text, "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
    const struct json_limits nodes = {.nodes = 1000};
    expect_error_n(text.data, text.size, &nodes,
                   "job.yaml:9:10: more than 1000 values, counting those that aliases expand to");

    buf_clear(&text);
    buf_append_str(&text, "a0: &a0 [x]\n");
    for (int i = 1; i < 40; i++)
        buf_printf(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    const struct json_limits depth = {.depth = 10};
    expect_error_n(text.data, text.size, &depth, "job.yaml:10:10: nested more than 10 levels deep");
}

static void test_merges(void **state)
{
    assert_string_equal(parse_one("base: &b {x: 1, w: 2}\na: {w: 3, <<: *b, z: 4}\n"),
                        "{\"base\":{\"x\":1,\"w\":2},\"a\":{\"w\":3,\"z\":4,\"x\":1}}");
    assert_string_equal(parse_one("a:\n  <<: [{x: 1}, {x: 2, w: 2}]\n  <<: {w: 3, z: 3}\n"),
                        "{\"a\":{\"x\":1,\"w\":2,\"z\":3}}");
    assert_string_equal(parse_one("a: {'<<': 1}"), "{\"a\":{\"<<\":1}}");
    expect_error("a:\n  <<: 1\n",
                 "job.yaml:2:3: the value of '<<' must be a mapping or a list of mappings");
    expect_error("a: {<<: [1]}",
                 "job.yaml:1:5: the value of '<<' must be a mapping or a list of mappings");
}

static void test_invalid_texts(void **state)
{
    expect_error("a: !mine 1", "job.yaml:1:4: unknown tag '!mine'");
    expect_error("a: !mine {}", "job.yaml:1:4: unknown tag '!mine'");
    expect_error("a: !!set {b}", "job.yaml:1:4: unknown tag 'tag:yaml.org,2002:set'");
    expect_error("a: !!binary aGk=",
                 "job.yaml:1:4: the tag '!!binary' is not supported: write the base64 "
                 "text without a tag");
    expect_error("a: !!int x", "job.yaml:1:4: the value is a string, but its tag is '!!int'");
    expect_error("a: .inf",
                 "job.yaml:1:4: JSON has no number '.inf': quote it if a string is meant");
    expect_error("a: \"x\\0y\"", "job.yaml:1:4: a string may not hold the NUL character");
    expect_error("a: [1\n\n",
                 "job.yaml:1:4: did not find expected ',' or ']' in line 3 while parsing a "
                 "flow sequence that begins here");
    expect_error("a:\n  b: 1\n c: 2\n",
                 "job.yaml:3:2: did not find expected key while parsing a block "
                 "mapping that begins in line 1");
    expect_error("a: b: c", "job.yaml:1:5: mapping values are not allowed in this context");
    expect_error("a:\n\tb: 1",
                 "job.yaml:2:1: found character that cannot start any token while scanning "
                 "for the next token");
    expect_error("a: 1\nb: \xff\n", "job.yaml:2:4: invalid leading UTF-8 octet");
    expect_error_n("a: x\0y", 6, NULL, "job.yaml:1:5: control characters are not allowed");
    expect_error_n("[[[1]]]", 7, &(struct json_limits){.depth = 2},
                   "job.yaml:1:3: nested more than 2 levels deep");
}

/* The message with its excerpt, as a user sees it. test_source.c tests the excerpt itself. */
static void test_error_shows_the_line(void **state)
{
    static const struct {
        const char *text, *message;
    } ROWS[] = {
        {"kind: Pod\nspec:\n\tname: a\n",
         "job.yaml:3:1: found character that cannot start any token while scanning for the next "
         "token\n"
         "     name: a\n"
         "    ^"},
        {"\xef\xbb\xbf\xc3\xa4: \xc3\xb6: 3\r\n",
         "job.yaml:1:5: mapping values are not allowed in this context\n"
         "    \xc3\xa4: \xc3\xb6: 3\n"
         "        ^"},
        {"a: \xc3\xa4\xff\n", "job.yaml:1:5: invalid leading UTF-8 octet\n"
                              "    a: \xc3\xa4?\n"
                              "        ^"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct err err = ERR_INIT;
        struct json *documents;
        const struct source source = {"job.yaml", ROWS[i].text, strlen(ROWS[i].text), false};
        assert_int_equal(yaml_parse(arena, &source, NULL, &documents, &err), -ERR_BAD_REQUEST);
        assert_string_equal(err.message, ROWS[i].message);
    }
}

/* Each limit and one past it: depth, values, and values that come from aliases. */
static void test_limits(void **state)
{
    static const struct {
        const char *text;
        struct json_limits limits;
        const char *message; /* NULL: accepted */
    } ROWS[] = {
        {"[[1]]", {.depth = 2}, NULL},
        {"[[[1]]]", {.depth = 2}, "job.yaml:1:3: nested more than 2 levels deep"},
        {"a:\n- b: 1\n", {.depth = 3}, NULL},
        {"a:\n- b: {}\n", {.depth = 3}, "job.yaml:2:6: nested more than 3 levels deep"},
        {"a: &x [1]\nb: [*x]\n", {.depth = 3}, NULL},
        {"a: &x [1]\nb: [[*x]]\n", {.depth = 3}, "job.yaml:2:6: nested more than 3 levels deep"},
        {"[1, 2, 3]", {.nodes = 4}, NULL},
        {"[1, 2, 3, 4]",
         {.nodes = 4},
         "job.yaml:1:11: more than 4 values, counting those that aliases expand to"},
        {"[&x [1], *x]", {.nodes = 5}, NULL},
        {"[&x [1], *x, 1]",
         {.nodes = 5},
         "job.yaml:1:14: more than 5 values, counting those that aliases expand to"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        const char *text = ROWS[i].text;
        struct err err = ERR_INIT;
        struct json *documents;
        const struct source source = {"job.yaml", text, strlen(text), false};
        if (ROWS[i].message)
            expect_error_n(text, strlen(text), &ROWS[i].limits, ROWS[i].message);
        else if (yaml_parse(arena, &source, &ROWS[i].limits, &documents, &err) < 0)
            fail_msg("%s: %s", text, err.message);
    }
}

/* Ten lines that would expand to a billion values; at the limit, and one past it. */
static void test_limit_of_alias_expansion(void **state)
{
    for (int more = 0; more <= 1; more++) {
        _cleanup_buf_ struct buf text;
        buf_init(&text, 1 << 20);
        buf_append_str(&text, "a: &a [");
        for (int i = 1; i < 1000; i++) /* a thousand values with the list itself */
            buf_append_str(&text, "1,");
        buf_append_str(&text, "]\nb: [");
        for (int i = 0; i < YAML_ALIASED_MAX / 1000; i++)
            buf_append_str(&text, "*a,");
        buf_append_str(&text, more ? "&c 1,*c]\n" : "]\n");
        if (more)
            expect_error(text.data, "job.yaml:2:310: aliases expand to more than 100000 values");
        else
            assert_int_equal(json_count(json_get(parse_all(text.data)->first, "b")), 100);
    }
}

/* The depth of the call stack does not depend on the text. */
static void test_nesting_limit_cannot_be_raised(void **state)
{
    for (size_t depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
        char text[2 * JSON_DEPTH_MAX + 8] = "";
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        struct json *documents;
        const struct source source = {"job.yaml", text, 2 * depth, false};
        int expected = depth > JSON_DEPTH_MAX ? -ERR_BAD_REQUEST : 0;
        assert_int_equal(yaml_parse(arena, &source, NULL, &documents, NULL), expected);
        assert_int_equal(
            yaml_parse(arena, &source, &(struct json_limits){.depth = 1000}, &documents, NULL),
            expected);
    }
}

static void test_large_mapping(void **state)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "key-%d: %d\n", i, i);
    assert_int_equal(json_count(parse_all(text.data)->first), 5000);
    buf_append_str(&text, "key-17: 0\n");
    expect_error(text.data, "job.yaml:5001:1: the key 'key-17' is duplicated in one mapping");
}

static void check_write(const char *json_text, const char *yaml_text)
{
    struct err err = ERR_INIT;
    struct json *json;
    assert_int_equal(json_parse(arena, json_text, strlen(json_text), NULL, &json, &err), 0);
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 1 << 20);
    yaml_write(json, &buf);
    if (yaml_text)
        assert_string_equal(buf.data, yaml_text);
    struct json *back = parse_all(buf.data)->first;
    if (!json_equal(json, back))
        fail_msg("'%s' was written as '%s' and read back as '%s'", json_text, buf.data,
                 json_to_string(arena, back));
}

static void test_write(void **state)
{
    check_write("{\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"name\":\"a\",\"args\":[\"-c\",\"x "
                "y\"]},{}],\"k\":1},\"e\":[],\"m\":[[1,[2,3]],[]]}",
                "kind: Pod\nspec:\n  containers:\n  - name: a\n    args:\n    - \"-c\"\n    - x y\n"
                "  - {}\n  k: 1\ne: []\nm:\n- - 1\n  - - 2\n    - 3\n- []\n");
    check_write("{\"a\":\"one\\ntwo\\n\",\"b\":\"one\\n two\",\"c\":\"x\\n\\n\"}",
                "a: |\n  one\n  two\nb: |-\n  one\n   two\nc: |+\n  x\n\n");
    check_write("[\"yes\",\"12\",\"1.5\",\"null\",\"\",\"~\",\"2026-11-15\",\"0x1f\",\"1:20\"]",
                "- \"yes\"\n- \"12\"\n- \"1.5\"\n- \"null\"\n- \"\"\n- \"~\"\n- \"2026-11-15\"\n"
                "- \"0x1f\"\n- \"1:20\"\n");
    check_write("[\"a: b\",\"a #b\",\"a:\",\" a\",\"a \",\"#a\",\"*a\",\"a:b\",\"http://x/y?z\"]",
                "- \"a: b\"\n- \"a #b\"\n- \"a:\"\n- \" a\"\n- \"a \"\n- \"#a\"\n- \"*a\"\n- a:b\n"
                "- http://x/y?z\n");
    check_write("[\"\\t\",\"a\\r\\nb\",\"\\u0007\\u0085\\u2028\\ufeff\",\"\\u00e9\\ud83d\\ude00\","
                "\"\\nx\",\" x\\ny\",\"a\\n\\tb\\n \\n\",\"...\",\"---\",\"<<\",\"=\"]",
                NULL);
    check_write("{\"a\":[null,true,-7,1.5,9223372036854775808]}",
                "a:\n- null\n- true\n- -7\n- 1.5\n- 9223372036854775808\n");
    check_write("{\"yes\":1,\"a b\":2,\"\":3,\"x\\ny\":4,\"1\":5}",
                "\"yes\": 1\na b: 2\n\"\": 3\n\"x\\ny\": 4\n\"1\": 5\n");
    check_write("\"text\"", "text\n");
    check_write("{}", "{}\n");
}

static void test_write_long_key(void **state)
{
    char key[3001], text[3400];
    memset(key, 'k', 3000);
    key[3000] = '\0';
    snprintf(text, sizeof(text), "{\"%s\":{\"a\":[1]},\"b\":{\"%.200s\":\"x\\ny\"}}", key, key);
    check_write(text, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_error_shows_the_line),
        TEST(test_limits),
        TEST(test_nesting_limit_cannot_be_raised),
        TEST(test_limit_of_alias_expansion),
        TEST(test_scalars),
        TEST(test_keys),
        TEST(test_documents),
        TEST(test_source_positions),
        TEST(test_aliases),
        TEST(test_alias_bombs),
        TEST(test_merges),
        TEST(test_invalid_texts),
        TEST(test_large_mapping),
        TEST(test_write),
        TEST(test_write_long_key),
        TEST(test_text_with_a_brace_is_parsed_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
