/* Tests how processes without namespaces are found: by their parents, whatever they did to detach,
 * and by the mark in their environment. */
#include "node_test.h"

#include "node/process/orphans.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHAIN = 5, LIFE_SECONDS = 120 };

static void wait_forever(void) __attribute__((noreturn));
static void wait_forever(void)
{
    for (;;)
        pause();
}

/* Closes the output, so that a program that waits for the end of the test's output does not wait
 * for this process, even if the test fails. */
static void detach_from_test_output(void)
{
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    alarm(LIFE_SECONDS);
}

/* Runs until it is killed. Its PID is written once it lives. */
static void report_and_wait(int line) __attribute__((noreturn));
static void report_and_wait(int line)
{
    pid_t self = getpid();
    detach_from_test_output();
    if (write(line, &self, sizeof(self)) != (ssize_t)sizeof(self))
        _exit(1);
    wait_forever();
}

/* Becomes a daemon without an environment, which can only be found by its parents. */
static void daemonize(int line) __attribute__((noreturn));
static void daemonize(int line)
{
    setsid();
    if (fork() > 0)
        _exit(0);
    clearenv();
    report_and_wait(line);
}

static void start_chain(int line, int left) __attribute__((noreturn));
static void start_chain(int line, int left)
{
    if (left > 1 && fork() == 0)
        start_chain(line, left - 1);
    report_and_wait(line);
}

static int receive_pidfd(int line)
{
    pid_t pid = 0;
    assert_int_equal(read(line, &pid, sizeof(pid)), sizeof(pid));
    int pidfd = pidfd_open(pid, 0);
    assert_true(pidfd >= 0);
    return pidfd;
}

static bool has_ended(int pidfd)
{
    struct pollfd one = {.fd = pidfd, .events = POLLIN};
    return poll(&one, 1, 0) == 1;
}

static void reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

static void daemon_is_killed(void **state)
{
    int line[2];
    assert_int_equal(pipe(line), 0);
    if (fork() == 0)
        daemonize(line[1]);
    _cleanup_fd_ int daemon = receive_pidfd(line[0]);
    assert_true(orphans_end_below(NULL, NULL));
    assert_true(has_ended(daemon));
    reap();
    close(line[0]);
    close(line[1]);
}

static void chain_of_descendants_is_killed(void **state)
{
    int line[2], links[CHAIN];
    assert_int_equal(pipe(line), 0);
    if (fork() == 0)
        start_chain(line[1], CHAIN);
    for (int i = 0; i < CHAIN; i++)
        links[i] = receive_pidfd(line[0]);
    assert_true(orphans_end_below(NULL, NULL));
    for (int i = 0; i < CHAIN; i++) {
        assert_true(has_ended(links[i]));
        close(links[i]);
    }
    reap();
    close(line[0]);
    close(line[1]);
}

static bool is_chosen(void *context, pid_t top)
{
    return top == *(pid_t *)context;
}

static void unselected_processes_survive(void **state)
{
    int line[2];
    assert_int_equal(pipe(line), 0);
    pid_t first = fork();
    if (first == 0)
        start_chain(line[1], 2);
    _cleanup_fd_ int top = receive_pidfd(line[0]), below = receive_pidfd(line[0]);
    pid_t other = fork();
    if (other == 0)
        report_and_wait(line[1]);
    _cleanup_fd_ int spared = receive_pidfd(line[0]);
    assert_true(orphans_end_below(is_chosen, &first));
    assert_true(has_ended(top) && has_ended(below));
    assert_false(has_ended(spared));
    assert_true(orphans_end_below(is_chosen, &other));
    assert_true(has_ended(spared));
    reap();
    close(line[0]);
    close(line[1]);
}

/* Starts a process with this mark, by execve(), as pods get theirs. */
static int start_marked(const char *mark, pid_t *ret)
{
    int line[2];
    assert_int_equal(pipe2(line, O_CLOEXEC), 0);
    _cleanup_free_ char *variable = mem_printf(ORPHANS_MARK "=%s", mark);
    pid_t pid = fork();
    if (pid == 0) {
        detach_from_test_output();
        execle("/bin/sleep", "sleep", "1000", NULL, (const char *[]){"FIRST=1", variable, NULL});
        _exit(1);
    }
    close(line[1]);
    char byte;
    assert_int_equal(read(line[0], &byte, 1), 0); /* execve() closes the pipe */
    close(line[0]);
    *ret = pid;
    return pidfd_open(pid, 0);
}

static bool is_spared(void *context, const char *mark)
{
    return strcmp(mark, context) == 0;
}

static void processes_are_killed_by_their_mark(void **state)
{
    /* A mark of this test only, so that no other process of the machine matches. */
    _cleanup_free_ char *base = mem_printf("/test-strays-%d", (int)getpid());
    _cleanup_free_ char *pod = mem_printf("%s/b", base);
    _cleanup_free_ char *inside = mem_printf("%s/main", pod);
    _cleanup_free_ char *side = mem_printf("%s/side", pod);
    _cleanup_free_ char *longer = mem_printf("%sc/main", pod);
    char mark[256];
    pid_t pids[4];
    _cleanup_fd_ int a = start_marked(inside, &pids[0]), b = start_marked(side, &pids[1]);
    _cleanup_fd_ int c = start_marked(longer, &pids[2]), d = start_marked(pod, &pids[3]);
    orphans_mark_of(pids[0], mark, sizeof(mark));
    assert_string_equal(mark, inside);
    assert_int_equal(orphans_end_marked(pod, is_spared, side), 1);
    assert_true(has_ended(a));
    assert_false(has_ended(b) || has_ended(c) || has_ended(d));
    orphans_mark_of(pids[0], mark, sizeof(mark)); /* the mark of a dead process */
    assert_string_equal(mark, "");
    assert_int_equal(orphans_end_marked(pod, NULL, NULL), 1);
    assert_true(has_ended(b));
    /* "/bc" is not below "/b", and "/b" is not below itself */
    assert_false(has_ended(c) || has_ended(d));
    assert_int_equal(orphans_end_marked(base, NULL, NULL), 2);
    assert_true(has_ended(c) && has_ended(d));
    assert_int_equal(orphans_end_marked(base, NULL, NULL), 0);
    reap();
}

/* Any process may write a mark. */
static void marks_with_invalid_paths_are_ignored(void **state)
{
    static const char *const NAMES[] = {"..", "../../etc", "b/..", "b/.hidden", "b//main", "b/c/d"};
    _cleanup_free_ char *base = mem_printf("/test-strays-%d", (int)getpid());
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
        _cleanup_free_ char *mark = mem_printf("%s/%s", base, NAMES[i]);
        pid_t pid;
        _cleanup_fd_ int pidfd = start_marked(mark, &pid);
        assert_int_equal(orphans_end_marked(base, NULL, NULL), 0);
        assert_false(has_ended(pidfd));
        pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
}

static void *wait_in_thread(void *line)
{
    report_and_wait(*(int *)line);
}

/* The process looks dead, because its first thread has ended, but another thread runs. */
static void process_without_its_first_thread_is_killed(void **state)
{
    int line[2];
    assert_int_equal(pipe(line), 0);
    if (fork() == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_in_thread, &line[1]) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    _cleanup_fd_ int pidfd = receive_pidfd(line[0]);
    assert_true(orphans_end_below(NULL, NULL));
    assert_true(has_ended(pidfd));
    reap();
    close(line[0]);
    close(line[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(daemon_is_killed),
        cmocka_unit_test(chain_of_descendants_is_killed),
        cmocka_unit_test(unselected_processes_survive),
        cmocka_unit_test(processes_are_killed_by_their_mark),
        cmocka_unit_test(marks_with_invalid_paths_are_ignored),
        cmocka_unit_test(process_without_its_first_thread_is_killed),
    };
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* like the supervisor of a pod */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
