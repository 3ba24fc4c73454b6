/* Tests the error object: messages, wrapping, truncation, and the HTTP status and exit code of each
 * code. */
#include "base/err.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

static void test_set_and_wrap(void **state)
{
    struct err err = ERR_INIT;
    assert_int_equal(err_set(&err, ERR_NOT_FOUND, "no pod '%s'", "a"), -ERR_NOT_FOUND);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_string_equal(err.message, "no pod 'a'");
    assert_int_equal(err_wrap(&err, "job '%s'", "b"), -ERR_NOT_FOUND);
    assert_string_equal(err.message, "job 'b': no pod 'a'");
    err_clear(&err);
    assert_int_equal(err.code, ERR_NONE);
    assert_string_equal(err.message, "");
}

static void test_null_error_object(void **state)
{
    assert_int_equal(err_set(NULL, ERR_INVALID, "x"), -ERR_INVALID);
    assert_int_equal(err_set_errno(NULL, ENOENT, "x"), -ERR_NOT_FOUND);
    assert_true(err_wrap(NULL, "x") < 0);
}

static void test_an_error_is_never_zero(void **state)
{
    struct err err = ERR_INIT;
    assert_int_equal(err_wrap(&err, "nothing was set"), -ERR_INTERNAL);
    assert_int_equal(err.code, ERR_INTERNAL);
    assert_int_equal(err_set(&err, ERR_NONE, "no code"), -ERR_INTERNAL);
    assert_int_equal(err.code, ERR_INTERNAL);
}

static void test_errno(void **state)
{
    static const struct {
        int errnum;
        enum err_code code;
    } ROWS[] = {{ENOENT, ERR_NOT_FOUND},  {EEXIST, ERR_EXISTS},
                {EACCES, ERR_FORBIDDEN},  {EPERM, ERR_FORBIDDEN},
                {ETIMEDOUT, ERR_TIMEOUT}, {ECONNREFUSED, ERR_UNAVAILABLE},
                {EPIPE, ERR_UNAVAILABLE}, {EIO, ERR_IO},
                {ENOSPC, ERR_IO}};
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        struct err err = ERR_INIT;
        assert_int_equal(err_set_errno(&err, ROWS[i].errnum, "cannot read '%s'", "f"),
                         -(int)ROWS[i].code);
        assert_int_equal(err.sys, ROWS[i].errnum);
    }
    struct err err = ERR_INIT;
    err_set_errno(&err, ENOENT, "cannot read '%s'", "f");
    assert_string_equal(err.message, "cannot read 'f': No such file or directory");
    err_set(&err, ERR_INVALID, "other");
    assert_int_equal(err.sys, 0);
}

static void expect_cut(const struct err *err)
{
    size_t size = strlen(err->message);
    assert_int_equal(size, ERR_MESSAGE_MAX - 1);
    assert_string_equal(err->message + size - strlen("…"), "…");
}

static void test_long_messages_are_cut(void **state)
{
    char text[2000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    struct err err = ERR_INIT;
    err_set(&err, ERR_INVALID, "%s", text);
    expect_cut(&err);
    err_set(&err, ERR_INVALID, "%.500s", text);
    err_wrap(&err, "a prefix of some length");
    expect_cut(&err);
    err_wrap(&err, "%s", text);
    expect_cut(&err);
    err_set_errno(&err, ENOENT, "%.505s", text);
    expect_cut(&err);
    err_set(&err, ERR_INVALID, "%.511s", text); /* just fits */
    assert_int_equal(err.message[ERR_MESSAGE_MAX - 2], 'x');
}

static void test_reason_status_and_exit_code(void **state)
{
    for (int code = 1; code < ERR_CODES; code++) {
        const struct err_info *info = err_info((enum err_code)code);
        assert_true(info->name && info->reason && info->http_status >= 400 && info->exit_code > 0);
    }
    assert_string_equal(err_info(ERR_CONFLICT)->reason, "Conflict");
    assert_int_equal(err_info(ERR_USAGE)->exit_code, 2);
    assert_ptr_equal(err_info((enum err_code)9999), err_info(ERR_INTERNAL));
    assert_int_equal(err_code_of_http(404), ERR_NOT_FOUND);
    assert_int_equal(err_code_of_http(410), ERR_EXPIRED);
    assert_int_equal(err_code_of_http(503), ERR_UNAVAILABLE);
    assert_int_equal(err_code_of_http(418), ERR_BAD_REQUEST);
    assert_int_equal(err_code_of_http(599), ERR_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_and_wrap),
        cmocka_unit_test(test_null_error_object),
        cmocka_unit_test(test_an_error_is_never_zero),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_long_messages_are_cut),
        cmocka_unit_test(test_reason_status_and_exit_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
