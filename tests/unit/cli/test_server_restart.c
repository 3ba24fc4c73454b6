/* Tests the decisions about restarting a server that has ended. */
#include "cli/trainyard/server_restart.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static void requested_exit_causes_no_restart(void **state)
{
    const int ends[] = {W_EXITCODE(0, 0), W_EXITCODE(0, SIGTERM), W_EXITCODE(0, SIGINT)};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        int crashes = 3;
        int64_t delay_ms = -1;
        assert_int_equal(server_restart_decide(ends[i], 5, &crashes, &delay_ms), SERVER_STOPPED);
        assert_int_equal(crashes, 3);
        assert_int_equal(delay_ms, -1);
    }
}

static void restart_delay_doubles_until_the_last_try(void **state)
{
    const int64_t delays[] = {100, 200, 400, 800, 1600, 3200, 6400};
    int crashes = 0;
    int64_t delay_ms = 0;
    for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
        int status = i % 2 ? W_EXITCODE(1, 0) : W_EXITCODE(0, SIGSEGV);
        assert_int_equal(server_restart_decide(status, 59999, &crashes, &delay_ms),
                         SERVER_RESTARTS);
        assert_int_equal(delay_ms, delays[i]);
    }
    assert_int_equal(server_restart_decide(W_EXITCODE(0, SIGKILL), 59999, &crashes, &delay_ms),
                     SERVER_GIVEN_UP);
    assert_int_equal(crashes, SERVER_RESTART_TRIES);
}

static void crash_count_is_reset_after_a_healthy_minute(void **state)
{
    int crashes = SERVER_RESTART_TRIES - 1;
    int64_t delay_ms = 0;
    assert_int_equal(server_restart_decide(W_EXITCODE(0, SIGBUS), 60000, &crashes, &delay_ms),
                     SERVER_RESTARTS);
    assert_int_equal(crashes, 1);
    assert_int_equal(delay_ms, SERVER_RESTART_FIRST_MS);
}

static void exit_cause_is_described(void **state)
{
    char text[SERVER_CAUSE_MAX];
    server_restart_cause(W_EXITCODE(0, SIGSEGV), text);
    assert_string_equal(text, "signal 11 (SIGSEGV)");
    server_restart_cause(W_EXITCODE(0, SIGKILL) | WCOREFLAG, text);
    assert_string_equal(text, "signal 9 (SIGKILL)");
    server_restart_cause(W_EXITCODE(3, 0), text);
    assert_string_equal(text, "exit code 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requested_exit_causes_no_restart),
        cmocka_unit_test(restart_delay_doubles_until_the_last_try),
        cmocka_unit_test(crash_count_is_reset_after_a_healthy_minute),
        cmocka_unit_test(exit_cause_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
