/* Tests the hash map against a plain array; all keys stay reachable after removals. */
#include "base/map.h"

#include "base/mem.h"
#include "base/rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void *value_of(size_t number)
{
    return (void *)(uintptr_t)(number + 1);
}

static void test_empty(void **state)
{
    struct map map = {0};
    const char *key;
    void *value;
    assert_null(map_get(&map, "a"));
    assert_null(map_remove(&map, "a"));
    size_t i = 0;
    assert_false(map_next(&map, &i, &key, &value));
    map_release(&map);
    map_release(&map);
}

static void test_put_get_replace_remove(void **state)
{
    struct map map;
    map_init(&map);
    char key[] = "default/mnist";
    assert_null(map_put(&map, key, value_of(1)));
    key[0] = 'X'; /* the map has its own copy */
    assert_ptr_equal(map_get(&map, "default/mnist"), value_of(1));
    assert_null(map_get(&map, "Xefault/mnist"));
    assert_ptr_equal(map_put(&map, "default/mnist", value_of(2)), value_of(1));
    assert_int_equal(map.count, 1);
    assert_null(map_put(&map, "", value_of(3)));
    assert_ptr_equal(map_get(&map, ""), value_of(3));
    assert_ptr_equal(map_remove(&map, "default/mnist"), value_of(2));
    assert_null(map_remove(&map, "default/mnist"));
    assert_int_equal(map.count, 1);
    map_release(&map);
}

/* Random puts and removes with few keys, so that probe chains form, wrap around and close. */
static void test_against_array(void **state)
{
    enum { KEYS = 500, MOVES = 50000 };
    struct map map;
    struct rand rand;
    map_init(&map);
    rand_init(&rand, 7);
    void *expected[KEYS] = {0};
    size_t count = 0;
    for (int move = 0; move < MOVES; move++) {
        size_t k = rand_below(&rand, KEYS);
        char key[16];
        snprintf(key, sizeof(key), "key-%zu", k);
        if (rand_below(&rand, 2)) {
            void *value = value_of((size_t)move);
            assert_ptr_equal(map_put(&map, key, value), expected[k]);
            count += expected[k] == NULL;
            expected[k] = value;
        } else {
            assert_ptr_equal(map_remove(&map, key), expected[k]);
            count -= expected[k] != NULL;
            expected[k] = NULL;
        }
        assert_int_equal(map.count, count);
    }
    for (size_t k = 0; k < KEYS; k++) {
        char key[16];
        snprintf(key, sizeof(key), "key-%zu", k);
        assert_ptr_equal(map_get(&map, key), expected[k]);
    }
    size_t seen = 0;
    const char *key;
    void *value;
    for (size_t i = 0; map_next(&map, &i, &key, &value);) {
        size_t k;
        assert_int_equal(sscanf(key, "key-%zu", &k), 1);
        assert_ptr_equal(value, expected[k]);
        expected[k] = NULL; /* so that a second visit fails */
        seen++;
    }
    assert_int_equal(seen, count);
    map_release(&map);
}

static void test_grows(void **state)
{
    enum { KEYS = 20000 };
    struct map map;
    map_init(&map);
    for (size_t i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%zu", i);
        map_put(&map, key, value_of(i));
    }
    assert_int_equal(map.count, KEYS);
    assert_true(map.count * 4 <= map.capacity * 3);
    for (size_t i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%zu", i);
        assert_ptr_equal(map_get(&map, key), value_of(i));
    }
    map_release(&map);
}

/* The hash depends on every byte, the size and the hash key. */
static void test_hash_depends_on_all(void **state)
{
    struct hash_key key = {{1, 2}}, other = {{1, 3}};
    char data[33] = {0};
    for (size_t size = 0; size < sizeof(data); size++) {
        uint64_t hash = hash_bytes(&key, data, size);
        assert_true(hash == hash_bytes(&key, data, size));
        assert_true(hash != hash_bytes(&other, data, size));
        assert_true(hash != hash_bytes(&key, data, size + 1));
        for (size_t i = 0; i < size; i++) {
            data[i] ^= 1;
            assert_true(hash != hash_bytes(&key, data, size));
            data[i] ^= 1;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_put_get_replace_remove),
        cmocka_unit_test(test_against_array),
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_hash_depends_on_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
