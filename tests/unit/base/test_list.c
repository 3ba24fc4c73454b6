/* Tests intrusive lists: the order, removal at every position, and iteration. */
#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct letter {
    char name;
    struct list_link link;
};

/* Returns the names in order, and checks every link. */
static const char *names_of(const struct list_head *list)
{
    static char names[8];
    size_t count = 0;
    const struct list_link *previous = &list->head;
    LIST_EACH (struct letter, letter, list, link) {
        assert_ptr_equal(letter->link.previous, previous);
        assert_in_range(count, 0, sizeof(names) - 2);
        names[count++] = letter->name;
        previous = &letter->link;
    }
    names[count] = '\0';
    return names;
}

static void test_zeroed_list_is_empty(void **state)
{
    struct list_head list = {0}, other = {0};
    assert_true(list_is_empty(&list));
    assert_null(LIST_FIRST(&list, struct letter, link));
    assert_string_equal(names_of(&list), "");
    LIST_EACH_SAFE (struct letter, letter, &list, link)
        fail();
    list_append_all(&list, &other);
    assert_true(list_is_empty(&list));
    list_init(&list);
    assert_true(list_is_empty(&list));
    assert_string_equal(names_of(&list), "");
}

static void test_push_and_append(void **state)
{
    struct letter a = {'a'}, b = {'b'}, c = {'c'};
    struct list_head list = {0};
    list_push(&list, &a.link);
    assert_string_equal(names_of(&list), "a");
    list_push(&list, &b.link);
    list_append(&list, &c.link);
    assert_string_equal(names_of(&list), "bac");
    assert_ptr_equal(LIST_FIRST(&list, struct letter, link), &b);
}

static void test_remove_anywhere(void **state)
{
    static const char *const LEFT[] = {"ba", "ca", "cb"};
    for (size_t place = 0; place < 3; place++) {
        struct letter letters[] = {{'c'}, {'b'}, {'a'}};
        struct list_head list = {0};
        for (size_t i = 0; i < 3; i++)
            list_append(&list, &letters[i].link);
        list_remove(&letters[place].link);
        assert_false(list_is_linked(&letters[place].link));
        assert_string_equal(names_of(&list), LEFT[place]);
        list_push(&list, &letters[place].link);
        assert_true(list_is_linked(&letters[place].link));
        assert_ptr_equal(LIST_FIRST(&list, struct letter, link), &letters[place]);
        for (size_t i = 0; i < 3; i++)
            list_remove(&letters[i].link);
        assert_true(list_is_empty(&list));
    }
}

static void test_remove_while_visiting(void **state)
{
    struct letter letters[] = {{'a'}, {'b'}, {'c'}};
    struct list_head list = {0};
    for (size_t i = 0; i < 3; i++)
        list_append(&list, &letters[i].link);
    LIST_EACH_SAFE (struct letter, letter, &list, link)
        if (letter->name != 'b')
            list_remove(&letter->link);
    assert_string_equal(names_of(&list), "b");
}

static void test_append_all(void **state)
{
    struct letter letters[] = {{'a'}, {'b'}, {'c'}, {'d'}};
    struct list_head list = {0}, other = {0};
    list_append(&other, &letters[0].link);
    list_append(&other, &letters[1].link);
    list_append_all(&list, &other);
    assert_true(list_is_empty(&other));
    assert_string_equal(names_of(&list), "ab");
    list_append(&other, &letters[2].link);
    list_append(&other, &letters[3].link);
    list_append_all(&list, &other);
    assert_string_equal(names_of(&list), "abcd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed_list_is_empty), cmocka_unit_test(test_push_and_append),
        cmocka_unit_test(test_remove_anywhere),      cmocka_unit_test(test_remove_while_visiting),
        cmocka_unit_test(test_append_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
