/* Tests arenas: alignment, large requests, reset; and the growing array. */
#include "base/arena.h"

#include "base/mem.h"
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void test_alignment_and_contents(void **state)
{
    struct arena *arena = arena_new();
    unsigned char *blocks[500];
    for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
        blocks[i] = arena_alloc(arena, i);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        memset(blocks[i], (int)i, i);
    }
    for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) /* no two overlap */
        for (size_t j = 0; j < i; j++)
            assert_int_equal(blocks[i][j], i & 0xff);
    arena_free(arena);
    assert_null(arena_free(NULL));
}

static void test_large_requests(void **state)
{
    struct arena *arena = arena_new();
    char *small = arena_strdup(arena, "small");
    char *large = arena_zalloc(arena, 5 << 20);
    /* The rest of the first chunk is still used. */
    assert_ptr_equal(arena_strdup(arena, "next"), small + sizeof("small"));
    assert_int_equal(large[(5 << 20) - 1], 0);
    memset(large, 'x', 5 << 20);
    assert_string_equal(small, "small");
    assert_true(arena_used(arena) >= 5 << 20);
    arena_reset(arena);
    assert_int_equal(arena_used(arena), 0);
    small = arena_strdup(arena, "again");
    assert_string_equal(small, "again");
    arena_free(arena);
}

/* The used size of one arena is the size of a chunk that takes the same allocations. */
static void test_exact_size(void **state)
{
    struct arena *draft = arena_new(), *exact = NULL;
    char *first = NULL, *last = NULL;
    for (int round = 0; round < 2; round++) {
        struct arena *arena = round == 0 ? draft : exact;
        for (int i = 0; i < 300; i++) {
            char *node = arena_alloc(arena, 40);
            assert_int_equal((uintptr_t)node % _Alignof(max_align_t), 0);
            first = i == 0 ? node : first;
            last = arena_printf(arena, "%0*d", i % 50, i);
        }
        if (round == 0)
            exact = arena_new_sized(arena_used(draft));
    }
    assert_int_equal(last + strlen(last) + 1 - first, arena_used(draft));
    assert_int_equal(arena_used(exact), arena_used(draft));
    arena_free(draft);
    arena_free(exact);
}

static void test_text(void **state)
{
    struct arena *arena = arena_new();
    assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
    assert_string_equal(arena_strndup(arena, "", 0), "");
    assert_string_equal(arena_printf(arena, "%s-%d", "worker", 7), "worker-7");
    char *long_text = arena_printf(arena, "%0*d", 10000, 1);
    assert_int_equal(strlen(long_text), 10000);
    int *numbers = ARENA_ARRAY(arena, int, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(numbers[i], 0);
    arena_free(arena);
}

/* Texts that just fit into the rest of a chunk, and texts that do not. */
static void test_text_at_the_end(void **state)
{
    for (int size = 0; size < 20; size++) {
        struct arena *arena = arena_new_sized(16);
        char *before = arena_strdup(arena, "abc");
        char *text = arena_printf(arena, "%0*d", size, 7);
        char *behind = arena_strdup(arena, "xyz");
        assert_int_equal(strlen(text), size ? size : 1);
        assert_int_equal(strspn(text, "0"), size ? size - 1 : 0);
        assert_string_equal(before, "abc");
        assert_string_equal(behind, "xyz");
        assert_int_equal(arena_used(arena), 4 + strlen(text) + 1 + 4);
        arena_free(arena);
    }
}

static void test_vec(void **state)
{
    VEC(int) vec = {0};
    for (int i = 0; i < 1000; i++)
        vec_push(&vec, i);
    assert_int_equal(vec.count, 1000);
    vec_remove(&vec, 0);
    vec_remove(&vec, 998); /* the last */
    vec_remove(&vec, 10);
    assert_int_equal(vec.count, 997);
    assert_int_equal(vec.items[0], 1);
    assert_int_equal(vec.items[9], 10);
    assert_int_equal(vec.items[10], 12);
    assert_int_equal(vec.items[996], 998);
    vec_release(&vec);
    assert_null(vec.items);
    vec_release(&vec);
}

static void test_mem(void **state)
{
    char *text = mem_printf("%s/%d", "a", 1);
    assert_string_equal(text, "a/1");
    text = mem_realloc(text, 100);
    assert_string_equal(text, "a/1");
    free(text);
    text = mem_strndup("abc", 2);
    assert_string_equal(text, "ab");
    free(text);
    int *numbers = mem_calloc(10, sizeof(*numbers));
    assert_int_equal(numbers[9], 0);
    free(numbers);
    free(mem_alloc(0)); /* not NULL, even for size 0 */
    struct pair {
        int a, b;
    } pair;
    assert_ptr_equal(CONTAINER_OF(&pair.b, struct pair, b), &pair);
}

struct visit {
    int *count;
    int order; /* position at which it was called, from 1; 0: not called yet */
};

static void note_call_order(void *context)
{
    struct visit *visit = context;
    visit->order = ++*visit->count;
}

/* Deferred calls run once each, the last one first, when the arena is reset or freed. */
static void test_deferred(void **state)
{
    struct arena *arena = arena_new();
    int count = 0;
    struct visit first = {&count, 0}, second = {&count, 0}, third = {&count, 0};
    arena_defer(arena, note_call_order, &first);
    arena_reset(arena);
    assert_int_equal(first.order, 1);
    arena_defer(arena, note_call_order, &second);
    arena_defer(arena, note_call_order, &third);
    arena_free(arena);
    assert_int_equal(third.order, 2);
    assert_int_equal(second.order, 3);
    assert_int_equal(count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment_and_contents),
        cmocka_unit_test(test_large_requests),
        cmocka_unit_test(test_deferred),
        cmocka_unit_test(test_exact_size),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_at_the_end),
        cmocka_unit_test(test_vec),
        cmocka_unit_test(test_mem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
