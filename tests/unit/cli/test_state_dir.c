/* Tests the state directory: its path, its permissions, and the server that runs in it. */
#include "cli/trainyard/state_dir.h"

#include "base/cleanup.h"
#include "base/system/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct err err;

static void path_comes_from_option_or_environment(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir dir;
    assert_int_equal(state_dir_resolve(arena, "/a/b//", &dir, &err), 0);
    assert_string_equal(dir.path, "/a/b");
    assert_string_equal(dir.kubeconfig, "/a/b/kubeconfig");

    setenv("XDG_STATE_HOME", "/x", 1);
    assert_int_equal(state_dir_resolve(arena, NULL, &dir, &err), 0);
    assert_string_equal(dir.path, "/x/trainyard");
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "/h", 1);
    assert_int_equal(state_dir_resolve(arena, "", &dir, &err), 0);
    assert_string_equal(dir.path, "/h/.local/state/trainyard");
    unsetenv("HOME");
    assert_int_equal(state_dir_resolve(arena, NULL, &dir, &err), -ERR_USAGE);
    assert_non_null(strstr(err.message, "--state"));

    assert_int_equal(state_dir_resolve(arena, "here", &dir, &err), 0);
    assert_int_equal(dir.path[0], '/');
}

static void state_directory_allows_one_server(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char root[] = "/tmp/trainyard-state.XXXXXX";
    struct state_dir dir;
    struct state_server server;
    struct stat info;
    int lock = -1, second = -1;
    assert_non_null(mkdtemp(root));
    assert_int_equal(
        state_dir_resolve(arena, arena_printf(arena, "%s/deep/state", root), &dir, &err), 0);
    assert_int_equal(state_dir_server(arena, &dir, &server, &err), 0);
    assert_false(server.running);
    assert_int_equal(state_dir_make(&dir, &err), 0);
    assert_int_equal(stat(dir.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);

    assert_int_equal(state_dir_lock(&dir, &lock, &err), 0);
    assert_int_equal(state_dir_lock(&dir, &second, &err), -ERR_EXISTS);
    /* The server runs, but has not written its address yet. */
    dir.server_wait_ms = 0;
    assert_int_equal(state_dir_server(arena, &dir, &server, &err), -ERR_UNAVAILABLE);
    server =
        (struct state_server){.pid = getpid(), .port = 6443, .kubeconfig = "/k", .version = "1"};
    assert_int_equal(state_dir_write_server(&dir, &server, &err), 0);
    server = (struct state_server){0};
    assert_int_equal(state_dir_server(arena, &dir, &server, &err), 0);
    assert_true(server.running);
    assert_int_equal(server.pid, getpid());
    assert_int_equal(server.port, 6443);
    assert_string_equal(server.kubeconfig, "/k");

    /* The server died: its file still exists, but its lock does not. */
    close(lock);
    assert_int_equal(state_dir_server(arena, &dir, &server, &err), 0);
    assert_false(server.running);
    assert_int_equal(state_dir_lock(&dir, &lock, &err), 0);
    assert_false(file_exists(dir.server));
    close(lock);
    assert_int_equal(file_remove_tree(root, &err), 0);
}

/* While no server runs, the process that restarts it holds the lock. */
static void pending_restart_is_reported(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char root[] = "/tmp/trainyard-state.XXXXXX";
    struct state_dir dir;
    struct state_server server;
    struct state_restarts restarts = {.count = 2,
                                      .time = "2026-01-02T03:04:05Z",
                                      .cause = "signal 11 (SIGSEGV)",
                                      .waiting = true};
    int lock = -1;
    assert_non_null(mkdtemp(root));
    assert_int_equal(state_dir_resolve(arena, root, &dir, &err), 0);
    dir.server_wait_ms = 0;
    assert_int_equal(state_dir_make(&dir, &err), 0);
    assert_int_equal(state_dir_lock(&dir, &lock, &err), 0);
    assert_int_equal(state_dir_write_restarts(&dir, &restarts, &err), 0);
    assert_int_equal(state_dir_server(arena, &dir, &server, &err), 0);
    assert_false(server.running);
    assert_true(server.restarts.waiting);
    assert_int_equal(server.restarts.count, 2);
    assert_string_equal(server.restarts.time, restarts.time);
    assert_string_equal(server.restarts.cause, restarts.cause);
    /* A command that needs the server waits for it, and reports why it does not start. */
    assert_int_equal(state_dir_await_server(arena, &dir, &server, &err), -ERR_UNAVAILABLE);
    assert_non_null(strstr(err.message, "crashed with signal 11 (SIGSEGV) and waits"));

    /* The process that would have restarted the server is gone, so no restart is pending. */
    close(lock);
    assert_int_equal(state_dir_server(arena, &dir, &server, &err), 0);
    assert_false(server.restarts.waiting);

    restarts.waiting = false;
    restarts.gave_up = true;
    assert_int_equal(state_dir_write_restarts(&dir, &restarts, &err), 0);
    assert_int_equal(state_dir_server(arena, &dir, &server, &err), 0);
    assert_true(server.restarts.gave_up);
    assert_int_equal(state_dir_lock(&dir, &lock, &err), 0); /* a new start */
    assert_false(file_exists(dir.restarts));
    close(lock);
    assert_int_equal(file_remove_tree(root, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_comes_from_option_or_environment),
        cmocka_unit_test(state_directory_allows_one_server),
        cmocka_unit_test(pending_restart_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
