/* Runs commands in pods for the control process; see pod/exec.h. */
#include "node/pod/exec.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/stream/pipe_stream.h"
#include "node/pod/record/request.h"
#include "node/process/fd_message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

enum { IN, OUT, ERRORS, STREAMS };

struct pod_exec {
    struct loop *loop;
    bool attach, terminal;
    const struct engine_pod_command_handler *handler;
    void *context;
    int fd;                /* the supervisor's socket, or -1 */
    uv_poll_t *poll;       /* freed in libuv's close callback */
    int own_ends[STREAMS]; /* this process's ends of the pipes until they become streams; else -1 */
    int terminal_fd;       /* the terminal's master, for changes of its size; or -1 */
    bool started;
    struct loop_task task; /* reports `err` after pod_exec_new() has returned */
    struct err err;        /* why pod_exec_new() could not send the request */
};

static void on_pod_exec_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

void pod_exec_close(struct pod_exec *self)
{
    loop_defer_cancel(self->loop, &self->task);
    if (self->poll) {
        uv_poll_stop(self->poll);
        uv_close((uv_handle_t *)TAKE(self->poll), on_pod_exec_poll_closed);
    }
    const int fds[] = {self->fd, self->terminal_fd, self->own_ends[IN], self->own_ends[OUT],
                       self->own_ends[ERRORS]};
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(self);
}

static void pod_exec_end(struct pod_exec *self, int exit_code, const char *message,
                         const struct err *err)
{
    const struct engine_pod_command_handler *handler = self->handler;
    void *context = self->context;
    struct err copy = err ? *err : ERR_INIT;
    pod_exec_close(self);
    handler->ended(context, exit_code, message, err ? &copy : NULL);
}

static void on_pod_exec_failed(struct loop_task *task)
{
    struct pod_exec *self = CONTAINER_OF(task, struct pod_exec, task);
    pod_exec_end(self, 0, "", &self->err);
}

/* ---- answers --------------------------------------------------------------------------------- */

static int make_stream(struct pod_exec *self, int fd, bool both_ways, struct stream **ret,
                       struct err *err)
{
    return fd < 0 ? 0 : pipe_stream_new(self->loop, fd, both_ways, ret, err);
}

static int make_streams(struct pod_exec *self, int fd, struct engine_pod_streams *ret,
                        struct err *err)
{
    /* For attach and for a terminal, the supervisor sends the descriptor for the input. */
    bool is_from_supervisor = self->attach || self->terminal;
    int in = is_from_supervisor ? fd : TAKE_FD(self->own_ends[IN]);
    if (!is_from_supervisor && fd >= 0)
        close(fd);
    int result = make_stream(self, in, is_from_supervisor && !self->attach, &ret->in, err);
    if (result == 0)
        result = make_stream(self, TAKE_FD(self->own_ends[OUT]), false, &ret->out, err);
    if (result == 0)
        result = make_stream(self, TAKE_FD(self->own_ends[ERRORS]), false, &ret->err, err);
    return result;
}

/* Reports that the command runs. `fd` came with the answer: the terminal's master, the input of an
 * attached container, or -1. If a stream cannot be made, reports the error and closes the
 * connection. The supervisor then ends the command of an exec. */
static void tell_started(struct pod_exec *self, int fd)
{
    struct engine_pod_streams streams = {0};
    struct err err = ERR_INIT;
    self->started = true;
    if (fd >= 0 && self->terminal)
        self->terminal_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (make_streams(self, fd, &streams, &err) == 0) {
        self->handler->started(self->context, &streams);
        return;
    }
    struct stream *const made[] = {streams.in, streams.out, streams.err};
    for (size_t i = 0; i < ARRAY_SIZE(made); i++)
        if (made[i])
            stream_close(made[i]);
    pod_exec_end(self, 0, "", &err);
}

static void take_answer(struct pod_exec *self, char *text, size_t size, int fd)
{
    struct pod_answer answer;
    struct err err = ERR_INIT;
    if (pod_answer_parse(text, size, &answer, &err) < 0) {
        if (fd >= 0)
            close(fd);
        pod_exec_end(self, 0, "", &err);
    } else if (answer.kind == POD_STARTED && !self->started) {
        tell_started(self, fd);
    } else if (answer.kind == POD_REFUSED) {
        pod_exec_end(self, 0, "", &answer.why);
    } else if (answer.kind == POD_ENDED) {
        pod_exec_end(self, answer.exit_code, answer.message, NULL);
    }
}

static void on_pod_exec_poll(uv_poll_t *poll, int status, int events)
{
    struct pod_exec *self = poll->data;
    char text[POD_ANSWER_MAX + 1];
    int fds[FD_MESSAGE_FDS_MAX];
    ssize_t size = fd_message_receive(self->fd, text, sizeof(text) - 1, fds);
    for (int i = 1; i < FD_MESSAGE_FDS_MAX; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (size == FD_MESSAGE_NONE)
        return;
    if (size > 0) {
        text[size] = '\0';
        take_answer(self, text, (size_t)size, fds[0]);
        return;
    }
    struct err err;
    err_set(&err, ERR_UNAVAILABLE, "the pod has ended");
    pod_exec_end(self, 0, "", &err);
}

/* ---- the request ----------------------------------------------------------------------------- */

/* Makes a pipe for one stream. One end stays in this process. The other end is returned and will be
 * sent to the supervisor. */
static int make_stream_pipe(struct pod_exec *self, int stream, int *ret_peer_end, struct err *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_set_errno(err, errno, "cannot make a pipe");
    self->own_ends[stream] = fds[stream == IN ? 1 : 0];
    *ret_peer_end = fds[stream == IN ? 0 : 1];
    return 0;
}

static int send_request(struct pod_exec *self, const struct engine_pod_command *command,
                        const int *fds, size_t count, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_REQUEST_MAX);
    struct pod_request request = {.kind = self->attach ? POD_ATTACH : POD_EXEC,
                                  .container = command->container,
                                  .in = command->in,
                                  .out = command->out,
                                  .err = command->err,
                                  .terminal = command->terminal && !self->attach};
    for (size_t i = 0; command->arguments && command->arguments[i]; i++)
        pod_strings_add(arena, &request.arguments, command->arguments[i]);
    int result = pod_request_write(&request, &text, err);
    return result < 0 ? result : fd_message_send(self->fd, text.data, text.size, fds, count, err);
}

static int pod_exec_send_request(struct pod_exec *self, const struct engine_pod_command *command,
                                 struct err *err)
{
    const bool wanted[STREAMS] = {command->in && !self->attach, command->out, command->err};
    int peer_ends[STREAMS], result = 0;
    size_t count = 0;
    for (int i = 0; i < STREAMS && result == 0; i++) {
        if (!wanted[i] || (self->terminal && !self->attach))
            continue;
        result = make_stream_pipe(self, i, &peer_ends[count], err);
        count += result == 0;
    }
    if (result == 0)
        result = send_request(self, command, peer_ends, count, err);
    for (size_t i = 0; i < count; i++)
        close(peer_ends[i]);
    return result;
}

static int call_supervisor(struct pod_exec *self, const char *directory, struct err *err)
{
    _cleanup_fd_ int directory_fd =
        directory ? open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" POD_SOCKET,
             directory_fd);
    self->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->fd < 0)
        return err_set_errno(err, errno, "cannot make a socket");
    if (directory_fd < 0 || connect(self->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return err_set(err, ERR_UNAVAILABLE, "the pod is not running");
    self->poll = mem_zalloc(sizeof(*self->poll));
    int result = uv_poll_init(loop_uv(self->loop), self->poll, self->fd);
    if (result < 0) {
        free(TAKE(self->poll));
        return err_set_errno(err, -result, "cannot watch a socket");
    }
    self->poll->data = self;
    uv_poll_start(self->poll, UV_READABLE, on_pod_exec_poll);
    return 0;
}

struct pod_exec *pod_exec_new(struct loop *loop, const char *directory,
                              const struct engine_pod_command *command,
                              const struct engine_pod_command_handler *handler, void *context)
{
    struct pod_exec *self = mem_zalloc(sizeof(*self));
    *self = (struct pod_exec){.loop = loop,
                              .attach = !command->arguments,
                              .terminal = command->terminal,
                              .handler = handler,
                              .context = context,
                              .fd = -1,
                              .own_ends = {-1, -1, -1},
                              .terminal_fd = -1,
                              .task.callback = on_pod_exec_failed};
    if (call_supervisor(self, directory, &self->err) < 0 ||
        pod_exec_send_request(self, command, &self->err) < 0)
        loop_defer(loop, &self->task);
    return self;
}

void pod_exec_resize(struct pod_exec *self, int columns, int rows)
{
    const struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
    if (self->terminal_fd >= 0)
        (void)ioctl(self->terminal_fd, TIOCSWINSZ, &size);
}
