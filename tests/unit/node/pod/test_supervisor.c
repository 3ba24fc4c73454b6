/* Tests that a failed start of a supervisor reports why, that a canceled start does no harm, and
 * that a running supervisor is found, or else not taken for missing. */
#include "node_test.h"

#include "loop_turns.h"
#include "node/network/namespaces.h"
#include "node/pod/supervisor.h"
#include "node/process/lock.h"
#include "scratch_directory.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct heard {
    bool gone;
    struct err err; /* code 0: none */
};

static void on_gone(void *context, const struct err *err)
{
    struct heard *heard = context;
    heard->gone = true;
    if (err)
        heard->err = *err;
}

static void on_nothing(void *context)
{
    fail_msg("there is no supervisor");
}

static const struct supervisor_events EVENTS = {
    .alive = on_nothing, .changed = on_nothing, .gone = on_gone};

static char *in_scratch(const char *name)
{
    return mem_printf("%s/%s", directory, name);
}

/* Writes a program to be used instead of trainyard-step. */
static char *write_step(const char *script)
{
    char *path = in_scratch("step");
    _cleanup_free_ char *text = mem_printf("#!/bin/sh\ncd %s\n%s\n", directory, script);
    assert_int_equal(file_replace(path, text, strlen(text), 0700, NULL), 0);
    return path;
}

static void run_loop_until(struct loop *loop, const bool *is_over)
{
    while (!*is_over) {
        turn(loop);
        poll(NULL, 0, 1);
    }
}

static struct heard start_supervisor(const char *step_path)
{
    struct err err = ERR_INIT;
    struct heard heard = {0};
    struct loop *loop;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct supervisor_link *link = supervisor_link_new(loop, directory, step_path, &EVENTS, &heard);
    supervisor_link_start(link);
    assert_true(supervisor_link_is_busy(link));
    run_loop_until(loop, &heard.gone);
    assert_false(supervisor_link_is_busy(link));
    supervisor_link_free(link);
    loop_free(loop);
    return heard;
}

static void failed_start_is_reported(void **state)
{
    struct heard heard = start_supervisor("/nowhere/step");
    assert_non_null(strstr(heard.err.message, "/nowhere/step"));
    _cleanup_free_ char *complaining = write_step("echo first; echo no network >&2; exit 1");
    heard = start_supervisor(complaining);
    assert_string_equal(heard.err.message, "cannot start the pod's supervisor: no network");
    _cleanup_free_ char *dying = write_step("kill -9 $$");
    heard = start_supervisor(dying);
    assert_string_equal(heard.err.message,
                        "cannot start the pod's supervisor: it ended without a message");
    _cleanup_free_ char *quick = write_step("exit 0");
    heard = start_supervisor(quick); /* the supervisor ends before it can be observed */
    assert_int_equal(heard.err.code, 0);
    _cleanup_free_ char *told =
        write_step("test \"$#\" = 2 && test \"$1\" = pod && test \"$2\" = $PWD");
    assert_int_equal(start_supervisor(told).err.code, 0);
}

/* ---- freed before it ended */

struct plug {
    struct loop_work work;
    int fd;
};

static void block_pool_thread(struct loop_work *work)
{
    char byte;
    assert_int_equal(read(CONTAINER_OF(work, struct plug, work)->fd, &byte, 1), 0);
}

static void ignore_done(struct loop_work *work)
{
}

/* The pool has one thread here, so a start that is queued after the blocking task has not begun. */
static void canceled_start_does_not_begin(void **state)
{
    /* A start opens this file first. */
    _cleanup_free_ char *step = write_step("exit 0"), *log = in_scratch("supervisor.log");
    unlink(log);
    struct heard heard = {0};
    struct err err = ERR_INIT;
    struct loop *loop;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(loop_new(&loop, &err), 0);
    struct plug plug = {.work = {.work = block_pool_thread, .done = ignore_done}, .fd = fds[0]};
    loop_work_start(loop, &plug.work);
    struct supervisor_link *link = supervisor_link_new(loop, directory, step, &EVENTS, &heard);
    supervisor_link_start(link);
    turn(loop);
    supervisor_link_free(link);
    close(fds[1]);
    loop_free(loop);
    close(fds[0]);
    assert_false(heard.gone);
    assert_false(file_exists(log));
}

static void wait_for_file(const char *name, struct loop *loop)
{
    _cleanup_free_ char *path = in_scratch(name);
    while (!file_exists(path)) {
        if (loop)
            turn(loop);
        poll(NULL, 0, 1);
    }
}

static void link_may_be_freed_during_the_start(void **state)
{
    _cleanup_free_ char *step = write_step("touch here; until test -e go; do sleep 0.01; done\n"
                                           "touch over"),
                        *go = in_scratch("go");
    struct heard heard = {0};
    struct err err = ERR_INIT;
    struct loop *loop;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct supervisor_link *link = supervisor_link_new(loop, directory, step, &EVENTS, &heard);
    supervisor_link_start(link);
    wait_for_file("here", loop);
    turn(loop);
    supervisor_link_free(link);
    loop_free(loop);
    assert_false(heard.gone);
    assert_int_equal(file_replace(go, "", 0, 0600, NULL), 0);
    wait_for_file("over", NULL);
}

/* ---- a supervisor of an earlier control process */

/* Holds the lock of the pod's directory, like a supervisor, until it is killed. */
static pid_t start_lock_holder(const char *lock)
{
    int line[2];
    char byte;
    assert_int_equal(pipe(line), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fd;
        alarm(120);
        if (process_lock_take(lock, &fd, NULL) < 0 || write(line[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(line[0], &byte, 1), 1);
    close(line[0]);
    close(line[1]);
    return child;
}

/* Otherwise the files of a deleted pod would be removed while the pod still runs. */
static void supervisor_is_not_missing_without_descriptors(void **state)
{
    _cleanup_free_ char *lock = in_scratch("lock");
    struct heard heard = {0};
    struct err err = ERR_INIT;
    struct rlimit before;
    struct loop *loop;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct supervisor_link *link = supervisor_link_new(loop, directory, "step", &EVENTS, &heard);
    assert_int_equal(supervisor_link_attach(link, NULL), -ERR_NOT_FOUND);
    assert_int_equal(node_pod_end(directory, false, 0, NULL), 0);
    pid_t holder = start_lock_holder(lock);
    int next = dup(0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int spare = 0; spare < 2; spare++) {
        const struct rlimit few = {.rlim_cur = (rlim_t)(next + spare), .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        int attached = supervisor_link_attach(link, NULL);
        int ended = node_pod_end(directory, false, 0, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(attached, -ERR_IO);
        assert_int_equal(ended, -ERR_IO);
        assert_non_null(strstr(err.message, "Too many open files"));
    }
    assert_int_equal(supervisor_link_attach(link, NULL), 0);
    assert_int_equal(supervisor_link_pid(link), holder);
    kill(holder, SIGKILL);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    run_loop_until(loop, &heard.gone);
    assert_int_equal(supervisor_link_attach(link, NULL), -ERR_NOT_FOUND);
    supervisor_link_free(link);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_start_is_reported),
        cmocka_unit_test(canceled_start_does_not_begin),
        cmocka_unit_test(link_may_be_freed_during_the_start),
        cmocka_unit_test(supervisor_is_not_missing_without_descriptors),
    };
    setenv("UV_THREADPOOL_SIZE", "1", 1);
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
