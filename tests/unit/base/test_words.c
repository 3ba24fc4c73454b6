/* Texts kept once, and JSON trees that share the names of their members. */
#include "base/words.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static void test_one_copy(void **state)
{
    struct words *words = words_new();
    char text[] = "metadata";
    const char *first = words_get(words, text);
    text[0] = 'X';
    assert_string_equal(first, "metadata");
    assert_ptr_equal(words_get(words, "metadata"), first);
    assert_ptr_not_equal(words_get(words, "Xetadata"), first);
    assert_ptr_equal(words_ref(words), words);
    words_unref(words);
    assert_string_equal(first, "metadata");
    words_unref(words);
    words_unref(NULL);
}

static void test_no_more_than_allowed(void **state)
{
    struct words *words = words_new();
    char text[16];
    for (int i = 0; i < WORDS_MAX; i++) {
        snprintf(text, sizeof(text), "%d", i);
        assert_non_null(words_get(words, text));
    }
    assert_null(words_get(words, "one more"));
    assert_string_equal(words_get(words, "7"), "7");
    words_unref(words);
}

static void test_trees_share_names(void **state)
{
    static const char TEXT[] =
        "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"list\":[{\"metadata\":1}]}";
    struct arena *draft = arena_new(), *arena = arena_new(), *plain = arena_new();
    struct words *words = words_new();
    struct json *json = NULL;
    assert_int_equal(json_parse(draft, TEXT, strlen(TEXT), NULL, &json, NULL), 0);
    struct json *copy = json_clone_sharing(arena, json, words);
    json_clone(plain, json);
    arena_free(draft);
    assert_string_equal(json_to_string(arena, copy), TEXT);
    assert_ptr_equal(copy->first->name, words_get(words, "metadata"));
    assert_ptr_equal(copy->last->first->first->name, copy->first->name);
    assert_true(arena_used(arena) - sizeof(TEXT) < arena_used(plain));
    /* What does not fit in the words is the tree's own. */
    char text[16];
    for (int i = 0; i < WORDS_MAX; i++) {
        snprintf(text, sizeof(text), "%d", i);
        words_get(words, text);
    }
    struct json *odd = json_object(plain);
    json_set_int(plain, odd, "odd", 1);
    odd = json_clone_sharing(arena, odd, words);
    arena_free(plain);
    assert_string_equal(json_to_string(arena, odd), "{\"odd\":1}");
    arena_free(arena);
    words_unref(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_copy),
        cmocka_unit_test(test_no_more_than_allowed),
        cmocka_unit_test(test_trees_share_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
