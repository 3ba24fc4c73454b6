/* Tests commands inside a running sandbox, as the supervisor starts them. The test plays the
 * supervisor of one container.
 *
 *   test_step_exec TRAINYARD-STEP [user]
 *
 * As root it tests containers of root, and with "user" those of a user without any privileges. It
 * enters the cluster's namespaces first and executes itself there ("inside"), like a supervisor,
 * because the permission to inspect a process depends on the namespaces in which a program was
 * started. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/limits/cgroup_base.h"
#include "node/network/namespaces.h"
#include "node/pod/record/request.h"
#include "node/process/fd_message.h"
#include "node/step/exec.h"
#include "node/step/server.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { NOBODY = 65534, DEADLINE_MS = 30 * 1000, KEPT = 4096, NOW_MS = 1000000 };

static char scratch[] = "/tmp/trainyard-exec.XXXXXX";
static char *step_path;
static struct arena *arena;
static struct pod_spec spec;
static struct container_state state;
static struct container_run run;

/* ---- a supervisor ---------------------------------------------------------------------------- */

static void wait_readable(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, DEADLINE_MS) != 1)
        fail_msg("nothing comes");
}

static void start_container(const char *script)
{
    state = (struct container_state){0};
    container_run_init(&run, scratch, &spec, &spec.containers[0], &state, NULL);
    spec.containers[0].arguments.items[2] = script;
    struct err err = ERR_INIT;
    if (container_run_start(&run, 1, &err) < 0)
        fail_msg("%s", err.message);
    while (!run.is_up) {
        wait_readable(run.report_fd);
        container_run_read(&run);
        if (run.has_report && run.report.kind == STEP_FAILED)
            fail_msg("%s", run.report.message);
    }
}

static void end_container(void)
{
    int status;
    pid_t pid;
    kill(run.pid, SIGKILL);
    do { /* the container ends after its commands, which are children of this process, too */
        pid = waitpid(-1, &status, 0);
        assert_true(pid > 0);
    } while (pid != run.pid);
    container_run_reaped(&run, status, 2);
}

static struct step_exec_end await_end(struct step_exec *exec)
{
    struct step_exec_end end = {.exit_code = -1};
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    for (int waited = 0; exec->pid; waited++) {
        step_exec_read(exec);
        int status;
        pid_t pid = waitpid(exec->pid, &status, WNOHANG);
        if (pid > 0)
            assert_true(step_exec_reaped(exec, pid, status, &end));
        else if (waited > DEADLINE_MS)
            fail_msg("the command does not end");
        else
            nanosleep(&moment, NULL);
    }
    return end;
}

/* Runs a command, and checks its captured output. */
static struct step_exec_end run_captured(const char *const *arguments, const char *output)
{
    struct step_exec exec = STEP_EXEC_INIT;
    const struct step_exec_options options = {
        .arguments = arguments, .fds = {-1, -1, -1}, .captured = KEPT};
    struct err err = ERR_INIT;
    if (step_exec_start(&exec, &run, &options, &err) < 0)
        fail_msg("%s", err.message);
    struct step_exec_end end = await_end(&exec);
    if (output && !str_eq(exec.output.data, output))
        fail_msg("expected '%s', got '%s' %s", output, exec.output.data, end.message);
    step_exec_release(&exec);
    return end;
}

static struct step_exec_end run_shell(const char *script, const char *output)
{
    return run_captured((const char *const[]){"sh", "-c", script, NULL}, output);
}

static int setup(void **context)
{
    start_container("grep -E '^(Cap|NoNew|Uid|Gid|Groups)' /proc/self/status > /tmp/own;"
                    "exec sleep 1000");
    run_shell("until pgrep -x sleep >/dev/null; do :; done", "");
    return 0;
}

static int teardown(void **context)
{
    if (run.pid)
        end_container();
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void command_runs_in_the_sandbox(void **context)
{
    run_shell("echo $WORD; pwd; hostname; cat /proc/1/comm",
              "of the container\n/var\npod\ntrainyard-init\n");
    const mode_t before = umask(077); /* like the supervisor's umask */
    run_shell("umask", "0022\n");
    umask(before);
    /* No descriptor of the supervisor is left open. */
    run_shell("ls /proc/self/fd", "0\n1\n2\n3\n"); /* 3 is the directory that ls has open */
    run_shell("cat /proc/self/fdinfo/0 >/dev/null; read -r word; echo \"$?$word\"", "1\n");
    assert_int_equal(run_shell("test -e /tmp/own && echo x > /tmp/made", "").exit_code, 0);
    assert_int_equal(run_shell("cat /tmp/made", "x\n").exit_code, 0);
    assert_int_not_equal(run_shell("echo x > /usr/made 2>/dev/null", NULL).exit_code, 0);
}

static void command_has_the_privileges_of_the_container(void **context)
{
    run_shell("grep -E '^(Cap|NoNew|Uid|Gid|Groups)' /proc/self/status | diff /tmp/own -", "");
    run_shell("readlink /proc/self/ns/user /proc/self/ns/mnt /proc/self/ns/pid /proc/self/ns/net "
              "/proc/self/ns/uts > /tmp/1;"
              "pid=$(pgrep -x sleep); for n in user mnt pid net uts; do readlink /proc/$pid/ns/$n; "
              "done | diff /tmp/1 -",
              "");
}

static void exit_codes_and_signals_are_reported(void **context)
{
    assert_int_equal(run_shell("exit 7", "").exit_code, 7);
    struct step_exec_end end = run_shell("kill -TERM $$", "");
    assert_int_equal(end.exit_code, 128 + SIGTERM);
    assert_int_equal(end.signal, SIGTERM);
    assert_string_equal(end.message, "");
}

static void unusable_programs_are_reported(void **context)
{
    struct step_exec_end end = run_captured((const char *const[]){"no-such-program", NULL}, "");
    assert_int_equal(end.exit_code, STEP_EXEC_NOT_FOUND);
    assert_non_null(
        strstr(end.message, "cannot run 'no-such-program': executable file not found in $PATH (/"));
    end = run_captured((const char *const[]){"/etc/passwd", NULL}, "");
    assert_int_equal(end.exit_code, STEP_EXEC_NOT_RUNNABLE);
    assert_non_null(
        strstr(end.message, "cannot run '/etc/passwd': Permission denied: it is not executable"));
    run_shell("ln -s /gone /tmp/link", "");
    end = run_captured((const char *const[]){"/tmp/link", NULL}, "");
    assert_int_equal(end.exit_code, STEP_EXEC_NOT_FOUND);
    assert_non_null(strstr(end.message, "it is a link to '/gone', which the pod does not see"));
    /* A missing directory is reported differently from a missing program. */
    const char *directory = spec.containers[0].directory;
    spec.containers[0].directory = "/nowhere";
    end = run_captured((const char *const[]){"true", NULL}, "");
    spec.containers[0].directory = directory;
    assert_int_equal(end.exit_code, STEP_EXEC_NOT_RUNNABLE);
    assert_string_equal(end.message,
                        "cannot change to working directory '/nowhere': No such file or directory");
}

static void captured_output_is_limited(void **context)
{
    struct step_exec exec = STEP_EXEC_INIT;
    const struct step_exec_options options = {
        .arguments = (const char *const[]){"sh", "-c", "yes | head -c 300000; echo end >&2", NULL},
        .fds = {-1, -1, -1},
        .captured = 1000};
    assert_int_equal(step_exec_start(&exec, &run, &options, NULL), 0);
    assert_int_equal(await_end(&exec).exit_code, 0);
    assert_int_equal(exec.output.size, 1000);
    step_exec_release(&exec);
}

static void background_processes_are_not_waited_for(void **context)
{
    assert_int_equal(run_shell("sleep 1001 & echo done", "done\n").exit_code, 0);
    /* The background process still runs in the container. */
    run_shell("until [ $(pgrep -xc sleep) = 2 ]; do :; done", "");
}

static void command_uses_the_given_pipes(void **context)
{
    int in[2], out[2], errors[2];
    assert_int_equal(pipe(in) | pipe(out) | pipe(errors), 0);
    struct step_exec exec = STEP_EXEC_INIT;
    const struct step_exec_options options = {
        .arguments = (const char *const[]){"sh", "-c", "cat; echo problem > /dev/stderr", NULL},
        .fds = {in[0], out[1], errors[1]}};
    assert_int_equal(step_exec_start(&exec, &run, &options, NULL), 0);
    close(in[0]);
    close(out[1]);
    close(errors[1]);
    assert_int_equal(write(in[1], "hello", 5), 5);
    close(in[1]);
    wait_readable(exec.report_fd);
    assert_int_equal(step_exec_has_started(&exec, NULL), 1);
    assert_int_equal(await_end(&exec).exit_code, 0);
    char text[64] = "";
    assert_int_equal(read(out[0], text, sizeof(text)), 5);
    assert_memory_equal(text, "hello", 5);
    assert_int_equal(read(errors[0], text, sizeof(text)), 8);
    assert_memory_equal(text, "problem\n", 8);
    assert_int_equal(read(out[0], text, sizeof(text)), 0);
    close(out[0]);
    close(errors[0]);
    step_exec_release(&exec);
}

/* Reads the terminal until `word` has arrived. */
static void expect_output(int master, const char *word)
{
    static char seen[KEPT];
    size_t used = 0;
    do {
        wait_readable(master);
        ssize_t got = read(master, seen + used, sizeof(seen) - 1 - used);
        if (got <= 0)
            fail_msg("the terminal ended before '%s': '%.*s'", word, (int)used, seen);
        used += (size_t)got;
        seen[used] = '\0';
    } while (!strstr(seen, word));
}

static void terminal_is_in_the_sandbox(void **context)
{
    struct step_exec exec = STEP_EXEC_INIT;
    const struct step_exec_options options = {
        .arguments =
            (const char *const[]){"sh", "-c",
                                  "read go; tty; stty size; echo $TERM; cat; echo after $?", NULL},
        .terminal = true};
    assert_int_equal(step_exec_start(&exec, &run, &options, NULL), 0);
    struct err err = ERR_INIT;
    int started;
    do {
        wait_readable(exec.report_fd);
        started = step_exec_has_started(&exec, &err);
    } while (started == 0);
    if (started < 0)
        fail_msg("%s", err.message);
    int master = TAKE_FD(exec.terminal_fd);
    assert_true(master >= 0);
    const struct winsize size = {.ws_row = 33, .ws_col = 77};
    assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
    assert_int_equal(write(master, "\n", 1), 1);
    expect_output(master, "/dev/pts/0\r\n33 77\r\nxterm\r\n");
    assert_int_equal(write(master, "x\n", 2), 2);
    expect_output(master, "x\r\nx\r\n"); /* the echo of the terminal, then the output of cat */
    assert_int_equal(write(master, "\003", 1),
                     1); /* Ctrl-C goes to the foreground: cat and its shell */
    struct step_exec_end end = await_end(&exec);
    assert_int_equal(end.exit_code, 128 + SIGINT);
    close(master);
    step_exec_release(&exec);
}

static void closed_terminal_ends_the_session(void **context)
{
    struct step_exec exec = STEP_EXEC_INIT;
    const struct step_exec_options options = {
        .arguments = (const char *const[]){"sleep", "1002", NULL}, .terminal = true};
    assert_int_equal(step_exec_start(&exec, &run, &options, NULL), 0);
    int started;
    do {
        wait_readable(exec.report_fd);
        started = step_exec_has_started(&exec, NULL);
    } while (started == 0);
    close(TAKE_FD(exec.terminal_fd));
    assert_int_equal(await_end(&exec).signal, SIGHUP);
    step_exec_release(&exec);
}

static void command_ends_with_the_container(void **context)
{
    struct step_exec exec = STEP_EXEC_INIT;
    const struct step_exec_options options = {
        .arguments = (const char *const[]){"sleep", "1003", NULL}, .fds = {-1, -1, -1}};
    assert_int_equal(step_exec_start(&exec, &run, &options, NULL), 0);
    wait_readable(exec.report_fd);
    kill(run.pid, SIGKILL);
    assert_int_equal(await_end(&exec).signal, SIGKILL);
    end_container();
    struct err err = ERR_INIT;
    assert_true(step_exec_start(&exec, &run, &options, &err) < 0);
    assert_string_equal(err.message, "container 'main' is not running");
    step_exec_release(&exec);
    start_container("exec sleep 1000"); /* the supervisor's own namespace is unchanged */
    run_shell("cat /proc/1/comm", "trainyard-init\n");
}

static void command_can_be_killed_early(void **context)
{
    struct step_exec exec = STEP_EXEC_INIT;
    const struct step_exec_options options = {
        .arguments = (const char *const[]){"sh", "-c", "sleep 1004; true", NULL},
        .fds = {-1, -1, -1}};
    assert_int_equal(step_exec_start(&exec, &run, &options, NULL), 0);
    step_exec_signal(&exec, SIGTERM);
    assert_int_equal(await_end(&exec).signal, SIGTERM);
    step_exec_release(&exec);
}

static void command_runs_as_the_user_of_the_container(void **context)
{
    end_container();
    spec.containers[0].user = spec.containers[0].group = 1234;
    start_container("exec sleep 1000");
    run_shell("id -u; id -g; echo said > /dev/stdout", "1234\n1234\nsaid\n");
    spec.containers[0].user = spec.containers[0].group = -1;
}

/* Starts a command while this process may open only `count` descriptors. Returns false if the
 * command could not be started. */
static bool run_with_descriptors(rlim_t count, struct step_exec_end *ret)
{
    struct rlimit usual, few;
    struct step_exec exec = STEP_EXEC_INIT;
    const struct step_exec_options options = {.arguments = (const char *const[]){"true", NULL},
                                              .fds = {-1, -1, -1}};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    few = (struct rlimit){.rlim_cur = count, .rlim_max = usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    bool started = step_exec_start(&exec, &run, &options, NULL) == 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    if (started)
        *ret = await_end(&exec);
    step_exec_release(&exec);
    return started;
}

static void failure_by_too_few_descriptors_is_reported(void **context)
{
    struct step_exec_end end = {.exit_code = -1};
    int reported = 0;
    for (rlim_t count = 0; end.exit_code != 0; count++) {
        assert_true(count < 64);
        if (!run_with_descriptors(count, &end) || end.exit_code == 0)
            continue;
        assert_string_not_equal(end.message, "");
        reported++;
    }
    assert_true(reported > 0);
}

/* ---- control groups -------------------------------------------------------------------------- */

static struct cgroup_base *groups;

static const char *state_directory(void)
{
    return arena_printf(arena, "%s/state", scratch);
}

static int remove_groups(void **context)
{
    (void)teardown(context);
    spec.groups = (struct cgroup_trees){0};
    groups = cgroup_base_free(groups);
    return cgroup_base_destroy(state_directory(), NULL);
}

/* The command counts as a process of the container, and has the container's limits. */
static void command_is_in_the_control_groups(void **context)
{
    groups = cgroup_base_open(state_directory(), !spec.nested);
    if (groups->trees.count == 0)
        skip();
    end_container();
    cgroup_trees_below(arena, &groups->trees, "pod", &spec.groups);
    assert_int_equal(cgroup_make(&spec.groups, NULL, NULL), 0);
    start_container("exec sleep 1000");
    struct step_exec exec = STEP_EXEC_INIT;
    const struct step_exec_options options = {
        .arguments = (const char *const[]){"sleep", "1005", NULL}, .fds = {-1, -1, -1}};
    assert_int_equal(step_exec_start(&exec, &run, &options, NULL), 0);
    wait_readable(exec.report_fd);
    assert_int_equal(step_exec_has_started(&exec, NULL), 1);
    for (size_t i = 0; i < spec.groups.count; i++) {
        _cleanup_free_ char *path =
            mem_printf("%s/container-main/cgroup.procs", spec.groups.items[i].directory);
        _cleanup_free_ char *line = mem_printf("\n%d\n", (int)exec.pid);
        _cleanup_buf_ struct buf members;
        buf_init(&members, KEPT);
        buf_append_char(&members, '\n'); /* so that each line is between two line breaks */
        assert_int_equal(file_read(path, &members, NULL), 0);
        if (!strstr(members.data, line))
            fail_msg("%d is not in '%s'", (int)exec.pid, path);
    }
    step_exec_signal(&exec, SIGKILL);
    await_end(&exec);
    step_exec_release(&exec);
}

/* ---- a client that disconnects --------------------------------------------------------------- */

/* Starts a command through the supervisor's socket, and waits until it has printed "up
 * ". */
static int call_command(struct step_server *server, const char *script, int *ret_output)
{
    struct err err = ERR_INIT;
    if (step_server_open(server, scratch, &run, 1, &err) < 0)
        fail_msg("%s", err.message);
    int out[2], fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/" POD_SOCKET, scratch);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    char *request = arena_printf(
        arena, "kind exec\ncontainer main\nstdout 1\narg sh\narg -c\narg %s\n", script);
    assert_int_equal(fd_message_send(fd, request, strlen(request), &out[1], 1, NULL), 0);
    close(out[1]);
    step_server_serve(server, NOW_MS);
    expect_output(out[0], "up\n");
    *ret_output = out[0];
    return fd;
}

static int await_command(struct step_server *server)
{
    pid_t pid;
    int status = 0;
    assert_int_equal(step_server_children(server, NULL, &pid), 1);
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    for (int waited = 0; waitpid(pid, &status, WNOHANG) == 0; waited++) {
        if (waited > DEADLINE_MS)
            fail_msg("the command does not end");
        nanosleep(&moment, NULL);
    }
    assert_true(step_server_reaped(server, pid, status));
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void disconnected_client_ends_its_command(void **context)
{
    struct step_server server;
    int output, fd = call_command(&server, "echo up; sleep 1006; true", &output);
    assert_true(step_server_wake(&server) == INT64_MAX);
    close(fd);
    step_server_serve(&server, NOW_MS);
    assert_int_equal(await_command(&server), SIGHUP);
    char byte;
    assert_int_equal(read(output, &byte, 1), 0); /* its children have ended, too */
    step_server_serve(&server, NOW_MS);
    assert_int_equal(server.call_count, 0);
    assert_true(step_server_wake(&server) == INT64_MAX);
    step_server_close(&server);
    close(output);
}

static void command_that_ignores_sighup_is_killed(void **context)
{
    struct step_server server;
    int output,
        fd = call_command(&server, "trap 'echo heard' HUP; echo up; while :; do sleep 0.01; done",
                          &output);
    close(fd);
    step_server_serve(&server, NOW_MS);
    expect_output(output, "heard\n");
    int64_t wake = step_server_wake(&server);
    assert_true(wake > NOW_MS && wake < INT64_MAX);
    step_server_serve(&server, wake - 1); /* its time is not over yet */
    assert_true(step_server_wake(&server) == wake);
    step_server_serve(&server, wake);
    assert_int_equal(await_command(&server), SIGKILL);
    step_server_close(&server);
    close(output);
}

/* ---- setup ----------------------------------------------------------------------------------- */

/* Copies the program, because an ordinary user may not be able to read the build directory. */
static int become_ordinary_user(void)
{
    _cleanup_buf_ struct buf program;
    buf_init(&program, 64 * 1024 * 1024);
    char *copy = mem_printf("%s/trainyard-step", scratch);
    if (file_read(step_path, &program, NULL) < 0 ||
        file_write_atomic(copy, program.data, program.size, 0755, NULL) < 0 ||
        chown(scratch, NOBODY, NOBODY) < 0 || setgroups(0, NULL) < 0 ||
        setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0 ||
        prctl(PR_SET_DUMPABLE, 1) < 0)
        return -1;
    step_path = copy;
    return 0;
}

static int enter_namespaces(struct err *err)
{
    static const char *const names[] = {"node", NULL};
    const char *const directories[] = {"logs", "messages", "root", "shm", "state"};
    struct node_namespaces *space;
    for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
        _cleanup_free_ char *path = mem_printf("%s/%s", scratch, directories[i]);
        if (file_make_dirs(path, 0700, err) < 0)
            return -1;
    }
    const struct node_options options = {
        .state_dir = mem_printf("%s/state", scratch), .node_names = names, .step_path = step_path};
    return node_namespaces_enter(&options, &space, err);
}

static int make_spec(bool nested, struct err *err)
{
    arena = arena_new();
    spec = (struct pod_spec){
        .hostname = "pod", .nested = nested, .shm = arena_printf(arena, "%s/shm", scratch)};
    struct pod_container *container = pod_spec_add_container(arena, &spec, "main");
    const char *const words[] = {"/bin/sh", "-c", ""};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        pod_strings_add(arena, &container->arguments, words[i]);
    pod_strings_add(arena, &container->environment, "PATH=/usr/bin:/bin:/usr/sbin:/sbin");
    pod_strings_add(arena, &container->environment, "WORD=of the container");
    container->directory = "/var";
    return step_network_enter(&spec, err);
}

static int run_inside(const char *directory, bool nested)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(command_runs_in_the_sandbox),
        TEST(command_has_the_privileges_of_the_container),
        TEST(exit_codes_and_signals_are_reported),
        TEST(unusable_programs_are_reported),
        TEST(captured_output_is_limited),
        TEST(background_processes_are_not_waited_for),
        TEST(command_uses_the_given_pipes),
        TEST(terminal_is_in_the_sandbox),
        TEST(closed_terminal_ends_the_session),
        TEST(command_ends_with_the_container),
        TEST(command_can_be_killed_early),
        TEST(command_runs_as_the_user_of_the_container),
        TEST(failure_by_too_few_descriptors_is_reported),
        TEST(disconnected_client_ends_its_command),
        TEST(command_that_ignores_sighup_is_killed),
        cmocka_unit_test_setup_teardown(command_is_in_the_control_groups, setup, remove_groups),
#undef TEST
    };
    struct err err = ERR_INIT;
    str_copy(scratch, sizeof(scratch), directory);
    if (make_spec(nested, &err) < 0)
        return fprintf(stderr, "%s\n", err.message), 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

static void execute_inside(bool ordinary)
{
    struct err err = ERR_INIT;
    if (ordinary && become_ordinary_user() < 0)
        fprintf(stderr, "cannot become an ordinary user\n");
    else if (enter_namespaces(&err) < 0)
        fprintf(stderr, "%s\n", err.message);
    else
        execl("/proc/self/exe", "test_step_exec", "inside", scratch, ordinary ? "nested" : NULL,
              (char *)NULL);
    _exit(1);
}

int main(int argc, char **argv)
{
    if (argc > 2 && str_eq(argv[1], "inside"))
        return run_inside(argv[2], argc > 3);
    if (argc < 2 || !mkdtemp(scratch))
        return 2;
    step_path = argv[1];
    signal(SIGINT, SIG_IGN); /* as if started in the background of a shell */
    pid_t pid = fork(); /* a child, since a process cannot leave the namespaces that it enters */
    if (pid == 0)
        execute_inside(argc > 2);
    int status;
    waitpid(pid, &status, 0);
    struct err err = ERR_INIT;
    _cleanup_free_ char *state_dir = mem_printf("%s/state", scratch);
    if (node_namespaces_destroy(state_dir, &err) < 0)
        return fprintf(stderr, "%s\n", err.message), 1;
    (void)file_remove_tree(scratch, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
