/* Tests the log line of a crash: its format, the functions it names, and the exit status. */
#include "base/system/crash.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/log.h"
#include "base/moment.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Exported, so that the backtrace can name them. Each has its own stack frame. */
#define FRAME __attribute__((noinline))
FRAME void crash_test_write_to(volatile int *place);
FRAME int crash_test_recurse(int depth);
FRAME void crash_test_segv(void);
FRAME void crash_test_overflow(void);
FRAME void crash_test_abort(void);
FRAME void crash_test_sent(void);

void crash_test_write_to(volatile int *place)
{
    *place = 1;
}

int crash_test_recurse(int depth)
{
    volatile char much[4096];
    much[0] = (char)depth;
    return depth < 0 ? 0 : crash_test_recurse(depth + 1) + much[0];
}

void crash_test_segv(void)
{
    crash_test_write_to((volatile int *)8);
}

void crash_test_overflow(void)
{
    (void)crash_test_recurse(0);
}

void crash_test_abort(void)
{
    abort();
}

void crash_test_sent(void)
{
    if (kill(getpid(), SIGBUS) < 0)
        _exit(1); /* code after the call prevents a tail call, which would leave no frame */
}

/* Sanitizers replace our report of a crash. */
static void skip_if_sanitized(void)
{
#ifdef SANITIZED
    skip();
#endif
}

/* Runs `function` in a child process. Returns its exit status and its log. */
static int run_crash(void (*function)(void), enum log_format format, struct buf *ret_log)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(fds[1], STDERR_FILENO);
        log_setup(LOG_INFO, format);
        crash_log_install("test");
        function();
        _exit(0);
    }
    close(fds[1]);
    char piece[4096];
    for (ssize_t got; (got = read(fds[0], piece, sizeof(piece))) > 0;)
        buf_append(ret_log, piece, (size_t)got);
    close(fds[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void check_json(void (*function)(void), int signal, const char *cause, const char *name)
{
    skip_if_sanitized();
    char before[MOMENT_TEXT_MAX], after[MOMENT_TEXT_MAX];
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf log;
    buf_init(&log, 65536);
    moment_format_micro(moment_wall_ms() * 1000, before);
    int status = run_crash(function, LOG_JSON, &log);
    moment_format_micro(moment_wall_ms() * 1000, after);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signal);
    assert_ptr_equal(strchr(log.data, '\n'), log.data + log.size - 1);
    struct json *line = NULL;
    struct err err = ERR_INIT;
    if (json_parse(arena, log.data, log.size, NULL, &line, &err) < 0)
        fail_msg("%s: %s", err.message, log.data);
    const char *time = json_get_string(line, "time", "");
    assert_int_equal(strlen(time), strlen(before));
    assert_true(strcmp(before, time) <= 0 && strcmp(time, after) <= 0);
    assert_string_equal(json_get_string(line, "level", ""), "error");
    assert_string_equal(json_get_string(line, "subject", ""), "test");
    const char *message = json_get_string(line, "message", "");
    if (strncmp(message, cause, strlen(cause)) != 0 || !strstr(message, name))
        fail_msg("no '%s' and '%s' in: %s", cause, name, message);
}

static void a_segfault_report_names_the_function(void **state)
{
    check_json(crash_test_segv, SIGSEGV, "crashed with signal 11 (SIGSEGV) at address 0x8 in ",
               "crash_test_write_to (test_base_crash+0x");
}

static void a_stack_overflow_is_reported(void **state)
{
    check_json(crash_test_overflow, SIGSEGV, "crashed with signal 11 (SIGSEGV) at address 0x",
               "crash_test_recurse (");
}

static void an_abort_is_reported(void **state)
{
    check_json(crash_test_abort, SIGABRT, "crashed with signal 6 (SIGABRT) in ",
               "crash_test_abort (");
}

static void a_sent_signal_report_names_the_sender(void **state)
{
    check_json(crash_test_sent, SIGBUS, "crashed with signal 7 (SIGBUS), sent by process ",
               "crash_test_sent (");
}

static void a_text_report_starts_with_the_subject(void **state)
{
    skip_if_sanitized();
    _cleanup_buf_ struct buf log;
    buf_init(&log, 65536);
    run_crash(crash_test_segv, LOG_TEXT, &log);
    const char *start = " error: test: crashed with signal 11 (SIGSEGV) at address 0x8 in ";
    assert_memory_equal(log.data + strlen("00:00:00.000"), start, strlen(start));
    assert_int_equal(log.data[log.size - 1], '\n');
}

static void signals_have_names(void **state)
{
    assert_string_equal(crash_signal_name(SIGKILL), "SIGKILL");
    assert_string_equal(crash_signal_name(SIGSEGV), "SIGSEGV");
    assert_string_equal(crash_signal_name(0), "signal");
    assert_string_equal(crash_signal_name(63), "signal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segfault_report_names_the_function),
        cmocka_unit_test(a_stack_overflow_is_reported),
        cmocka_unit_test(an_abort_is_reported),
        cmocka_unit_test(a_sent_signal_report_names_the_sender),
        cmocka_unit_test(a_text_report_starts_with_the_subject),
        cmocka_unit_test(signals_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
