/* Tests buffers: growth and the maximum. An append that does not fit changes nothing. */
#include "base/buf.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void test_append(void **state)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 1000);
    assert_string_equal(buf.data, "");
    buf_append(&buf, "ab", 2);
    buf_append(&buf, NULL, 0);
    buf_append_str(&buf, "cd");
    buf_append_char(&buf, 'e');
    buf_printf(&buf, "%d%s", 7, "x");
    assert_string_equal(buf.data, "abcde7x");
    assert_int_equal(buf.size, 7);
    buf_append(&buf, "\0z", 2); /* bytes, not text */
    assert_int_equal(buf.size, 9);
    assert_int_equal(buf.data[9], '\0');
    buf_clear(&buf);
    assert_string_equal(buf.data, "");
}

static void test_maximum(void **state)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 5);
    buf_append_str(&buf, "12345");
    assert_false(buf.overflowed);
    buf_append_char(&buf, '6');
    assert_true(buf.overflowed);
    assert_string_equal(buf.data, "12345");
    buf_clear(&buf);
    assert_false(buf.overflowed);
    buf_append_str(&buf, "123");
    buf_append_str(&buf, "456"); /* not even a part is appended */
    buf_printf(&buf, "%d", 456);
    assert_string_equal(buf.data, "123");
    buf_append_str(&buf, "45");
    assert_string_equal(buf.data, "12345");
    assert_null(buf_reserve(&buf, SIZE_MAX));
    struct buf none;
    buf_init(&none, 0);
    buf_append_char(&none, 'x');
    assert_true(none.overflowed);
    buf_release(&none);
}

/* Room was reserved, but nothing was read, as at the end of an empty file. */
static void test_reserve_without_consume(void **state)
{
    struct buf buf;
    buf_init(&buf, 1000);
    for (int i = 0; i < 60; i++)
        buf_append_char(&buf, 'x');
    buf_release(&buf); /* fills the memory that malloc() likely returns next */
    buf_init(&buf, 1000);
    assert_non_null(buf_reserve(&buf, 40));
    assert_string_equal(buf.data, "");
    buf_release(&buf);
}

static void test_reserve_and_consume(void **state)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 100000);
    char *room = buf_reserve(&buf, 50000);
    memset(room, 'x', 50000);
    buf_commit(&buf, 10);
    assert_string_equal(buf.data, "xxxxxxxxxx");
    buf_append_str(&buf, "tail");
    buf_consume(&buf, 10);
    assert_string_equal(buf.data, "tail");
    buf_consume(&buf, 0);
    assert_string_equal(buf.data, "tail");
    buf_consume(&buf, 1000);
    assert_string_equal(buf.data, "");
    assert_int_equal(buf.size, 0);
}

static void test_take_and_release(void **state)
{
    struct buf buf;
    buf_init(&buf, 100);
    char *text = buf_take(&buf);
    assert_string_equal(text, "");
    free(text);
    buf_append_str(&buf, "mine");
    text = buf_take(&buf);
    assert_string_equal(text, "mine");
    assert_int_equal(buf.size, 0);
    buf_append_str(&buf, "next"); /* still usable */
    assert_string_equal(text, "mine");
    free(text);
    buf_release(&buf);
    buf_release(&buf);
    struct buf zeroed = {0};
    buf_release(&zeroed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_maximum),
        cmocka_unit_test(test_reserve_without_consume),
        cmocka_unit_test(test_reserve_and_consume),
        cmocka_unit_test(test_take_and_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
