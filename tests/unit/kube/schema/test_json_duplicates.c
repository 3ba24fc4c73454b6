/* Tests duplicate names in one object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json/yaml.h"
#include "base/mem.h"
#include "kube/schema/json_duplicates.h"

static void the_last_duplicate_in_json_is_used(void **state)
{
    static const struct {
        const char *text, *tree, *repeats;
    } CASES[] = {
        {"{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}", ""},
        {"{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":2,\"a\":3}", "duplicate field \"a\" "},
        {"{\"a\":1,\"a\":2,\"a\":3}", "{\"a\":3}", "duplicate field \"a\" "},
        {"{\"s\":{\"c\":[{\"n\":1},{\"n\":1,\"n\":2}]}}", "{\"s\":{\"c\":[{\"n\":1},{\"n\":2}]}}",
         "duplicate field \"s.c[1].n\" "},
        {"[[{\"x\":1,\"x\":2}]]", "[[{\"x\":2}]]", "duplicate field \"[0][0].x\" "},
    };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct schema_messages repeats = {0};
        struct json *json;
        const char *text = "";
        assert_int_equal(kube_json_duplicates_parse(arena, CASES[i].text, strlen(CASES[i].text),
                                                    &json, &repeats, NULL),
                         0);
        for (size_t j = 0; j < repeats.count; j++)
            text = arena_printf(arena, "%s%s ", text, repeats.texts[j]);
        assert_string_equal(json_to_string(arena, json), CASES[i].tree);
        assert_string_equal(text, CASES[i].repeats);
    }
}

/* If the text is read as YAML, each position is reported, those within a value before that of the
 * value. */
static void the_last_duplicate_in_yaml_is_used(void **state)
{
    static const struct {
        const char *text, *tree, *repeats;
    } CASES[] = {
        {"a: 1\nb: 2\n", "{\"a\":1,\"b\":2}", ""},
        {"a: 1\nb: 2\na: 3\na: 4\n", "{\"b\":2,\"a\":4}",
         "line 3: key \"a\" already set in map; line 4: key \"a\" already set in map; "},
        {"a: 1\na:\n  b: 1\n  b:\n    - c: 1\n      c: 2\n", "{\"a\":{\"b\":[{\"c\":2}]}}",
         "line 6: key \"c\" already set in map; line 5: key \"b\" already set in map; "
         "line 3: key \"a\" already set in map; "},
        {"{\"a\":1,\n\"a\":2}", "{\"a\":2}", "line 2: key \"a\" already set in map; "},
        {"x: &x {a: 1}\nz:\n  <<: *x\n  a: 2\n", "{\"x\":{\"a\":1},\"z\":{\"a\":2}}", ""},
    };
    static const struct json_limits limits = {.repeats = true};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct schema_messages repeats = {0};
        struct json *documents;
        const char *text = "";
        const struct source source = {"body", CASES[i].text, strlen(CASES[i].text), false};
        assert_int_equal(yaml_parse(arena, &source, &limits, &documents, NULL), 0);
        kube_yaml_duplicates_remove(arena, documents->first, &repeats);
        for (size_t j = 0; j < repeats.count; j++)
            text = arena_printf(arena, "%s%s; ", text, repeats.texts[j]);
        assert_string_equal(json_to_string(arena, documents->first), CASES[i].tree);
        assert_string_equal(text, CASES[i].repeats);
    }
}

/* Any number of duplicates takes bounded time and gives a bounded answer. */
static void many_duplicates_are_bounded(void **state)
{
    enum { NAMES = 20 * 1000 };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    buf_init(&text, 10 * 1024 * 1024);
    for (int i = 0; i < 2 * NAMES; i++)
        buf_printf(&text, "%s\"n%d\":%d", i ? "," : "{", i % NAMES, i);
    buf_append_char(&text, '}');
    struct schema_messages repeats = {0};
    struct json *json;
    assert_int_equal(kube_json_duplicates_parse(arena, text.data, text.size, &json, &repeats, NULL),
                     0);
    assert_int_equal(json->count, NAMES);
    assert_int_equal(repeats.count, SCHEMA_MESSAGES_MAX);
    assert_int_equal(json_get_int(json, "n7", 0), NAMES + 7);
    repeats.count = 0;
    const struct source source = {"body", text.data, text.size, false};
    static const struct json_limits limits = {.repeats = true};
    assert_int_equal(yaml_parse(arena, &source, &limits, &json, NULL), 0);
    json = json->first;
    kube_yaml_duplicates_remove(arena, json, &repeats);
    assert_int_equal(json->count, NAMES);
    assert_int_equal(repeats.count, SCHEMA_MESSAGES_MAX);
    assert_string_equal(repeats.texts[0], "line 1: key \"n0\" already set in map");
    json_set_int(arena, json, "new", 1); /* the end of the list is still valid */
    assert_int_equal(json_count(json), NAMES + 1);
    assert_int_equal(json_get_int(json, "new", 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_last_duplicate_in_json_is_used),
                                       cmocka_unit_test(the_last_duplicate_in_yaml_is_used),
                                       cmocka_unit_test(many_duplicates_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
