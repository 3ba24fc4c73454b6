/* Tests the boot id of the machine. */
#include "base/system/boot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void the_boot_id_is_a_uuid_and_constant(void **state)
{
    char first[BOOT_ID_MAX], second[BOOT_ID_MAX];
    struct err err = ERR_INIT;
    if (boot_id(first, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(first), strlen("01234567-89ab-cdef-0123-456789abcdef"));
    assert_null(strpbrk(first, " \n"));
    assert_int_equal(boot_id(second, &err), 0);
    assert_string_equal(first, second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_boot_id_is_a_uuid_and_constant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
