/* Tests the sorted map against a sorted array. */
#include "store/key_index.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_order_and_prefix(void **state)
{
    static const char *const KEYS[] = {"/pods/b/2", "/nodes/a", "/pods/a/1", "/pods",
                                       "/pods0",    "/pods/b",  "/pods/b/1"};
    static const char *const SORTED[] = {"/nodes/a",  "/pods",     "/pods/a/1", "/pods/b",
                                         "/pods/b/1", "/pods/b/2", "/pods0"};
    struct key_index index;
    key_index_init(&index);
    assert_null(key_index_from(&index, ""));
    for (size_t i = 0; i < ARRAY_SIZE(KEYS); i++)
        key_index_insert(&index, KEYS[i])->value = (void *)KEYS[i];
    size_t at = 0;
    for (struct key_node *node = key_index_from(&index, ""); node; node = node->next[0])
        assert_string_equal(node->key, SORTED[at++]);
    assert_int_equal(at, ARRAY_SIZE(SORTED));
    assert_string_equal(key_index_from(&index, "/pods/b/")->key, "/pods/b/1");
    assert_string_equal(key_index_from(&index, "/pods/a/1")->key, "/pods/a/1");
    assert_null(key_index_from(&index, "/q"));
    assert_string_equal(key_index_before(&index, "/pods/b")->key, "/pods/a/1");
    assert_string_equal(key_index_before(&index, "/pods/b/")->key, "/pods/b");
    assert_string_equal(key_index_before(&index, "/q")->key, "/pods0");
    assert_null(key_index_before(&index, "/nodes/a"));
    assert_null(key_index_find(&index, "/pods/"));
    assert_ptr_equal(key_index_insert(&index, "/pods"), key_index_find(&index, "/pods"));
    assert_int_equal(index.count, ARRAY_SIZE(KEYS));
    key_index_remove(&index, "/pods/");
    key_index_remove(&index, "/pods");
    assert_null(key_index_find(&index, "/pods"));
    assert_int_equal(index.count, ARRAY_SIZE(KEYS) - 1);
    key_index_release(&index);
}

static void test_against_array(void **state)
{
    enum { KEYS = 300, MOVES = 20000 };
    struct key_index index;
    struct rand rand;
    bool present[KEYS] = {false};
    size_t count = 0;
    key_index_init(&index);
    rand_init(&rand, 3);
    for (int move = 0; move < MOVES; move++) {
        size_t k = rand_below(&rand, KEYS);
        char key[16];
        snprintf(key, sizeof(key), "%04zu", k);
        if (rand_below(&rand, 2)) {
            key_index_insert(&index, key)->value = &present[k];
            count += !present[k];
            present[k] = true;
        } else {
            key_index_remove(&index, key);
            count -= present[k];
            present[k] = false;
        }
        assert_int_equal(index.count, count);
        if (move % 500)
            continue;
        struct key_node *node = key_index_from(&index, "");
        for (size_t i = 0; i < KEYS; i++) {
            if (!present[i])
                continue;
            assert_non_null(node);
            assert_ptr_equal(node->value, &present[i]);
            node = node->next[0];
        }
        assert_null(node);
    }
    key_index_release(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_prefix),
        cmocka_unit_test(test_against_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
