/* Tests killing a process and waiting for its end, however long the kernel delays that. */
#include "node_test.h"

#include "node/process/lock.h"

#include "base/cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIFE_SECONDS = 120 };

static void *wait_in_thread(void *context)
{
    const int *line = context;
    pid_t self = gettid();
    if (write(*line, &self, sizeof(self)) != (ssize_t)sizeof(self))
        _exit(1);
    for (;;)
        pause();
}

/* Starts a process of two threads. The second thread reports its id. */
static pid_t start_two_threads(pid_t *ret_thread)
{
    int line[2];
    assert_int_equal(pipe(line), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pthread_t thread;
        alarm(LIFE_SECONDS);
        if (pthread_create(&thread, NULL, wait_in_thread, &line[1]) != 0)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(line[0], ret_thread, sizeof(*ret_thread)), sizeof(*ret_thread));
    close(line[0]);
    close(line[1]);
    return child;
}

/* A traced process does not disappear before its tracer has waited for it, so the test decides how
 * long the death takes. */
static void kill_waits_for_the_end_of_the_process(void **state)
{
    (void)state;
    pid_t thread;
    pid_t child = start_two_threads(&thread);
    _cleanup_fd_ int pidfd = pidfd_open(child, 0);
    struct err err = ERR_INIT;
    bool held = ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0;
    int early = held ? process_kill(pidfd, 0, &err) : 0;
    if (held)
        assert_int_equal(waitpid(thread, NULL, __WALL), thread);
    int late = process_kill(pidfd, PROCESS_DEATH_MS, held ? NULL : &err);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(late, 0);
    if (!held)
        skip(); /* ptrace is not allowed on this machine */
    assert_int_equal(early, -ERR_TIMEOUT);
    assert_string_equal(err.message, "it has not ended 0 s after SIGKILL: try again");
    assert_int_equal(process_kill(pidfd, 0, NULL), 0); /* no process is left to kill */
}

/* Takes the lock in a new process, which ends when the test ends it. */
static pid_t start_holder(const char *path)
{
    int line[2];
    char byte;
    assert_int_equal(pipe(line), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fd;
        alarm(LIFE_SECONDS);
        if (process_lock_take(path, &fd, NULL) < 0 || write(line[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(line[0], &byte, 1), 1);
    close(line[0]);
    close(line[1]);
    return child;
}

/* A caller that believes that the holder is gone may delete the files of a running pod. */
static void holder_is_gone_only_if_none_was_found(void **state)
{
    (void)state;
    char directory[] = "/tmp/trainyard-lock.XXXXXX";
    assert_non_null(mkdtemp(directory));
    _cleanup_free_ char *path = mem_printf("%s/lock", directory);
    _cleanup_free_ char *below_a_file = mem_printf("%s/lock", path);
    struct rlimit before, few;
    struct err err = ERR_INIT;
    int pidfd = -1;
    pid_t pid, holder;
    assert_int_equal(process_lock_holder(path, &pidfd, &pid, NULL), -ERR_NOT_FOUND);
    holder = start_holder(path);
    assert_int_equal(process_lock_holder(below_a_file, &pidfd, &pid, NULL), -ERR_NOT_FOUND);
    int next = dup(0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int spare = 0; spare < 2; spare++) {
        few = (struct rlimit){.rlim_cur = (rlim_t)(next + spare), .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        int result = process_lock_holder(path, &pidfd, &pid, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(result, -ERR_IO);
        assert_non_null(strstr(err.message, "Too many open files"));
    }
    assert_int_equal(process_lock_holder(path, &pidfd, &pid, NULL), 0);
    assert_int_equal(pid, holder);
    close(pidfd);
    kill(holder, SIGKILL);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    assert_int_equal(process_lock_holder(path, &pidfd, &pid, NULL), -ERR_NOT_FOUND);
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kill_waits_for_the_end_of_the_process),
        cmocka_unit_test(holder_is_gone_only_if_none_was_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
