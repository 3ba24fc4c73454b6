/* Tests the supervisor's socket and the listeners of a container: bad requests, slow and absent
 * listeners, too many calls, no free descriptors, and which CPU time belongs to which run. No
 * sandbox is needed for that. test_step_exec.c tests commands that run. */
#include "node_test.h"
#include "scratch_directory.h"

#include "base/cleanup.h"
#include "node/pod/cpu_time.h"
#include "node/pod/record/request.h"
#include "node/process/fd_message.h"
#include "node/step/server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { NOW = 1000000, PIPE_SIZE = 64 * 1024, LARGE = 300 * 1024 };

static struct arena *arena;
static struct pod_spec spec;
static struct container_state state;
static struct container_run run;
static struct step_server server;

static int setup(void **context)
{
    arena = arena_new();
    spec = (struct pod_spec){0};
    pod_spec_add_container(arena, &spec, "main");
    state = (struct container_state){.end.exit_code = 7};
    container_run_init(&run, directory, &spec, &spec.containers[0], &state, NULL);
    run.pid = getpid(); /* any process will do, since it is not touched here */
    run.is_up = true;
    struct err err = ERR_INIT;
    if (step_server_open(&server, directory, &run, 1, &err) < 0)
        fail_msg("%s", err.message);
    return 0;
}

static int teardown(void **context)
{
    step_server_close(&server);
    arena_free(arena);
    return 0;
}

/* ---- a client -------------------------------------------------------------------------------- */

static int make_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    return fd;
}

static void connect_socket(int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/" POD_SOCKET, directory);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static int connect_to_server(void)
{
    int fd = make_socket();
    connect_socket(fd);
    return fd;
}

static void send_text(int fd, const char *text, int line)
{
    assert_int_equal(fd_message_send(fd, text, strlen(text), &line, line >= 0, NULL), 0);
}

/* Makes a call and lets the server handle its request. `line` is sent with it and closed here. */
static int send_request(const char *text, int line)
{
    int fd = connect_to_server();
    send_text(fd, text, line);
    if (line >= 0)
        close(line);
    step_server_serve(&server, NOW);
    return fd;
}

static bool receive_answer(int fd, struct pod_answer *ret, int *ret_fd)
{
    char text[POD_ANSWER_MAX + 1];
    int fds[FD_MESSAGE_FDS_MAX];
    ssize_t size = fd_message_receive(fd, text, sizeof(text) - 1, fds);
    if (size <= 0)
        return false;
    text[size] = '\0';
    assert_int_equal(pod_answer_parse(text, (size_t)size, ret, NULL), 0);
    if (ret_fd)
        *ret_fd = fds[0];
    else
        assert_int_equal(fds[0], -1);
    return true;
}

static void expect_closed(int fd)
{
    char byte;
    assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
    close(fd);
}

static void expect_rejection(const char *request, int line, const char *words)
{
    struct pod_answer answer;
    int fd = send_request(request, line);
    assert_true(receive_answer(fd, &answer, NULL));
    assert_int_equal(answer.kind, POD_REFUSED);
    assert_string_equal(answer.why.message, words);
    expect_closed(fd);
    assert_int_equal(server.call_count, 0);
}

static int attach(int *ret_read_end)
{
    struct pod_answer answer;
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    int fd = send_request("kind attach\ncontainer main\nstdout 1\n", fds[1]);
    assert_true(receive_answer(fd, &answer, NULL));
    assert_int_equal(answer.kind, POD_STARTED);
    *ret_read_end = fds[0];
    return fd;
}

/* Reads all bytes in the pipe, which must be `letter`. Returns their number. */
static size_t read_all(int fd, char letter)
{
    static char piece[PIPE_SIZE];
    size_t total = 0;
    for (ssize_t got; (got = read(fd, piece, sizeof(piece))) > 0; total += (size_t)got)
        for (ssize_t i = 0; i < got; i++)
            assert_int_equal(piece[i], letter);
    return total;
}

static void write_output(char letter, size_t size)
{
    char *text = malloc(size);
    memset(text, letter, size);
    step_taps_write(run.taps[0], text, size);
    free(text);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void invalid_requests_are_rejected(void **context)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    expect_rejection("kind dance\n", -1, "line 1: unknown kind 'dance'");
    expect_rejection("kind exec\nstdout 1\n", -1, "no container is named");
    expect_rejection("kind exec\ncontainer main\n", -1, "no command is given");
    expect_rejection("kind exec\ncontainer other\narg true\n", -1,
                     "the pod has no container 'other'");
    expect_rejection("kind attach\ncontainer main\nstdout 1\n", -1,
                     "0 descriptors were received, but 1 were expected");
    expect_rejection("kind exec\ncontainer main\narg sh\nterminal 1\n", null,
                     "1 descriptors were received, but 0 were expected");
    run.is_up = false;
    expect_rejection("kind attach\ncontainer main\n", -1, "container 'main' is not running");
    run.pid = 0;
    expect_rejection("kind exec\ncontainer main\narg true\n", -1,
                     "container 'main' is not running");
    _cleanup_free_ char *large = malloc(POD_REQUEST_MAX + 2);
    memset(large, 'x', POD_REQUEST_MAX + 1);
    large[POD_REQUEST_MAX + 1] = '\0';
    expect_rejection(large, -1, "the request is too long, or no descriptors are left for it");
}

static void client_without_a_request_is_removed(void **context)
{
    int fd = connect_to_server();
    step_server_serve(&server, NOW);
    assert_int_equal(server.call_count, 1);
    close(fd);
    step_server_serve(&server, NOW);
    assert_int_equal(server.call_count, 0);
}

static void only_the_owner_may_connect(void **context)
{
    struct stat info;
    _cleanup_free_ char *path = mem_printf("%s/" POD_SOCKET, directory);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void clients_over_the_limit_wait(void **context)
{
    struct pollfd polls[STEP_SERVER_POLLS_MAX];
    int fds[STEP_CALLS_MAX];
    for (size_t i = 0; i < STEP_CALLS_MAX; i++) {
        fds[i] = connect_to_server();
        step_server_serve(&server, NOW);
    }
    assert_int_equal(server.call_count, STEP_CALLS_MAX);
    int late = connect_to_server();
    send_text(late, "kind exec\ncontainer other\narg true\n", -1);
    step_server_serve(&server, NOW);
    struct pod_answer answer;
    assert_false(receive_answer(late, &answer, NULL));
    assert_int_equal(server.call_count, STEP_CALLS_MAX);
    assert_int_equal(step_server_poll(&server, polls), STEP_CALLS_MAX * 2);
    close(fds[0]);
    step_server_serve(&server, NOW); /* one client disconnects */
    assert_int_equal(step_server_poll(&server, polls), 1 + (STEP_CALLS_MAX - 1) * 2);
    step_server_serve(&server, NOW); /* the next call is accepted */
    assert_true(receive_answer(late, &answer, NULL));
    assert_int_equal(answer.kind, POD_REFUSED);
    close(late);
    for (size_t i = 1; i < STEP_CALLS_MAX; i++)
        close(fds[i]);
    step_server_serve(&server, NOW);
    assert_int_equal(server.call_count, 0);
}

/* A call for which no descriptor is free must not busy-loop the server. It is accepted once one is
 * free. */
static void server_waits_for_free_descriptors(void **context)
{
    struct pollfd polls[STEP_SERVER_POLLS_MAX];
    struct rlimit before;
    struct pod_answer answer;
    int fd = make_socket();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    connect_socket(fd);
    send_text(fd, "kind exec\ncontainer other\narg true\n", -1);
    step_server_serve(&server, NOW);
    nfds_t polled = step_server_poll(&server, polls);
    int64_t wake = step_server_wake(&server);
    step_server_serve(&server, wake - 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(polled, 0);
    assert_true(wake > NOW && wake < NOW + 10 * 1000);
    assert_int_equal(server.call_count, 0);
    step_server_serve(&server, wake);
    assert_true(receive_answer(fd, &answer, NULL));
    assert_int_equal(answer.kind, POD_REFUSED);
    assert_int_equal(step_server_poll(&server, polls), 1);
    assert_true(step_server_wake(&server) == INT64_MAX);
    close(fd);
}

/* ---- listeners ------------------------------------------------------------------------------- */

static void listener_gets_all_output_and_the_exit_code(void **context)
{
    struct pod_answer answer;
    int out, fd = attach(&out);
    write_output('a', 100);
    assert_int_equal(read_all(out, 'a'), 100);
    step_server_run_ended(&server, &run);
    assert_true(receive_answer(fd, &answer, NULL));
    assert_int_equal(answer.kind, POD_ENDED);
    assert_int_equal(answer.exit_code, 7);
    expect_closed(fd);
    assert_null(run.taps[0]); /* the next run's output does not go to this listener */
    step_server_serve(&server, NOW);
    assert_int_equal(server.call_count, 0);
    close(out);
}

static void slow_listener_pauses_the_output(void **context)
{
    struct pollfd polls[STEP_SERVER_POLLS_MAX];
    int out, fd = attach(&out), output[2];
    assert_int_equal(pipe2(output, O_CLOEXEC), 0);
    run.output_fds[0] = output[0];
    assert_int_equal(container_run_output(&run, 0), output[0]);
    write_output('b', LARGE);
    assert_int_equal(container_run_output(&run, 0), -1);
    nfds_t count = step_server_poll(&server, polls);
    assert_int_equal(polls[count - 1].events, POLLOUT);
    size_t heard = 0;
    while (container_run_output(&run, 0) < 0) {
        heard += read_all(out, 'b');
        step_server_serve(&server, NOW);
    }
    assert_int_equal(heard + read_all(out, 'b'), LARGE);
    assert_int_equal(step_server_poll(&server, polls), count - 1);
    run.output_fds[0] = -1;
    close(output[0]);
    close(output[1]);
    close(fd);
    close(out);
}

static void exit_code_follows_the_last_output(void **context)
{
    struct pod_answer answer;
    int out, fd = attach(&out);
    write_output('c', LARGE);
    step_server_run_ended(&server, &run);
    state.end.exit_code = 0; /* the container is started again */
    size_t heard = 0;
    for (int i = 0; i < LARGE / PIPE_SIZE; i++) {
        assert_false(receive_answer(fd, &answer, NULL));
        heard += read_all(out, 'c');
        step_server_serve(&server, NOW);
    }
    assert_int_equal(heard + read_all(out, 'c'), LARGE);
    step_server_serve(&server, NOW);
    assert_true(receive_answer(fd, &answer, NULL));
    assert_int_equal(answer.kind, POD_ENDED);
    assert_int_equal(answer.exit_code, 7);
    close(fd);
    close(out);
}

static void disconnected_listener_is_removed(void **context)
{
    int out, fd = attach(&out);
    write_output('d', LARGE);
    close(out); /* the listener closes its pipe, but not its call */
    step_server_serve(&server, NOW);
    assert_false(step_taps_are_full(run.taps[0]));
    close(fd);
    fd = attach(&out);
    write_output('e', LARGE);
    close(fd); /* the listener closes its call, but not its pipe */
    step_server_serve(&server, NOW);
    assert_false(step_taps_are_full(run.taps[0]));
    assert_null(run.taps[0]);
    assert_int_equal(server.call_count, 0);
    close(out);
}

static void listeners_get_the_same_output(void **context)
{
    int quick, slow, first = attach(&quick), second = attach(&slow);
    write_output('f', LARGE);
    size_t heard = 0;
    while (heard < LARGE) {
        heard += read_all(quick, 'f');
        step_server_serve(&server, NOW);
    }
    assert_true(step_taps_are_full(run.taps[0]));
    for (heard = 0; step_taps_are_full(run.taps[0]); step_server_serve(&server, NOW))
        heard += read_all(slow, 'f');
    assert_int_equal(heard + read_all(slow, 'f'), LARGE);
    close(first);
    close(second);
    close(quick);
    close(slow);
}

/* A listener that takes too little loses no bytes in between; its pipe ends instead. */
static void stalled_listener_is_dropped(void **context)
{
    int out, fd = attach(&out);
    for (int i = 0; i < 5; i++)
        write_output('g', LARGE);
    assert_false(step_taps_are_full(run.taps[0]));
    assert_int_equal(read_all(out, 'g'), PIPE_SIZE);
    char byte;
    assert_int_equal(read(out, &byte, 1), 0); /* the end of the pipe, not EAGAIN */
    close(fd);
    close(out);
}

static void input_pipe_is_passed_to_the_client(void **context)
{
    struct pod_answer answer;
    int input[2], given = -1;
    char text[8] = "";
    assert_int_equal(pipe2(input, O_CLOEXEC | O_NONBLOCK), 0);
    run.input_fd = input[1];
    int fd = send_request("kind attach\ncontainer main\nstdin 1\n", -1);
    assert_true(receive_answer(fd, &answer, &given));
    assert_int_equal(write(given, "x", 1), 1);
    assert_int_equal(read(input[0], text, sizeof(text)), 1);
    close(given);
    close(fd);
    assert_true(read(input[0], text, sizeof(text)) < 0); /* the pipe stays open for other clients */

    spec.containers[0].stdin_once = true;
    fd = send_request("kind attach\ncontainer main\nstdin 1\n", -1);
    assert_true(receive_answer(fd, &answer, &given));
    assert_int_equal(run.input_fd, -1);
    close(given);
    /* With stdinOnce the input belongs to one client. */
    assert_int_equal(read(input[0], text, sizeof(text)), 0);
    close(input[0]);
    close(fd);
}

/* ---- CPU time of commands -------------------------------------------------------------------- */

static void cpu_time_counts_for_the_current_run(void **context)
{
    const struct rusage used = {.ru_utime.tv_sec = 2, .ru_stime.tv_usec = 5};
    container_run_add_cpu_time(&run, &used);
    assert_int_equal(pod_cpu_time_load(directory, "main", 0), 2000005000);
    container_run_add_cpu_time(&run, &used);
    assert_int_equal(pod_cpu_time_load(directory, "main", 0), 4000010000);
    run.pid = 0; /* the container has ended, and will restart */
    state.restarts++;
    container_run_add_cpu_time(&run, &used);
    assert_int_equal(pod_cpu_time_load(directory, "main", 1), 0);
}

static void write_counter(const char *name, const char *text)
{
    _cleanup_free_ char *path = mem_printf("%s/container-main/%s", directory, name);
    assert_int_equal(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

static void cpu_time_of_a_control_group_is_not_stored(void **context)
{
    _cleanup_free_ char *group = mem_printf("%s/container-main", directory);
    assert_int_equal(mkdir(group, 0700), 0);
    write_counter("cpu.stat", "usage_usec 7\n");
    write_counter("memory.current", "4096\n");
    write_counter("memory.stat", "inactive_file 0\n");
    spec.groups = (struct cgroup_trees){
        .items = {{.directory = directory, .controllers = CGROUP_MEMORY, .unified = true}},
        .count = 1};
    state.restarts = 2;
    container_run_add_cpu_time(&run, &(struct rusage){.ru_utime.tv_sec = 2});
    assert_int_equal(pod_cpu_time_load(directory, "main", 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(invalid_requests_are_rejected),       TEST(client_without_a_request_is_removed),
        TEST(only_the_owner_may_connect),          TEST(clients_over_the_limit_wait),
        TEST(server_waits_for_free_descriptors),   TEST(listener_gets_all_output_and_the_exit_code),
        TEST(slow_listener_pauses_the_output),     TEST(exit_code_follows_the_last_output),
        TEST(disconnected_listener_is_removed),    TEST(listeners_get_the_same_output),
        TEST(stalled_listener_is_dropped),         TEST(input_pipe_is_passed_to_the_client),
        TEST(cpu_time_counts_for_the_current_run), TEST(cpu_time_of_a_control_group_is_not_stored),
#undef TEST
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
