/* Tests copies of JSON trees: a copy is written as the same bytes, whatever its base is, and shares
 * the equal parts with its base. */
#include "base/json/json.h"

#include "base/rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct json *parse(struct arena *arena, const char *text)
{
    struct json *json = NULL;
    assert_int_equal(json_parse(arena, text, strlen(text), NULL, &json, NULL), 0);
    return json;
}

static void check_links(const struct json *json)
{
    const struct json *last = NULL;
    size_t count = 0;
    if (json->type != JSON_ARRAY && json->type != JSON_OBJECT)
        return;
    JSON_EACH (item, json) {
        check_links(item);
        last = item;
        count++;
    }
    assert_ptr_equal(json->last, last);
    assert_int_equal(json->count, count);
}

/* Copies `text` with `base`, which is in the arena, as its base. Returns the size of the copy in
 * bytes. */
static size_t check_copy(struct arena *arena, const char *base, const char *text, struct json **ret)
{
    struct arena *source = arena_new(), *target = arena_new();
    struct json *kept = parse(arena, base);
    struct json *copy = json_clone_beside(target, parse(source, text), kept);
    arena_free(source); /* the copy shares nothing with the source */
    assert_string_equal(json_to_string(arena, copy), text);
    assert_string_equal(json_to_string(arena, kept), base);
    assert_null(copy->next);
    check_links(copy);
    size_t used = arena_used(target);
    if (ret)
        *ret = json_clone(arena, copy);
    arena_free(target);
    return used;
}

static void test_equal_parts_are_shared(void **state)
{
    const size_t node = sizeof(struct json);
    struct arena *arena = arena_new();
    static const char POD[] = "{\"name\":\"a\",\"spec\":{\"list\":[1,2,\"three\"],\"x\":true}}";
    assert_int_equal(check_copy(arena, POD, POD, NULL), node);
    /* The copy has its own member and text. It shares the member's name and all that follows. */
    assert_int_equal(check_copy(arena, POD,
                                "{\"name\":\"b\",\"spec\":{\"list\":[1,2,\"three\"],\"x\":true}}",
                                NULL),
                     2 * node + 2);
    /* The copy has its own nodes before a difference, but shares their names and texts. */
    assert_int_equal(check_copy(arena, POD,
                                "{\"name\":\"a\",\"spec\":{\"list\":[1,2,\"three\"],\"x\":false}}",
                                NULL),
                     5 * node);
    /* The copy has its own nodes of a list of another length, but shares their texts. */
    assert_int_equal(check_copy(arena, "[\"long enough to be seen\"]",
                                "[\"long enough to be seen\",\"long enough to be seen\"]", NULL),
                     3 * node + 23);
    arena_free(arena);
}

/* A value that is equal but written differently is not shared. */
static void test_copy_keeps_the_spelling_of_values(void **state)
{
    static const char *const TEXTS[] = {
        "1",
        "1.0",
        "1e0",
        "-0",
        "0",
        "\"1\"",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "[1]",
        "[1.0]",
        "[[1]]",
        "\"\"",
        "[0,1]",
        "{\"a\":1}",
        "\"a\"",
        "{\"b\":1}",
        "[1,0]",
        "{\"a\":1,\"b\":2}",
        "[{}]",
        "[[]]",
        "{\"a\":[1,2]}",
        "\"b\"",
        "\"ab\"",
        "[1,2]",
        "{\"b\":2,\"a\":1}",
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++)
        for (size_t k = 0; k < sizeof(TEXTS) / sizeof(*TEXTS); k++)
            check_copy(arena, TEXTS[i], TEXTS[k], NULL);
    arena_free(arena);
}

static struct json *draw_tree(struct arena *arena, struct rand *rand, int depth)
{
    unsigned kinds = depth ? 6 : 4;
    struct json *list;
    switch (rand_below(rand, kinds)) {
    case 0:
        return json_null(arena);
    case 1:
        return json_int(arena, (int64_t)rand_below(rand, 3));
    case 2:
        return json_real(arena, (double)rand_below(rand, 3) / 2);
    case 3:
        return json_stringf(arena, "%u", (unsigned)rand_below(rand, 3));
    case 4:
        list = json_array(arena);
        for (uint64_t count = rand_below(rand, 5); count > 0; count--)
            json_append(list, draw_tree(arena, rand, depth - 1));
        return list;
    default:
        list = json_object(arena);
        for (uint64_t count = rand_below(rand, 9); count > 0; count--)
            json_set(arena, list, (char[]){(char)('a' + rand_below(rand, 12)), '\0'},
                     draw_tree(arena, rand, depth - 1));
        return list;
    }
}

static void test_random_trees(void **state)
{
    struct rand rand;
    rand_init(&rand, 5);
    for (int round = 0; round < 3000; round++) {
        struct arena *arena = arena_new();
        char *base = json_to_string(arena, draw_tree(arena, &rand, 4));
        char *text = json_to_string(arena, draw_tree(arena, &rand, 4));
        struct json *copy;
        check_copy(arena, base, text, &copy);
        assert_string_equal(json_to_string(arena, copy), text);
        check_copy(arena, base, base, NULL);
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_parts_are_shared),
        cmocka_unit_test(test_copy_keeps_the_spelling_of_values),
        cmocka_unit_test(test_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
