/* Tests threads: their names, their signal mask, and the error if none can be started. */
#include "base/system/thread.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
    sigset_t blocked;
    pthread_barrier_t named;
    char name[16];
};

static void *note_thread_state(void *context)
{
    struct seen *seen = context;
    pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
    pthread_barrier_wait(&seen->named);
    pthread_getname_np(pthread_self(), seen->name, sizeof(seen->name));
    return NULL;
}

static void a_thread_has_a_name_and_blocks_signals(void **state)
{
    struct seen seen = {0};
    struct err err = ERR_INIT;
    pthread_t thread;
    sigset_t before, after;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_barrier_init(&seen.named, NULL, 2);
    assert_int_equal(thread_start(&thread, "a name that is too long", "a thread", note_thread_state,
                                  &seen, &err),
                     0);
    pthread_barrier_wait(&seen.named);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&seen.named);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_string_equal(seen.name, "a name that is ");
    assert_true(sigismember(&seen.blocked, SIGTERM) && sigismember(&seen.blocked, SIGPIPE));
    assert_false(sigismember(&after, SIGTERM));
    assert_true(sigismember(&after, SIGUSR2));
}

/* Runs in a child process as a user that may start no thread, because root has no limit. */
static void a_failed_thread_start_has_an_error_message(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        struct err err = ERR_INIT;
        struct rlimit none = {0, 0};
        pthread_t thread = 0;
        if (setrlimit(RLIMIT_NPROC, &none) < 0 || (geteuid() == 0 && setuid(65533) < 0))
            _exit(2);
        int result =
            thread_start(&thread, "x", "the thread that is tried", note_thread_state, NULL, &err);
        _exit(result < 0 && thread == 0 &&
                      strncmp(err.message, "cannot start the thread that is tried: ", 39) == 0
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_has_a_name_and_blocks_signals),
        cmocka_unit_test(a_failed_thread_start_has_an_error_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
