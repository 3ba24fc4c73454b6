/* Tests references in texts. */
#include "pipeline/spec/text.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *resolve(void *context, const char *reference, struct err *err)
{
    if (str_eq(reference, "a.b"))
        return "VALUE";
    if (str_eq(reference, "item"))
        return "{{a.b}}";
    if (str_eq(reference, "empty"))
        return "";
    (void)err_set(err, ERR_INVALID, "no '%s'", reference);
    return NULL;
}

static const struct {
    const char *text, *expected; /* NULL: rejected */
} ROWS[] = {
    {"", ""},
    {"plain", "plain"},
    {"{{a.b}}", "VALUE"},
    {"{{ a.b }}", "VALUE"},
    {"x{{a.b}}y{{\ta.b\n}}z", "xVALUEyVALUEz"},
    {"{{empty}}", ""},
    {"{{item}}", "{{a.b}}"}, /* a value is not expanded again */
    {"{{{a.b}}}", "{VALUE}"},
    {"{{", "{{"},
    {"{{a.b", "{{a.b"},
    {"{{a.b}", "{{a.b}"},
    {"{{}}", "{{}}"},
    {"{{ }}", "{{ }}"},
    {"{{'a': 1}}", "{{'a': 1}}"},
    {"f'{{x y}}'", "f'{{x y}}'"},
    {"{{unknown}}", NULL},
    {"{{a.b}} {{a.c}}", NULL},
    {"{{=1+1}}", NULL},
    {"{{ = a }}", NULL},
};

static void test_references_in_texts_are_expanded(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct err err = ERR_INIT;
        const char *got = NULL;
        int result = workflow_text_expand(arena, ROWS[i].text, resolve, NULL, &got, &err);

        if (!ROWS[i].expected) {
            assert_true(result < 0);
            assert_true(strlen(err.message) > 0);
            continue;
        }
        if (result < 0)
            fail_msg("'%s': %s", ROWS[i].text, err.message);
        assert_string_equal(got, ROWS[i].expected);
    }
}

static void test_references_in_trees_are_expanded(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char text[] =
        "{\"{{a.b}}\":[\"{{a.b}}\",1,true,null,{\"x\":\"-{{a.b}}-\"}],\"r\":1.50}";
    struct json *tree, *copy;

    assert_int_equal(json_parse(arena, text, strlen(text), NULL, &tree, NULL), 0);
    assert_int_equal(workflow_tree_expand(arena, tree, resolve, NULL, &copy, NULL), 0);
    assert_string_equal(json_to_string(arena, copy),
                        "{\"{{a.b}}\":[\"VALUE\",1,true,null,{\"x\":\"-VALUE-\"}],\"r\":1.50}");
    assert_string_equal(json_to_string(arena, tree), text);
}

static const char *resolve_large(void *context, const char *reference, struct err *err)
{
    return context;
}

static void test_size_is_limited(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *large = arena_zalloc(arena, WORKFLOW_TEXT_MAX / 2 + 2);
    struct err err = ERR_INIT;
    const char *got;

    memset(large, 'x', WORKFLOW_TEXT_MAX / 2);
    assert_int_equal(workflow_text_expand(arena, "{{a}}{{a}}", resolve_large, large, &got, &err),
                     0);
    assert_int_equal(workflow_text_expand(arena, "{{a}}{{a}}x", resolve_large, large, &got, &err),
                     -ERR_TOO_LARGE);
    assert_non_null(strstr(err.message, "after '{{a}}' is replaced"));

    /* A text that is too large without a reference. */
    char *plain = arena_zalloc(arena, WORKFLOW_TEXT_MAX + 8);
    memset(plain, 'x', WORKFLOW_TEXT_MAX + 7);
    plain[0] = plain[1] = '{';
    assert_int_equal(workflow_text_expand(arena, plain, resolve, NULL, &got, &err), -ERR_TOO_LARGE);
    assert_null(strstr(err.message, "{{"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references_in_texts_are_expanded),
        cmocka_unit_test(test_references_in_trees_are_expanded),
        cmocka_unit_test(test_size_is_limited)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
