/* Tests JSON trees: constructors, queries, changes, comparison, writing. */
#include "base/json/json.h"

#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/mem.h"
#include "test_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static struct json *parse(const char *text)
{
    struct err err = ERR_INIT;
    struct json *json = NULL;
    if (json_parse(arena, text, strlen(text), NULL, &json, &err) < 0)
        fail_msg("%s", err.message);
    return json;
}

static const char *text_of(const struct json *json)
{
    return json_to_string(arena, json);
}

static void test_make_and_write(void **state)
{
    struct json *object = json_object(arena), *list = json_array(arena);
    json_append(list, json_null(arena));
    json_append(list, json_bool(arena, true));
    json_append(list, json_int(arena, INT64_MIN));
    json_append(list, json_string(arena, "a\"b\\c\n\x01/"));
    json_append(list, json_stringf(arena, "%d-%s", 7, "x"));
    json_append(list, json_string_n(arena, "abcdef", 3));
    json_append(list, json_string(arena, NULL));
    json_set(arena, object, "list", list);
    json_set(arena, object, "empty", json_object(arena));
    assert_string_equal(text_of(object),
                        "{\"list\":[null,true,-9223372036854775808,\"a\\\"b\\\\c\\n\\u0001/\","
                        "\"7-x\",\"abc\",null],\"empty\":{}}");
    assert_string_equal(text_of(NULL), "null");
}

static void test_write_pretty(void **state)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 1000);
    json_write_pretty(parse("{\"a\":[1,{\"b\":[]}],\"c\":{}}"), &buf);
    assert_string_equal(buf.data, "{\n"
                                  "  \"a\": [\n"
                                  "    1,\n"
                                  "    {\n"
                                  "      \"b\": []\n"
                                  "    }\n"
                                  "  ],\n"
                                  "  \"c\": {}\n"
                                  "}");
    buf_clear(&buf);
    json_write_pretty(json_int(arena, 3), &buf);
    assert_string_equal(buf.data, "3");
}

/* Bytes that are not UTF-8 never reach the output. */
static void test_write_bad_utf8(void **state)
{
    assert_string_equal(text_of(json_string(arena, "long enough run \xff and \xc3\xa9 \xe2\x82")),
                        "\"long enough run \xef\xbf\xbd and \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd\"");
    struct json *object = json_object(arena);
    json_set_int(arena, object, "\x80", 1);
    assert_string_equal(text_of(object), "{\"\xef\xbf\xbd\":1}");
}

static void test_write_into_full_buffer(void **state)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 10);
    json_write(parse("{\"name\":\"a long text\"}"), &buf);
    assert_true(buf.overflowed);
}

static void test_reals(void **state)
{
    assert_string_equal(text_of(json_real(arena, 3)), "3.0");
    assert_string_equal(text_of(json_real(arena, 0.1)), "0.1");
    assert_string_equal(text_of(json_real(arena, -1e300)), "-1e+300");
    assert_string_equal(text_of(json_real(arena, NAN)), "null");
    assert_string_equal(text_of(json_real(arena, INFINITY)), "null");
    const double values[] = {1.0 / 3, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, -0.0, 1e22};
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        struct json *back = parse(text_of(json_real(arena, values[i])));
        assert_int_equal(back->type, JSON_REAL);
        double value = json_number(back, 1);
        assert_true(memcmp(&value, &values[i], sizeof(double)) == 0);
    }
}

static void test_queries(void **state)
{
    struct json *json = parse("{\"s\":\"x\",\"i\":7,\"b\":true,\"r\":1.5,\"n\":null,"
                              "\"o\":{\"p\":{\"q\":\"deep\"}},\"l\":[1,2,3]}");
    assert_string_equal(json_get_string(json, "s", "-"), "x");
    assert_string_equal(json_get_string(json, "i", "-"), "-");
    assert_string_equal(json_get_string(json, "none", "-"), "-");
    assert_null(json_get_string(NULL, "s", NULL));
    assert_int_equal(json_get_int(json, "i", -1), 7);
    assert_int_equal(json_get_int(json, "r", -1), -1);
    assert_true(json_get_bool(json, "b", false));
    assert_true(json_get_bool(json, "s", true));
    assert_string_equal(json_text(json_at(json, "o", "p", "q", NULL)), "deep");
    assert_ptr_equal(json_at(json, NULL), json);
    assert_null(json_at(json, "o", "x", "q", NULL));
    assert_null(json_at(json, "s", "x", NULL));
    assert_null(json_text(json_get(json, "i")));
    assert_true(json_number(json_get(json, "i"), 0) == 7);
    assert_true(json_number(json_get(json, "r"), 0) == 1.5);
    assert_true(json_number(json_get(json, "s"), -1) == -1);
    assert_int_equal(json_count(json_get(json, "l")), 3);
    assert_int_equal(json_count(json_get(json, "s")), 0);
    assert_int_equal(json_count(NULL), 0);
    assert_int_equal(json_element(json_get(json, "l"), 2)->integer, 3);
    assert_null(json_element(json_get(json, "l"), 3));
    assert_null(json_element(json_get(json, "o"), 0));
    JSON_EACH (item, json_get(json, "s"))
        fail_msg("a string has no items");
    assert_string_equal(json_type_name(JSON_OBJECT), "an object");
}

static void test_set_and_remove(void **state)
{
    struct json *json = parse("{\"a\":1,\"b\":2,\"c\":3}");
    json_set_string(arena, json, "b", "two"); /* keeps its position */
    json_set_int(arena, json, "c", 33);       /* the last one */
    json_set_bool(arena, json, "d", true);
    assert_string_equal(text_of(json), "{\"a\":1,\"b\":\"two\",\"c\":33,\"d\":true}");
    assert_int_equal(json->count, 4);
    json_set(arena, json, "a", json_get(json, "a")); /* sets a member to itself */
    assert_true(json_remove(json, "d"));
    assert_true(json_remove(json, "a"));
    assert_false(json_remove(json, "a"));
    assert_false(json_remove(NULL, "a"));
    json_set_int(arena, json, "z", 26);
    assert_string_equal(text_of(json), "{\"b\":\"two\",\"c\":33,\"z\":26}");
    assert_true(json_remove(json, "b") && json_remove(json, "c") && json_remove(json, "z"));
    assert_int_equal(json->count, 0);
    json_set_int(arena, json, "again", 1);
    assert_string_equal(text_of(json), "{\"again\":1}");

    char name[] = "name";
    json_set_int(arena, json, name, 2);
    name[0] = 'X'; /* the name was copied */
    assert_int_equal(json_get_int(json, "name", 0), 2);
}

static void test_remove_element(void **state)
{
    struct json *list = parse("[1,2,3,4]");
    json_remove_element(list, json_element(list, 3));
    json_remove_element(list, json_element(list, 0));
    json_remove_element(list, json_int(arena, 9)); /* not an element of the list */
    assert_string_equal(text_of(list), "[2,3]");
    json_append(list, json_int(arena, 5));
    assert_string_equal(text_of(list), "[2,3,5]");
    assert_int_equal(list->count, 3);
}

static void test_ensure(void **state)
{
    struct json *json = parse("{\"meta\":{\"a\":1},\"n\":null,\"s\":\"x\"}");
    assert_int_equal(json_count(json_ensure_object(arena, json, "meta")), 1);
    json_set_int(arena, json_ensure_object(arena, json, "n"), "b", 2);
    json_append(json_ensure_array(arena, json, "l"), json_int(arena, 3));
    /* "s" is no object: must not crash */
    json_set_int(arena, json_ensure_object(arena, json, "s"), "c", 4);
    assert_string_equal(text_of(json),
                        "{\"meta\":{\"a\":1},\"n\":{\"b\":2},\"s\":{\"c\":4},\"l\":[3]}");
}

/* An absent member stays absent, so that a caller can copy members without checking for them. */
static void test_absent_members_stay_absent(void **state)
{
    struct json *json = json_clone(arena, parse("{\"a\":1,\"b\":2,\"c\":3}"));
    assert_null(json_clone(arena, NULL));
    json_set(arena, json, "x", json_clone(arena, json_get(json, "missing")));
    json_set(arena, json, "b", NULL);
    assert_string_equal(json_to_string(arena, json), "{\"a\":1,\"c\":3}");
    assert_string_equal(json_to_string(arena, json_clone_object(arena, NULL)), "{}");
    assert_string_equal(json_to_string(arena, json_clone_object(arena, json_get(json, "a"))), "{}");
    assert_string_equal(json_to_string(arena, json_clone_object(arena, json)), "{\"a\":1,\"c\":3}");
}

static void test_clone(void **state)
{
    struct arena *other = arena_new();
    struct json *json = json_clone(arena, parse("{\"a\":[1,\"x\",1.50],\"b\":{\"c\":null}}"));
    {
        struct json *there = json_clone(other, json);
        json_set_string(other, json_get(there, "b"), "c", "changed");
        assert_string_equal(json_to_string(arena, there),
                            "{\"a\":[1,\"x\",1.50],\"b\":{\"c\":\"changed\"}}");
    }
    arena_free(other);
    assert_string_equal(text_of(json), "{\"a\":[1,\"x\",1.50],\"b\":{\"c\":null}}");
    struct json *member = json_clone(arena, json_get(json, "a"));
    assert_null(member->name);
    assert_null(member->next);
}

static void test_equal(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } ROWS[] = {
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"[1,2]", "[2,1]", false},
        {"[1,2]", "[1,2,3]", false},
        {"1", "1.0", true},
        {"1.50", "1.5", true},
        {"1", "\"1\"", false},
        {"null", "false", false},
        {"9007199254740993", "9007199254740992.0", false},
        {"9223372036854775808", "9223372036854775809", false},
        {"9223372036854775808", "9223372036854775808", true},
        {"\"a\"", "\"ab\"", false},
        {"-0", "0", true},
        {"[]", "{}", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct json *a = parse(ROWS[i].a), *b = parse(ROWS[i].b);
        if (json_equal(a, b) != ROWS[i].equal || json_equal(b, a) != ROWS[i].equal)
            fail_msg("%s and %s", ROWS[i].a, ROWS[i].b);
        assert_true(json_equal(a, a));
    }
    assert_true(json_equal(NULL, NULL));
    assert_false(json_equal(NULL, parse("null")));
}

/* Names in ascending order need no hash set, until a lookup creates one. */
static void test_name_sets(void **state)
{
    enum { COUNT = 200 };
    for (int asked_at = 0; asked_at < COUNT; asked_at += 20) {
        _cleanup_json_names_ struct json_names names = {0};
        struct json *object = json_object(arena);
        for (int i = 0; i < COUNT; i++) {
            struct json *member = json_int(arena, i);
            member->name = arena_printf(arena, "name-%03d", i);
            if (i == asked_at)
                assert_null(json_names_find(&names, object, member->name));
            assert_true(json_names_add(&names, object, member, strlen(member->name)));
            json_list_append(object, member);
        }
        for (int i = 0; i < COUNT; i++) {
            struct json again = {.name = arena_printf(arena, "name-%03d", i)};
            assert_false(json_names_add(&names, object, &again, strlen(again.name)));
            assert_int_equal(json_names_find(&names, object, again.name)->integer, i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_make_and_write),
        TEST(test_write_pretty),
        TEST(test_write_bad_utf8),
        TEST(test_write_into_full_buffer),
        TEST(test_reals),
        TEST(test_queries),
        TEST(test_set_and_remove),
        TEST(test_remove_element),
        TEST(test_ensure),
        TEST(test_clone),
        TEST(test_absent_members_stay_absent),
        TEST(test_equal),
        TEST(test_name_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
