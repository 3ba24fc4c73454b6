/* Names that stand twice in one object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kube/json_repeats.h"

static void the_last_counts(void **state)
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
        struct schema_complaints repeats = {0};
        struct json *json;
        const char *text = "";
        assert_int_equal(kube_json_repeats_parse(arena, CASES[i].text, strlen(CASES[i].text), &json,
                                                 &repeats, NULL),
                         0);
        for (size_t j = 0; j < repeats.count; j++)
            text = arena_printf(arena, "%s%s ", text, repeats.texts[j]);
        assert_string_equal(json_to_string(arena, json), CASES[i].tree);
        assert_string_equal(text, CASES[i].repeats);
    }
}

/* As many as anybody likes, at a bounded cost and in a bounded answer. */
static void many(void **state)
{
    enum { NAMES = 20 * 1000 };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    buf_init(&text, 10 * 1024 * 1024);
    for (int i = 0; i < 2 * NAMES; i++)
        buf_printf(&text, "%s\"n%d\":%d", i ? "," : "{", i % NAMES, i);
    buf_append_char(&text, '}');
    struct schema_complaints repeats = {0};
    struct json *json;
    assert_int_equal(kube_json_repeats_parse(arena, text.data, text.size, &json, &repeats, NULL),
                     0);
    assert_int_equal(json->count, NAMES);
    assert_int_equal(repeats.count, SCHEMA_COMPLAINTS_MAX);
    assert_int_equal(json_get_int(json, "n7", 0), NAMES + 7);
    json_set_int(arena, json, "new", 1); /* the end of the list is known */
    assert_int_equal(json_count(json), NAMES + 1);
    assert_int_equal(json_get_int(json, "new", 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_last_counts), cmocka_unit_test(many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
