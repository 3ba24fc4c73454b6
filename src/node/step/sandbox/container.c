/* Starts one container and reads its output; see step/sandbox/container.h. */
#include "node/step/sandbox/container.h"

#include "node/pod/cpu_time.h"
#include "node/process/fd_message.h"
#include "node/step/message.h"
#include "node/step/sandbox/isolation.h"
#include "node/step/sandbox/limits.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_MAX = 64 * 1024,
    /* The worst case is a read of only newlines: each becomes a record of its own. */
    RECORDS_MAX = READ_MAX * 64,
    EXIT_CANNOT_START =
        128, /* the exit code that Kubernetes shows for a container that never ran */
};

void container_run_init(struct container_run *run, const char *directory,
                        const struct pod_spec *pod, const struct pod_container *spec,
                        struct container_state *state, struct step_share *share)
{
    *run = (struct container_run){
        .directory = directory,
        .pod = pod,
        .spec = spec,
        .state = state,
        .share = pod->shares_processes ? share : NULL,
        .mark_fd = -1,
        .report_fd = -1,
        .input_fd = -1,
        .output_fds = {-1, -1},
    };
    step_log_init(&run->log);
    node_log_writer_init(&run->writers[0], "stdout");
    node_log_writer_init(&run->writers[1], "stderr");
}

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Makes a pipe. The supervisor's end does not block; the container's end does. */
static int make_pipe(int *ret_ours, int *ret_theirs, bool we_read)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -1;
    *ret_ours = fds[we_read ? 0 : 1];
    *ret_theirs = fds[we_read ? 1 : 0];
    fcntl(*ret_ours, F_SETFL, O_NONBLOCK);
    return 0;
}

static void close_all(int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

static void set_end(struct container_run *run, int exit_code, int signal_number, const char *reason,
                    const char *message, int64_t now_ms)
{
    struct container_state *state = run->state;
    int64_t started = run->is_up ? state->started_ms : now_ms;
    state->phase = CONTAINER_TERMINATED;
    state->pid = 0;
    state->reason[0] = state->message[0] = '\0';
    state->end = (struct container_end){
        .known = true,
        .exit_code = exit_code,
        .signal = signal_number,
        .started_ms = started,
        .finished_ms = now_ms,
    };
    str_copy(state->end.reason, sizeof(state->end.reason), reason);
    str_copy(state->end.message, sizeof(state->end.message), message);
}

/* Makes the pipes of the container. A terminal is created later, by the container's first process
 * inside the sandbox. */
static int make_descriptors(struct container_run *run, struct step_descriptors *descriptors)
{
    const struct pod_container *spec = run->spec;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    run->report_fd = pair[0];
    descriptors->report = pair[1];
    if (spec->terminal)
        return 0;
    if (spec->has_stdin && make_pipe(&run->input_fd, &descriptors->in, false) < 0)
        return -1;
    return make_pipe(&run->output_fds[0], &descriptors->out, true) < 0 ||
                   make_pipe(&run->output_fds[1], &descriptors->err, true) < 0
               ? -1
               : 0;
}

static int container_spawn(struct container_run *run, struct err *err)
{
    struct step_descriptors descriptors = {-1, -1, -1, -1};
    _cleanup_free_ char *mount_point = mem_printf("%s/root", run->directory);
    pid_t pid = -1;
    int result = 0;
    if (make_descriptors(run, &descriptors) < 0)
        result = err_set_errno(err, errno, "cannot make pipes");
    else if (run->share)
        result = (pid = step_share_fork(run->share, mount_point, err)) < 0 ? -1 : 0;
    else
        pid = step_isolation_fork(run->pod);
    if (pid == 0)
        step_init_run(run->pod, run->spec, mount_point, &descriptors);
    if (result == 0 && pid < 0)
        result = err_set_errno(err, errno, "cannot make the container's namespaces");
    close_all((int[]){descriptors.report, descriptors.in, descriptors.out, descriptors.err}, 4);
    run->pid = pid > 0 ? pid : 0;
    return result;
}

static void close_run(struct container_run *run)
{
    close_all(&run->report_fd, 1);
    close_all(&run->mark_fd, 1);
    step_log_close(&run->log);
    close_all(&run->input_fd, 1);
    close_all(run->output_fds, 2);
    run->pid = 0;
    run->has_report = false;
}

int container_run_start(struct container_run *run, int64_t now_ms, struct err *err)
{
    struct container_state *state = run->state;
    state->phase = CONTAINER_WAITING;
    str_copy(state->reason, sizeof(state->reason), "ContainerCreating");
    state->message[0] = '\0';
    state->next_start_ms = 0;
    state->started_ms = now_ms;
    state->end = (struct container_end){0};
    run->is_up = false;
    run->exec_cpu_ns = 0;
    if (state->restarts >= 2) /* keeps the log of the previous run and removes the one before it */
        step_log_remove(run->directory, run->spec->name, state->restarts - 2);
    int result = step_log_open(&run->log, run->directory, run->spec->name, state->restarts, err);
    if (result == 0)
        result = step_message_prepare(run->directory, run->spec->name, err);
    if (result == 0)
        result = step_limits_begin(run->pod, run->spec, err);
    if (result == 0)
        result = container_spawn(run, err);
    if (result < 0) {
        close_run(run);
        set_end(run, EXIT_CANNOT_START, 0, "StartError", err ? err->message : "", now_ms);
        return result;
    }
    state->pid = run->pid;
    return 0;
}

static int64_t to_ns(struct timeval time)
{
    return ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

void container_run_add_cpu_time(struct container_run *run, const struct rusage *used)
{
    struct cgroup_usage counted;
    if (!run->pid || cgroup_usage(&run->pod->groups, run->spec->name, &counted))
        return;
    run->exec_cpu_ns += to_ns(used->ru_utime) + to_ns(used->ru_stime);
    pod_cpu_time_store(run->directory, run->spec->name, run->state->restarts, run->exec_cpu_ns);
}

int container_run_output(const struct container_run *run, int stream)
{
    return step_taps_are_full(run->taps[stream]) ? -1 : run->output_fds[stream];
}

/* Reads the available output of one stream, and writes it to the log and to the attached clients.
 * Unless `all` is true, stops when bytes are kept for a client. */
static void read_output(struct container_run *run, int stream, bool all)
{
    char data[READ_MAX];
    _cleanup_buf_ struct buf records;
    buf_init(&records, RECORDS_MAX);
    while ((all ? run->output_fds[stream] : container_run_output(run, stream)) >= 0) {
        ssize_t got = read(run->output_fds[stream], data, sizeof(data));
        if (got < 0 && errno == EINTR)
            continue;
        if (got > 0) {
            node_log_writer_add(&run->writers[stream], wall_ns(), data, (size_t)got, &records);
            step_taps_write(run->taps[stream], data, (size_t)got);
        } else if (got == 0 || errno != EAGAIN) {
            node_log_writer_finish(&run->writers[stream], wall_ns(), &records);
            close_all(&run->output_fds[stream], 1);
        }
        step_log_write(&run->log, &records);
        buf_clear(&records);
        if (got <= 0 || (got < (ssize_t)sizeof(data) && !run->spec->terminal))
            return;
    }
}

static void take_terminal(struct container_run *run, int master)
{
    fcntl(master, F_SETFL, O_NONBLOCK);
    close_all(&run->output_fds[0], 1);
    close_all(&run->input_fd, 1);
    run->output_fds[0] = master;
    if (run->spec->has_stdin)
        run->input_fd = fcntl(master, F_DUPFD_CLOEXEC, 0);
}

static bool read_reports(struct container_run *run)
{
    bool came_up = false;
    struct step_report report;
    int fds[FD_MESSAGE_FDS_MAX];
    while (run->report_fd >= 0 && fd_message_receive(run->report_fd, &report, sizeof(report),
                                                     fds) == (ssize_t)sizeof(report)) {
        if (report.kind == STEP_TERMINAL) {
            if (fds[0] >= 0)
                take_terminal(run, fds[0]);
            continue;
        }
        if (report.kind == STEP_MARK) {
            run->mark_fd = fds[0];
            continue;
        }
        run->report = report;
        run->has_report = true;
        came_up = came_up || report.kind == STEP_RUNNING;
    }
    run->is_up = run->is_up || came_up;
    return came_up;
}

bool container_run_read(struct container_run *run)
{
    bool changed = read_reports(run);
    read_output(run, 0, false);
    read_output(run, 1, false);
    return changed;
}

bool container_run_is_ending(struct container_run *run)
{
    (void)read_reports(run);
    /* When a process exits, the kernel closes its descriptors before it ends its namespaces. */
    struct pollfd report = {.fd = run->report_fd};
    bool is_closed = poll(&report, 1, 0) > 0 && report.revents & POLLHUP;
    return is_closed || (run->has_report && run->report.kind != STEP_RUNNING);
}

void container_run_reaped(struct container_run *run, int wait_status, int64_t now_ms)
{
    /* All processes of the sandbox have ended with the first process, so all output is in the
     * pipes. In a shared PID namespace step_share_sweep() ends these processes; in a pod without
     * namespaces the caller has ended them. */
    read_reports(run);
    if (run->share)
        step_share_sweep(run->mark_fd);
    read_output(run, 0, true);
    read_output(run, 1, true);
    struct step_report report = run->report;
    if (!run->has_report || report.kind == STEP_RUNNING) {
        /* The first process was killed before it could report: at the end of the grace period, or
         * by the kernel. */
        int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : SIGKILL;
        report =
            (struct step_report){.kind = STEP_EXITED, .signal = number, .exit_code = 128 + number};
    }
    for (int stream = 0; stream < 2; stream++) {
        _cleanup_buf_ struct buf records;
        buf_init(&records, RECORDS_MAX);
        node_log_writer_finish(&run->writers[stream], wall_ns(), &records);
        step_log_write(&run->log, &records);
    }
    close_run(run);
    run->got_sigterm = report.got_sigterm;
    bool out_of_memory = step_limits_end(run->pod, run->spec);
    if (report.kind == STEP_FAILED) {
        set_end(run, EXIT_CANNOT_START, 0, "StartError", report.message, now_ms);
        return;
    }
    char message[POD_TERMINATION_MESSAGE_MAX + 1];
    step_message_read(run->directory, run->spec, run->state->restarts, report.exit_code, message);
    const char *reason = out_of_memory ? "OOMKilled" : report.exit_code ? "Error" : "Completed";
    set_end(run, report.exit_code, report.signal, reason, message, now_ms);
}
