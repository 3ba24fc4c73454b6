/* Implements the server of the supervisor's socket; see step/server.h. A call is one connection
 * with its request and its answers. When the client of an exec command disconnects, the command
 * gets SIGHUP, and after a grace period SIGKILL. */
#include "node/step/server.h"

#include "node/pod/record/request.h"
#include "node/process/fd_message.h"
#include "node/step/exec.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/state_machine.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BACKLOG = 64,
    ABANDONED_GRACE_MS = 5 * 1000, /* between SIGHUP and SIGKILL */
    DRAIN_MS = 5 * 1000,           /* for attached clients to read the last output of the pod */
    ACCEPT_AGAIN_MS = 200,         /* pause after no descriptor was free for a connection */
};

enum call_state {
    CALL_CONNECTED, /* the request has not come yet */
    CALL_STARTING,  /* exec: it is not known yet whether the command can run */
    CALL_RUNNING,   /* exec: the command runs, and POD_STARTED was sent */
    CALL_ATTACHED,  /* attach: the client receives the container's output */
    CALL_DRAINING,  /* attach: the container has ended; the client still reads the output that is
                       kept for it */
    CALL_ABANDONED, /* exec: the client has disconnected; its command is being ended */
    CALL_OVER,      /* to be freed */
};

static const struct state_row CALL_ROWS[] = {
    [CALL_CONNECTED] = {"connected",
                        STATE_BIT(CALL_STARTING) | STATE_BIT(CALL_ATTACHED) | STATE_BIT(CALL_OVER)},
    [CALL_STARTING] = {"starting",
                       STATE_BIT(CALL_RUNNING) | STATE_BIT(CALL_ABANDONED) | STATE_BIT(CALL_OVER)},
    [CALL_RUNNING] = {"running", STATE_BIT(CALL_ABANDONED) | STATE_BIT(CALL_OVER)},
    [CALL_ATTACHED] = {"attached", STATE_BIT(CALL_DRAINING) | STATE_BIT(CALL_OVER)},
    [CALL_DRAINING] = {"draining", STATE_BIT(CALL_OVER)},
    [CALL_ABANDONED] = {"abandoned", STATE_BIT(CALL_OVER)},
    [CALL_OVER] = {"over", 0, true},
};

struct step_call {
    struct step_call *next;
    struct state_machine machine; /* an enum call_state */
    int fd;                       /* the connection to the client; -1 if it is closed */
    struct container_run *run;
    struct step_exec exec;   /* pid 0 if no command runs for this call */
    int64_t kill_at_ms;      /* in CALL_ABANDONED: the time of SIGKILL; 0 after it was sent */
    struct step_tap taps[2]; /* attach: stdout, stderr */
    int exit_code; /* in CALL_DRAINING: the exit code of the run that the client was attached to.
                      The container may have started again */
};

static const char *call_invariant(const struct state_machine *machine)
{
    const struct step_call *call = CONTAINER_OF(machine, struct step_call, machine);
    enum call_state state = (enum call_state)machine->state;
    bool has_command = state == CALL_STARTING || state == CALL_RUNNING || state == CALL_ABANDONED;
    bool has_client = state != CALL_ABANDONED && state != CALL_OVER;
    if (has_command != (call->exec.pid != 0))
        return has_command ? "the call has no command" : "the command still runs";
    if (has_client != (call->fd >= 0))
        return has_client ? "the connection is closed" : "the connection is still open";
    if (state != CALL_CONNECTED && state != CALL_OVER && !call->run)
        return "the call has no container";
    return NULL;
}

static enum call_state call_state(const struct step_call *call)
{
    return (enum call_state)call->machine.state;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void call_answer(struct step_call *call, const struct pod_answer *what, int fd)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_ANSWER_MAX);
    pod_answer_write(what, &text);
    /* A failure is ignored: if the client is gone, listen_for_end() finds the end of its
     * connection. */
    if (call->fd >= 0)
        (void)fd_message_send(call->fd, text.data, text.size, &fd, fd >= 0, NULL);
}

/* Closes the connection and ends the call. The call must have no command any more: call->exec.pid
 * must be 0. */
static void call_finish(struct step_call *call)
{
    if (call->fd >= 0)
        close(TAKE_FD(call->fd));
    if (call_state(call) != CALL_OVER)
        state_machine_move(&call->machine, CALL_OVER);
}

static void call_refuse(struct step_call *call, const struct err *why)
{
    const struct pod_answer refusal = {.kind = POD_REFUSED, .why = *why};
    call_answer(call, &refusal, -1);
    call_finish(call);
}

static void call_report_end(struct step_call *call, int exit_code, const char *message)
{
    struct pod_answer ended = {.kind = POD_ENDED, .exit_code = exit_code};
    str_copy(ended.message, sizeof(ended.message), message);
    call_answer(call, &ended, -1);
    call_finish(call);
}

/* ---- attach ---------------------------------------------------------------------------------- */

static void call_detach_output(struct step_call *call)
{
    for (int i = 0; i < 2; i++) {
        if (call->run)
            step_tap_remove(&call->run->taps[i], &call->taps[i]);
        step_tap_release(&call->taps[i]);
    }
}

static void call_attach(struct step_call *call, const struct pod_request *request, int fds[])
{
    struct container_run *run = call->run;
    if (!run->pid || !run->is_up) {
        struct err err;
        err_set(&err, ERR_UNAVAILABLE, "container '%s' is not running", run->spec->name);
        call_refuse(call, &err);
        return;
    }
    int next = 0;
    const bool wanted[] = {request->out, request->err};
    for (int i = 0; i < 2; i++) {
        step_tap_init(&call->taps[i], wanted[i] ? TAKE_FD(fds[next]) : -1);
        next += wanted[i];
        step_tap_add(&run->taps[i], &call->taps[i]);
    }
    call_answer(call, &(struct pod_answer){.kind = POD_STARTED}, request->in ? run->input_fd : -1);
    state_machine_move(&call->machine, CALL_ATTACHED);
    /* With stdinOnce the input ends when its first client disconnects, so this process must not
     * keep a copy of it open. */
    if (request->in && run->spec->stdin_once && run->input_fd >= 0)
        close(TAKE_FD(run->input_fd));
}

/* Ends the call if all output is in the client's pipes, so that the client gets the exit code after
 * the output. */
static void end_attached(struct step_call *call)
{
    if (step_taps_are_full(&call->taps[0]) || step_taps_are_full(&call->taps[1]))
        return;
    call_detach_output(call);
    call_report_end(call, call->exit_code, "");
}

void step_server_run_ended(struct step_server *server, const struct container_run *run)
{
    for (struct step_call *call = server->calls; call; call = call->next) {
        if (call->run != run || call_state(call) != CALL_ATTACHED)
            continue;
        for (int i = 0; i < 2; i++) { /* the client gets no output of the next run */
            step_tap_remove(&call->run->taps[i], &call->taps[i]);
            step_tap_flush(&call->taps[i]);
        }
        call->exit_code = run->state->end.exit_code;
        state_machine_move(&call->machine, CALL_DRAINING);
        end_attached(call);
    }
}

/* ---- exec ------------------------------------------------------------------------------------ */

static void start_exec(struct step_call *call, const struct pod_request *request, int fds[])
{
    struct err err = ERR_INIT;
    struct step_exec_options options = {
        .arguments = request->arguments.items, .terminal = request->terminal, .fds = {-1, -1, -1}};
    const bool wanted[] = {request->in, request->out, request->err};
    for (int i = 0, next = 0; i < 3 && !request->terminal; i++)
        if (wanted[i])
            options.fds[i] = fds[next++];
    if (step_exec_start(&call->exec, call->run, &options, &err) < 0)
        call_refuse(call, &err);
    else
        state_machine_move(&call->machine, CALL_STARTING);
}

/* Sends POD_STARTED when the command has started. For a command that cannot run, POD_ENDED follows
 * later instead. The terminal of an abandoned command is closed, so that the command gets a hangup.
 */
static void call_check_started(struct step_call *call)
{
    enum call_state state = call_state(call);
    if ((state != CALL_STARTING && state != CALL_ABANDONED) ||
        step_exec_has_started(&call->exec, NULL) <= 0)
        return;
    if (state == CALL_STARTING) {
        call_answer(call, &(struct pod_answer){.kind = POD_STARTED}, call->exec.terminal_fd);
        state_machine_move(&call->machine, CALL_RUNNING);
    }
    if (call->exec.terminal_fd >= 0)
        close(TAKE_FD(call->exec.terminal_fd)); /* the client has the terminal now */
}

static struct step_call *find_call(const struct step_server *server, pid_t pid)
{
    struct step_call *call = server->calls;
    while (call && call->exec.pid != pid)
        call = call->next;
    return call;
}

struct container_run *step_server_run_of(const struct step_server *server, pid_t pid)
{
    const struct step_call *call = find_call(server, pid);
    return call ? call->run : NULL;
}

bool step_server_reaped(struct step_server *server, pid_t pid, int wait_status)
{
    struct step_exec_end end;
    struct step_call *call = find_call(server, pid);
    if (!call)
        return false;
    call_check_started(call); /* the command may have started and ended since the last check */
    step_exec_reaped(&call->exec, pid, wait_status, &end);
    step_exec_release(&call->exec);
    call_report_end(call, end.exit_code, end.message);
    return true;
}

size_t step_server_children(const struct step_server *server, const struct container_run *except,
                            pid_t *ret)
{
    size_t count = 0;
    for (const struct step_call *call = server->calls; call; call = call->next)
        if (call->exec.pid && call->run != except)
            ret[count++] = call->exec.pid;
    return count;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct container_run *find_run(const struct step_server *server, const char *name)
{
    for (size_t i = 0; i < server->run_count; i++)
        if (str_eq(server->runs[i].spec->name, name))
            return &server->runs[i];
    return NULL;
}

static int check_descriptors(const struct pod_request *request, const int fds[], struct err *err)
{
    int expected = request->terminal ? 0 : request->out + request->err;
    if (request->kind == POD_EXEC && !request->terminal)
        expected += request->in;
    int count = 0;
    while (count < FD_MESSAGE_FDS_MAX && fds[count] >= 0)
        count++;
    return count == expected
               ? 0
               : err_set(err, ERR_INVALID, "%d descriptors were received, but %d were expected",
                         count, expected);
}

static void take_request(struct step_server *server, struct step_call *call)
{
    static char text[POD_REQUEST_MAX + 1]; /* one per process; no call is served within another */
    int fds[FD_MESSAGE_FDS_MAX];
    ssize_t size = fd_message_receive(call->fd, text, sizeof(text) - 1, fds);
    if (size == FD_MESSAGE_NONE)
        return;
    struct err err = ERR_INIT;
    struct pod_request request;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    text[size > 0 ? size : 0] = '\0';
    if (size <= 0) {
        err_set(&err, ERR_TOO_LARGE, "the request is too long, or no descriptors are left for it");
        call_refuse(call, &err);
    } else if (pod_request_parse(arena, text, (size_t)size, &request, &err) < 0 ||
               check_descriptors(&request, fds, &err) < 0) {
        call_refuse(call, &err);
    } else if (!(call->run = find_run(server, request.container))) {
        err_set(&err, ERR_NOT_FOUND, "the pod has no container '%s'", request.container);
        call_refuse(call, &err);
    } else if (request.kind == POD_EXEC) {
        start_exec(call, &request, fds);
    } else {
        call_attach(call, &request, fds);
    }
    for (int i = 0; i < FD_MESSAGE_FDS_MAX; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* The client sends nothing after its request, so only the end of the connection matters. */
static void listen_for_end(struct step_call *call, int64_t now_ms)
{
    char ignored[64];
    int fds[FD_MESSAGE_FDS_MAX];
    ssize_t size = fd_message_receive(call->fd, ignored, sizeof(ignored), fds);
    for (int i = 0; i < FD_MESSAGE_FDS_MAX; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (size != FD_MESSAGE_ENDED)
        return;
    call_detach_output(call);
    if (!call->exec.pid) {
        call_finish(call);
        return;
    }
    close(TAKE_FD(call->fd));
    state_machine_move(&call->machine, CALL_ABANDONED);
    step_exec_signal(&call->exec, SIGHUP);
    call->kill_at_ms = now_ms + ABANDONED_GRACE_MS;
}

static void serve_call(struct step_server *server, struct step_call *call, int64_t now_ms)
{
    if (call_state(call) == CALL_CONNECTED)
        take_request(server, call);
    else if (call->fd >= 0)
        listen_for_end(call, now_ms);
    call_check_started(call);
    for (int i = 0; i < 2; i++)
        step_tap_flush(&call->taps[i]);
    if (call_state(call) == CALL_DRAINING)
        end_attached(call);
    if (call->kill_at_ms && call->kill_at_ms <= now_ms) {
        step_exec_signal(&call->exec, SIGKILL);
        call->kill_at_ms = 0;
    }
}

static void free_call(struct step_call *call)
{
    call_detach_output(call);
    step_exec_release(&call->exec);
    call_finish(call);
    state_machine_release(&call->machine);
    free(call);
}

static void accept_calls(struct step_server *server, int64_t now_ms)
{
    /* A clock that was set back must not prolong the pause. */
    if (server->accept_after_ms > now_ms && server->accept_after_ms <= now_ms + ACCEPT_AGAIN_MS)
        return;
    server->accept_after_ms = 0;
    while (server->call_count < STEP_CALLS_MAX) {
        int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            /* Without a pause the waiting connection would wake the supervisor in a busy loop. */
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                server->accept_after_ms = now_ms + ACCEPT_AGAIN_MS;
            return;
        }
        struct step_call *call = mem_zalloc(sizeof(*call));
        *call = (struct step_call){.next = server->calls, .fd = fd, .exec = STEP_EXEC_INIT};
        state_machine_init(&call->machine, "call", CALL_ROWS, (int)ARRAY_SIZE(CALL_ROWS),
                           CALL_CONNECTED);
        state_machine_set_invariant(&call->machine, call_invariant);
        step_tap_init(&call->taps[0], -1);
        step_tap_init(&call->taps[1], -1);
        server->calls = call;
        server->call_count++;
    }
}

void step_server_serve(struct step_server *server, int64_t now_ms)
{
    accept_calls(server, now_ms);
    for (struct step_call **place = &server->calls; *place;) {
        struct step_call *call = *place;
        serve_call(server, call, now_ms);
        if (call_state(call) == CALL_OVER) {
            *place = call->next;
            server->call_count--;
            free_call(call);
        } else {
            place = &call->next;
        }
    }
}

nfds_t step_server_poll(const struct step_server *server, struct pollfd *polls)
{
    nfds_t count = 0;
    if (server->call_count < STEP_CALLS_MAX && !server->accept_after_ms)
        polls[count++] = (struct pollfd){.fd = server->fd, .events = POLLIN};
    for (const struct step_call *call = server->calls; call; call = call->next) {
        polls[count++] = (struct pollfd){.fd = call->fd, .events = POLLIN};
        polls[count++] = (struct pollfd){.fd = call->exec.report_fd, .events = POLLIN};
        for (int i = 0; i < 2; i++)
            if (call->taps[i].fd >= 0 && call->taps[i].kept.size)
                polls[count++] = (struct pollfd){.fd = call->taps[i].fd, .events = POLLOUT};
    }
    return count;
}

int64_t step_server_wake(const struct step_server *server)
{
    int64_t wake = server->accept_after_ms ? server->accept_after_ms : INT64_MAX;
    for (const struct step_call *call = server->calls; call; call = call->next)
        if (call->kill_at_ms && call->kill_at_ms < wake)
            wake = call->kill_at_ms;
    return wake;
}

/* ---- the beginning and the end --------------------------------------------------------------- */

int step_server_open(struct step_server *server, const char *directory, struct container_run *runs,
                     size_t run_count, struct err *err)
{
    *server = (struct step_server){.fd = -1, .runs = runs, .run_count = run_count};
    /* Uses a descriptor, because the directory's path may be longer than a socket address
     * allows. */
    _cleanup_fd_ int place = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" POD_SOCKET, place);
    _cleanup_fd_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (place >= 0)
        unlinkat(place, POD_SOCKET, 0); /* left by an earlier supervisor */
    if (place < 0 || fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        fchmodat(place, POD_SOCKET, 0600, 0) < 0 || listen(fd, BACKLOG) < 0)
        return err_set_errno(err, errno, "cannot listen at '%s/" POD_SOCKET "'", directory);
    server->fd = TAKE_FD(fd);
    return 0;
}

static bool server_is_draining(const struct step_server *server)
{
    for (const struct step_call *call = server->calls; call; call = call->next)
        if (call_state(call) == CALL_DRAINING)
            return true;
    return false;
}

void step_server_close(struct step_server *server)
{
    const int64_t until = moment_wall_ms() + DRAIN_MS;
    for (int64_t now = 0; server_is_draining(server) && (now = moment_wall_ms()) < until;) {
        struct pollfd polls[STEP_SERVER_POLLS_MAX];
        poll(polls, step_server_poll(server, polls), (int)(until - now));
        step_server_serve(server, now);
    }
    while (server->calls) {
        struct step_call *next = server->calls->next;
        free_call(server->calls);
        server->calls = next;
    }
    close(server->fd);
}
