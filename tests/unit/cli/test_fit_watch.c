/* Tests the termination message that a finished run leaves for the operator. */
#include "base/mem.h"
#include "cli/trainer/fit_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch_directory.h"

/* The file of the termination message must exist already. */
static void last_progress_becomes_the_termination_message(void **state)
{
    _cleanup_free_ char *path = mem_printf("%s/termination-log", directory);
    struct fit_watch watch = {.state = run_state_new(), .arena = arena_new()};
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    run_state_begin(watch.state, 0, 9, 0);
    run_state_step(watch.state, 9, 0.5, 1, 1);
    setenv("TRAINYARD_TERMINATION_LOG", path, 1);
    fit_watch_finish(&watch); /* outside of a pod */
    assert_false(file_exists(path));
    assert_int_equal(file_write_atomic(path, "words of before", 15, 0600, NULL), 0);
    fit_watch_finish(&watch);
    assert_int_equal(file_read(path, &text, NULL), 0);
    assert_string_equal(text.data, "{\"step\":9,\"total\":9,\"loss\":0.5}");
    fit_watch_close(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(last_progress_becomes_the_termination_message,
                                        make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
