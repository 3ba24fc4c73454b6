/* Lists through the members of what stands in them: the order, and removal at every place. */
#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct letter {
    char name;
    struct letter *next, **link;
};

/* The names from the head on; checks every link on the way. */
static const char *names_of(struct letter **head)
{
    static char names[8];
    size_t count = 0;
    struct letter **link = head;
    for (struct letter *letter = *head; letter; letter = letter->next) {
        assert_ptr_equal(letter->link, link);
        assert_in_range(count, 0, sizeof(names) - 2);
        names[count++] = letter->name;
        link = &letter->next;
    }
    names[count] = '\0';
    return names;
}

static void test_last_pushed_is_first(void **state)
{
    struct letter a = {'a'}, b = {'b'}, c = {'c'}, *head = NULL;
    list_push(&head, &a);
    assert_string_equal(names_of(&head), "a");
    list_push(&head, &b);
    list_push(&head, &c);
    assert_string_equal(names_of(&head), "cba");
}

static void test_remove_anywhere(void **state)
{
    static const char *const LEFT[] = {"ba", "ca", "cb"};
    for (size_t place = 0; place < 3; place++) {
        struct letter letters[] = {{'c'}, {'b'}, {'a'}}, *head = NULL;
        for (size_t i = 3; i > 0; i--)
            list_push(&head, &letters[i - 1]);
        list_remove(&letters[place]);
        assert_string_equal(names_of(&head), LEFT[place]);
        list_push(&head, &letters[place]);
        assert_ptr_equal(head, &letters[place]);
        for (size_t i = 0; i < 3; i++)
            list_remove(&letters[i]);
        assert_null(head);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_pushed_is_first),
        cmocka_unit_test(test_remove_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
