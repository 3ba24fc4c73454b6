/* Tests a command in a pod as seen by the control process. The test plays the supervisor: it
 * rejects, sends garbage, stays silent, or closes the connection. There may also be no free
 * descriptors. */
#include "loop_turns.h"
#include "node_test.h"
#include "scratch_directory.h"

#include "base/cleanup.h"
#include "net/stream/stream.h"
#include "node/pod/exec.h"
#include "node/pod/record/request.h"
#include "node/process/fd_message.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct world {
    struct loop *loop;
    int listener, supervisor;          /* the supervisor's sockets */
    char request[POD_REQUEST_MAX];     /* the received request */
    int lines[FD_MESSAGE_FDS_MAX];     /* the descriptors received with the request */
    struct pod_exec *exec;             /* NULL: freed */
    struct engine_pod_streams streams; /* valid after the start */
    int starts, ends, exit_code, closed;
    char message[ERR_MESSAGE_MAX];
    struct err err;
    char heard[64];
};

/* ---- the client ------------------------------------------------------------------------------ */

static void on_started(void *context, const struct engine_pod_streams *lines)
{
    struct world *world = context;
    world->starts++;
    world->streams = *lines;
}

static void on_ended(void *context, int exit_code, const char *message, const struct err *err)
{
    struct world *world = context;
    world->ends++;
    world->exec = NULL;
    world->exit_code = exit_code;
    str_copy(world->message, sizeof(world->message), message);
    if (err)
        world->err = *err;
}

static const struct engine_pod_command_handler HANDLER = {on_started, on_ended};

static void on_open(void *context)
{
}

static void on_data(void *context, const char *data, size_t size)
{
    struct world *world = context;
    strncat(world->heard, data, size < 32 ? size : 32);
}

static void on_end(void *context, const struct err *err)
{
}

static void on_closed(void *context)
{
    ((struct world *)context)->closed++;
}

static const struct stream_handler LINE = {on_open, on_data, on_open, on_end, on_closed};

static void start_command(struct world *world, const struct engine_pod_command *command)
{
    world->exec = pod_exec_new(world->loop, directory, command, &HANDLER, world);
    assert_int_equal(world->starts + world->ends, 0); /* never from within the call */
}

/* ---- the supervisor -------------------------------------------------------------------------- */

static int setup(void **context)
{
    struct world *world = mem_zalloc(sizeof(*world));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/" POD_SOCKET, directory);
    *world = (struct world){.supervisor = -1};
    for (int i = 0; i < FD_MESSAGE_FDS_MAX; i++)
        world->lines[i] = -1;
    unlink(address.sun_path);
    world->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(world->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(world->listener, 4), 0);
    assert_int_equal(loop_new(&world->loop, NULL), 0);
    *context = world;
    return 0;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int teardown(void **context)
{
    struct world *world = *context;
    struct stream *const streams[] = {world->streams.in, world->streams.out, world->streams.err};
    if (world->exec)
        pod_exec_close(world->exec);
    for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
        if (streams[i]) {
            stream_start(streams[i], &LINE, world);
            stream_close(streams[i]);
        }
    turn(world->loop);
    close_fd(&world->listener);
    close_fd(&world->supervisor);
    for (int i = 0; i < FD_MESSAGE_FDS_MAX; i++)
        close_fd(&world->lines[i]);
    loop_free(world->loop);
    free(world);
    return 0;
}

static void take_request(struct world *world)
{
    world->supervisor = accept4(world->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(world->supervisor >= 0);
    ssize_t size = fd_message_receive(world->supervisor, world->request, sizeof(world->request) - 1,
                                      world->lines);
    assert_true(size > 0);
    world->request[size] = '\0';
}

static void send_answer(struct world *world, const char *text, int fd)
{
    assert_int_equal(fd_message_send(world->supervisor, text, strlen(text), &fd, fd >= 0, NULL), 0);
    turn(world->loop);
}

static int count_lines(const struct world *world)
{
    int count = 0;
    while (count < FD_MESSAGE_FDS_MAX && world->lines[count] >= 0)
        count++;
    return count;
}

static const char *const WORDS[] = {"cat", "a file", NULL};
static const struct engine_pod_command COMMAND = {
    .container = "main", .arguments = WORDS, .in = true, .out = true, .err = true};

/* ---- tests ----------------------------------------------------------------------------------- */

static void command_is_started_and_ended(void **context)
{
    struct world *world = *context;
    start_command(world, &COMMAND);
    take_request(world);
    assert_string_equal(world->request, "kind exec\ncontainer main\nstdin 1\nstdout 1\nstderr 1\n"
                                        "terminal 0\narg cat\narg a file\n");
    assert_int_equal(count_lines(world), 3);
    send_answer(world, "kind started\n", -1);
    assert_int_equal(world->starts, 1);
    stream_start(world->streams.out, &LINE, world);
    assert_int_equal(write(world->lines[1], "said", 4), 4);
    stream_start(world->streams.in, &LINE, world);
    stream_write(world->streams.in, "heard", 5);
    turn(world->loop);
    assert_string_equal(world->heard, "said");
    char text[8] = "";
    assert_int_equal(read(world->lines[0], text, sizeof(text)), 5);
    assert_string_equal(text, "heard");
    send_answer(world, "kind ended\nexit-code 7\nmessage \n", -1);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->exit_code, 7);
    assert_int_equal(world->err.code, 0);
}

static void only_requested_streams_are_opened(void **context)
{
    struct world *world = *context;
    start_command(
        world, &(struct engine_pod_command){.container = "main", .arguments = WORDS, .err = true});
    take_request(world);
    assert_int_equal(count_lines(world), 1);
    send_answer(world, "kind started\n", -1);
    assert_null(world->streams.in);
    assert_null(world->streams.out);
    assert_non_null(world->streams.err);
}

static void terminal_is_resized(void **context)
{
    struct world *world = *context;
    start_command(world,
                  &(struct engine_pod_command){
                      .container = "main", .arguments = WORDS, .in = true, .terminal = true});
    take_request(world);
    assert_int_equal(count_lines(world), 0);
    pod_exec_resize(world->exec, 80, 25); /* too early, so it is ignored */
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    send_answer(world, "kind started\n", master);
    assert_non_null(world->streams.in);
    pod_exec_resize(world->exec, 77, 33);
    struct winsize size;
    assert_int_equal(ioctl(master, TIOCGWINSZ, &size), 0);
    assert_int_equal(size.ws_col, 77);
    assert_int_equal(size.ws_row, 33);
    close(master);
}

/* The loop cannot watch this file, so the command is ended and its start is never reported. */
static void unwatchable_pipe_ends_the_command(void **context)
{
    struct world *world = *context;
    for (int terminal = 0; terminal < 2; terminal++) {
        FILE *file = tmpfile();
        world->ends = 0;
        /* Attach has further pipes, which are closed again. */
        start_command(world, &(struct engine_pod_command){.container = "main",
                                                          .arguments = terminal ? WORDS : NULL,
                                                          .in = true,
                                                          .out = true,
                                                          .terminal = terminal});
        take_request(world);
        send_answer(world, "kind started\n", fileno(file));
        fclose(file);
        assert_int_equal(world->starts, 0);
        assert_int_equal(world->ends, 1);
        assert_string_equal(world->err.message, "cannot watch a pipe: Operation not permitted");
        char byte;
        /* The connection is closed, so the supervisor ends the command. */
        assert_int_equal(recv(world->supervisor, &byte, 1, MSG_DONTWAIT), 0);
        close_fd(&world->supervisor);
        for (int i = 0; i < FD_MESSAGE_FDS_MAX; i++)
            close_fd(&world->lines[i]);
    }
}

static void rejection_is_reported(void **context)
{
    struct world *world = *context;
    struct pod_answer refusal = {.kind = POD_REFUSED};
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_ANSWER_MAX);
    err_set(&refusal.why, ERR_NOT_FOUND, "the pod has no container 'x'");
    pod_answer_write(&refusal, &text);
    start_command(world, &COMMAND);
    take_request(world);
    send_answer(world, text.data, -1);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->err.code, ERR_NOT_FOUND);
    assert_string_equal(world->err.message, "the pod has no container 'x'");
}

static void malformed_answer_is_an_error(void **context)
{
    struct world *world = *context;
    start_command(world, &COMMAND);
    take_request(world);
    send_answer(world, "kind dance\n", -1);
    assert_int_equal(world->ends, 1);
    assert_string_equal(world->err.message, "line 1: unknown kind 'dance'");
}

static void lost_supervisor_is_reported(void **context)
{
    struct world *world = *context;
    start_command(world, &COMMAND);
    take_request(world);
    send_answer(world, "kind started\n", -1);
    close_fd(&world->supervisor);
    turn(world->loop);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->err.code, ERR_UNAVAILABLE);
    assert_string_equal(world->err.message, "the pod has ended");
}

static void missing_pod_is_reported(void **context)
{
    struct world *world = *context;
    close_fd(&world->listener);
    start_command(world, &COMMAND);
    turn(world->loop);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->err.code, ERR_UNAVAILABLE);
    assert_string_equal(world->err.message, "the pod is not running");
    world->ends = 0;
    world->exec = pod_exec_new(world->loop, NULL, &COMMAND, &HANDLER, world);
    turn(world->loop);
    assert_int_equal(world->ends, 1);
}

static void too_long_command_is_rejected(void **context)
{
    struct world *world = *context;
    _cleanup_free_ char *word = mem_zalloc(POD_REQUEST_MAX + 1);
    memset(word, 'x', POD_REQUEST_MAX);
    start_command(world, &(struct engine_pod_command){
                             .container = "main", .arguments = (const char *const[]){word, NULL}});
    turn(world->loop);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->err.code, ERR_TOO_LARGE);
    assert_string_equal(world->err.message,
                        "the command is too long: its words have more than 64 KiB");
}

/* With any number of free descriptors the error says "Too many open files", and no descriptor
 * leaks. */
static void missing_descriptors_are_reported(void **context)
{
    struct world *world = *context;
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int next = dup(0);
    close(next);
    for (int spare = 0; spare < 6; spare++) {
        few = (struct rlimit){.rlim_cur = (rlim_t)(next + spare), .rlim_max = before.rlim_max};
        world->ends = 0;
        world->err = (struct err){0};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        world->exec = pod_exec_new(world->loop, directory, &COMMAND, &HANDLER, world);
        turn(world->loop);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(world->ends, 1);
        if (!strstr(world->err.message, "Too many open files"))
            fail_msg("%d left: '%s'", spare, world->err.message);
        int again = dup(0);
        close(again);
        assert_int_equal(again, next);
        /* Connections that had reached the socket are closed. */
        int flags = fcntl(world->listener, F_GETFL);
        fcntl(world->listener, F_SETFL, flags | O_NONBLOCK);
        for (int fd; (fd = accept4(world->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;)
            close(fd);
        fcntl(world->listener, F_SETFL, flags);
    }
}

static void closed_command_closes_the_connection(void **context)
{
    struct world *world = *context;
    start_command(world, &COMMAND);
    take_request(world);
    pod_exec_close(TAKE(world->exec));
    turn(world->loop);
    char byte;
    assert_int_equal(recv(world->supervisor, &byte, 1, MSG_DONTWAIT), 0);
    assert_int_equal(world->starts + world->ends, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(command_is_started_and_ended),
        TEST(only_requested_streams_are_opened),
        TEST(terminal_is_resized),
        TEST(unwatchable_pipe_ends_the_command),
        TEST(rejection_is_reported),
        TEST(malformed_answer_is_an_error),
        TEST(lost_supervisor_is_reported),
        TEST(missing_pod_is_reported),
        TEST(too_long_command_is_rejected),
        TEST(missing_descriptors_are_reported),
        TEST(closed_command_closes_the_connection),
#undef TEST
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
