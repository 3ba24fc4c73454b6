/* Tests that a failed start of a supervisor reports why, and that a canceled start does no harm. */
#include "node_test.h"

#include "loop_turns.h"
#include "node/pod/supervisor.h"
#include "scratch_directory.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_start_is_reported),
        cmocka_unit_test(canceled_start_does_not_begin),
        cmocka_unit_test(link_may_be_freed_during_the_start),
    };
    setenv("UV_THREADPOOL_SIZE", "1", 1);
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
