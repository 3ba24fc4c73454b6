/* Tests the worker processes of a benchmark: how one ends the others, and which error is
 * reported. */
#include "base/mem.h"
#include "cli/trainer/bench_workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORKERS = 4 };

/* Starts the workers. Each worker ends with its error, if it has one. A worker without an error
 * waits if worker 0 has one. Returns only in worker 0. */
static int run_workers(const struct err *ends, struct err *err)
{
    struct bench_workers workers = {0};
    struct ty_tf_config *config = NULL;
    *err = ERR_INIT;
    assert_int_equal(bench_workers_start(&workers, WORKERS, &config, err), 0);
    ty_tf_config_free(config);
    const struct err *own = &ends[workers.index];
    if (workers.index > 0 && own->code == ERR_NONE && ends[0].code != ERR_NONE)
        pause();
    *err = *own;
    if (workers.index > 0)
        return bench_workers_end(&workers, -(int)own->code, err);
    /* Waits until the workers with an error have ended, since worker 0 notices a failure by their
     * loss. */
    for (int i = 1; i < WORKERS; i++) {
        siginfo_t info;
        if (ends[i].code != ERR_NONE)
            assert_int_equal(waitid(P_PID, (id_t)workers.children[i], &info, WEXITED | WNOWAIT), 0);
    }
    int result = bench_workers_end(&workers, -(int)own->code, err);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    return result;
}

static void workers_without_errors_succeed(void **state)
{
    struct err err;
    assert_int_equal(run_workers((const struct err[WORKERS]){0}, &err), 0);
}

static void error_of_another_worker_is_reported(void **state)
{
    const struct err ends[WORKERS] = {[2] = {.code = ERR_IO, .message = "no memory"}};
    struct err err;
    assert_int_equal(run_workers(ends, &err), -ERR_IO);
    assert_string_equal(err.message, "worker 2: no memory");
}

static void cause_is_reported_instead_of_lost_peers(void **state)
{
    const struct err ends[WORKERS] = {
        [0] = {.code = ERR_UNAVAILABLE, .message = "worker 3 is lost"},
        [1] = {.code = ERR_TIMEOUT, .message = "worker 3 is silent"},
        [3] = {.code = ERR_IO, .message = "no memory"},
    };
    struct err err;
    assert_int_equal(run_workers(ends, &err), -ERR_IO);
    assert_string_equal(err.message, "worker 3: no memory");
}

static void error_of_all_workers_is_reported_once(void **state)
{
    const struct err unsupported = {.code = ERR_UNSUPPORTED, .message = "cannot be used here"};
    const struct err ends[WORKERS] = {unsupported, unsupported, unsupported, unsupported};
    struct err err;
    assert_int_equal(run_workers(ends, &err), -ERR_UNSUPPORTED);
    assert_string_equal(err.message, "cannot be used here");
}

/* Runs as a user that has no other process and may have one more. */
static void start_workers_with_process_limit(void)
{
    const struct rlimit limit = {2, 2};
    const uid_t user = 1000000000 + (uid_t)getpid();
    struct bench_workers workers = {0};
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    if (setrlimit(RLIMIT_NPROC, &limit) < 0 || setresuid(user, user, user) < 0)
        _exit(2);
    int result = bench_workers_start(&workers, WORKERS, &config, &err);
    if (workers.index == 0 && result == 0)
        _exit(2);
    if (workers.index > 0)
        pause();
    result = bench_workers_end(&workers, result, &err);
    _exit(result == 0 || strncmp(err.message, "cannot start worker 2: ", 23) != 0 ||
          waitpid(-1, NULL, WNOHANG) != -1);
}

static void failed_fork_is_reported_and_ends_the_other_workers(void **state)
{
    int status = 0;
    if (geteuid() != 0)
        skip();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        start_workers_with_process_limit();
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        skip(); /* the limit has no effect on this machine */
    assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(workers_without_errors_succeed),
        TEST(error_of_another_worker_is_reported),
        TEST(cause_is_reported_instead_of_lost_peers),
        TEST(error_of_all_workers_is_reported_once),
        TEST(failed_fork_is_reported_and_ends_the_other_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
