/* Tests deltas: a delta restores the same bytes for any input, and is short if the inputs are
 * similar. */
#include "store/delta.h"

#include "base/mem.h"
#include "base/rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns the size of the delta. All memory has its exact size, so that a sanitizer sees a read
 * past the end. */
static size_t check(const char *base, size_t base_size, const char *text, size_t size)
{
    struct buf delta;
    buf_init(&delta, SIZE_MAX / 2);
    delta_write(base, base_size, text, size, &delta);
    assert_false(delta.overflowed);
    char *exact = mem_alloc(delta.size + 1), *again = mem_alloc(size + 1);
    memcpy(exact, delta.data, delta.size);
    delta_read(base, exact, again, size);
    assert_memory_equal(again, text, size);
    size_t delta_size = delta.size;
    buf_release(&delta);
    free(exact);
    free(again);
    return delta_size;
}

static size_t check_texts(const char *base, const char *text)
{
    return check(base, strlen(base), text, strlen(text));
}

static void test_small(void **state)
{
    assert_int_equal(check_texts("", ""), 0);
    assert_int_equal(check_texts("abcdefgh", ""), 0);
    assert_int_equal(check_texts("", "abc"), 4);
    /* Matches shorter than a window are not found. */
    assert_int_equal(check_texts("abcdefg", "abcdefg"), 8);
    assert_int_equal(check_texts("abcdefgh", "abcdefgh"), 3);
    assert_int_equal(check_texts("abcdefgh", "12abcdefgh"), 5);
    assert_int_equal(check_texts("abcdefgh", "abcdefgh12"), 6);
    /* The match grows to the left. */
    assert_int_equal(check_texts("0abcdefghijk", "1abcdefghijk"), 4);
}

static void test_pods(void **state)
{
    static const char POD[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"mnist-worker-%d\","
        "\"uid\":\"%08x-0000-4000-8000-000000000000\",\"resourceVersion\":\"%d\",\"labels\":{"
        "\"training.kubeflow.org/job-name\":\"mnist\",\"training.kubeflow.org/replica-index\":"
        "\"%d\",\"training.kubeflow.org/replica-type\":\"worker\"}},\"spec\":{\"containers\":[{"
        "\"name\":\"tensorflow\",\"image\":\"trainyard/trainer\",\"resources\":{\"limits\":{"
        "\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]}}";
    char base[1024], text[1024];
    snprintf(base, sizeof(base), POD, 1, 0x1234567, 17, 1);
    snprintf(text, sizeof(text), POD, 12345, 0x89abcdef, 4711, 12345);
    assert_in_range(check_texts(base, text), 10, strlen(text) / 6);
}

/* The text consists of pieces of its base and of other bytes, with few and with many different
 * bytes. */
static void test_random(void **state)
{
    enum { ROUNDS = 3000, SIZE_MAX_ = 2000 };
    struct rand rand;
    rand_init(&rand, 7);
    for (int round = 0; round < ROUNDS; round++) {
        size_t base_size = rand_below(&rand, SIZE_MAX_), size = 0;
        unsigned bytes = round % 3 == 0 ? 2 : 256;
        char *base = mem_alloc(base_size + 1), text[SIZE_MAX_];
        for (size_t i = 0; i < base_size; i++)
            base[i] = (char)rand_below(&rand, bytes);
        while (size < sizeof(text) && rand_below(&rand, 20)) {
            size_t piece = rand_below(&rand, 100), from = rand_below(&rand, base_size + 1);
            bool copied = rand_below(&rand, 2);
            for (size_t i = 0; i < piece && size < sizeof(text); i++)
                text[size++] = copied && from + i < base_size ? base[from + i]
                                                              : (char)rand_below(&rand, bytes);
        }
        char *exact = mem_alloc(size + 1);
        memcpy(exact, text, size);
        check(base, base_size, exact, size);
        free(exact);
        free(base);
    }
}

static void test_large(void **state)
{
    enum { SIZE = 3 * DELTA_BASE_MAX };
    char *base = mem_alloc(SIZE), *text = mem_alloc(SIZE);
    struct rand rand;
    rand_init(&rand, 9);
    for (size_t i = 0; i < SIZE; i++)
        base[i] = text[i] = (char)rand_next(&rand);
    size_t size = check(base, SIZE, text, SIZE); /* only its first part is searched */
    assert_in_range(size, SIZE - DELTA_BASE_MAX, SIZE - DELTA_BASE_MAX + 20);
    memset(base, 'a', SIZE);
    memset(text, 'a', SIZE);
    assert_in_range(check(base, SIZE, text, SIZE), 1, 40);
    free(base);
    free(text);
}

static void test_overflow(void **state)
{
    struct buf delta;
    buf_init(&delta, 10);
    delta_write("abcdefgh", 8, "abcdefgh", 8, &delta);
    assert_false(delta.overflowed);
    delta_write("abcdefgh", 8, "0123456789", 10, &delta);
    assert_true(delta.overflowed);
    buf_release(&delta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),    cmocka_unit_test(test_pods),
        cmocka_unit_test(test_random),   cmocka_unit_test(test_large),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
