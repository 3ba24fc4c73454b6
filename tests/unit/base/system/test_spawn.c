/* Tests that programs start with default signals and without inherited descriptors, regardless of
 * the parent process. */
#include "base/system/spawn.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Returns the output of a script as one line. `how` sets its input and directory. */
static char *output_of(struct spawn how, const char *script, int expected_status)
{
    int pipe_fds[2], status;
    pid_t pid;
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    how.arguments = (char *[]){(char *)"sh", (char *)"-c", (char *)script, NULL};
    how.out = how.err = pipe_fds[1];
    assert_int_equal(spawn_process(&how, &pid), 0);
    close(pipe_fds[1]);
    char text[512];
    size_t size = 0;
    for (ssize_t got; (got = read(pipe_fds[0], text + size, sizeof(text) - size)) > 0;)
        size += (size_t)got;
    close(pipe_fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), expected_status);
    return mem_strndup(text, size);
}

static char *const ENVIRONMENT[] = {(char *)"WORD=one", (char *)"PATH=/usr/bin:/bin", NULL};

static void a_program_gets_its_environment_and_input(void **state)
{
    const struct spawn how = {.environment = ENVIRONMENT, .in = -1};
    _cleanup_free_ char *text = output_of(how, "echo $WORD $HOME; cat; exit 3", 3);
    assert_string_equal(text, "one\n");
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(write(fds[1], "told\n", 5), 5);
    close(fds[1]);
    _cleanup_free_ char *told =
        output_of((struct spawn){.environment = ENVIRONMENT, .in = fds[0]}, "cat", 0);
    close(fds[0]);
    assert_string_equal(told, "told\n");
}

static void a_program_starts_with_default_signals(void **state)
{
    const struct spawn how = {.environment = ENVIRONMENT, .in = -1};
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    void (*piped)(int) = signal(SIGPIPE, SIG_IGN);
    _cleanup_free_ char *text = output_of(how, "grep -E '^Sig(Blk|Ign)' /proc/self/status", 0);
    signal(SIGPIPE, piped);
    sigprocmask(SIG_SETMASK, &before, NULL);
    unsigned long long held, ignored;
    assert_int_equal(sscanf(text, "SigBlk: %llx SigIgn: %llx", &held, &ignored), 2);
    assert_int_equal(held, 0);
    assert_int_equal(ignored & 0x7fffffff, 0); /* signals 32 and 33 belong to the C library */
}

/* The script prints its process group, its session (fields 5 and 6 of stat) and its PID. */
static void a_program_runs_in_the_requested_process_group(void **state)
{
    static const char WHERE[] = "cut -d' ' -f 5,6 /proc/$$/stat; echo $$";
    struct spawn how = {.environment = ENVIRONMENT, .in = -1, .place = SPAWN_IN_OUR_GROUP};
    int group, session, process;
    _cleanup_free_ char *ours = output_of(how, WHERE, 0);
    assert_int_equal(sscanf(ours, "%d %d %d", &group, &session, &process), 3);
    assert_true(group == getpgrp() && session == getsid(0));
    how.place = SPAWN_IN_OWN_GROUP;
    _cleanup_free_ char *own_group = output_of(how, WHERE, 0);
    assert_int_equal(sscanf(own_group, "%d %d %d", &group, &session, &process), 3);
    assert_true(group == process && session == getsid(0));
    how.place = SPAWN_IN_OWN_SESSION;
    _cleanup_free_ char *own_session = output_of(how, WHERE, 0);
    assert_int_equal(sscanf(own_session, "%d %d %d", &group, &session, &process), 3);
    assert_true(group == process && session == process);
}

static void a_program_that_cannot_start_is_an_error(void **state)
{
    pid_t pid;
    struct spawn how = {.environment = ENVIRONMENT, .in = -1, .out = 1, .err = 2};
    how.arguments = (char *[]){(char *)"/nowhere/at/all", NULL};
    assert_int_equal(spawn_process(&how, &pid), ENOENT);
    how.arguments = (char *[]){(char *)"/etc/passwd", NULL};
    assert_int_equal(spawn_process(&how, &pid), EACCES);
    how.arguments = (char *[]){(char *)"sh", (char *)"-c", (char *)"true", NULL};
    how.in = 9999;
    assert_int_equal(spawn_process(&how, &pid), EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_gets_its_environment_and_input),
        cmocka_unit_test(a_program_starts_with_default_signals),
        cmocka_unit_test(a_program_runs_in_the_requested_process_group),
        cmocka_unit_test(a_program_that_cannot_start_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
