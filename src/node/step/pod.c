/* trainyard-step pod: starts the supervisor of one pod (step/supervisor.h). The supervisor moves
 * itself into the pod's network, IPC and UTS namespaces; in a pod without namespaces it stays in
 * those of the machine (step/sandbox/isolation.h). It does not need the control process, which may
 * end and be started again. SIGTERM tells the supervisor to end or pause the pod
 * (pod/record/stop.h). SIGHUP tells it that the deadline has changed. Requests for commands in the
 * containers and for their output come through its socket (step/server.h). When the supervisor is
 * killed, its containers die with it, and the next supervisor of the pod continues from the state
 * on the disk. */
#include "node/step/supervisor.h"

#include "node/process/lock.h"
#include "node/step/sandbox/isolation.h"
#include "node/step/sandbox/limits.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Records the end of a container that was running or starting under a supervisor that was
 * killed. */
static void pod_set_lost(struct container_state *state)
{
    state->phase = CONTAINER_TERMINATED;
    state->pid = 0;
    state->end = (struct container_end){.known = true,
                                        .exit_code = 128 + SIGKILL,
                                        .signal = SIGKILL,
                                        .started_ms = state->started_ms,
                                        .finished_ms = moment_wall_ms()};
    str_copy(state->end.reason, sizeof(state->end.reason), "ContainerStatusUnknown");
    str_copy(state->end.message, sizeof(state->end.message),
             "the pod's supervisor was killed and the container with it");
}

static void pod_restore_container(struct supervisor *s, size_t i, const struct pod_state *earlier,
                                  bool resumes)
{
    const struct pod_container *spec = &s->spec.containers[i];
    struct container_state *state = &s->state.containers[i];
    const struct container_state *old = pod_state_find(earlier, spec->name);
    if (old)
        *state = *old;
    else
        supervisor_set_waiting(state, "ContainerCreating", "");
    str_copy(state->image, sizeof(state->image), spec->image ? spec->image : "");
    str_copy(state->image_id, sizeof(state->image_id), spec->image_id ? spec->image_id : "");
    container_run_init(&s->runs[i], s->directory, &s->spec, spec, state, &s->share);
    life_init(&s->lives[i], &s->runs[i], &s->state);
    state->started = state->ready = false;
    if (state->pid) {
        pod_set_lost(state);
        supervisor_decide_restart(s, i, resumes);
    }
}

/* Continues from the state of an earlier supervisor. The containers that it left running have died
 * with it. */
static void pod_restore(struct supervisor *s)
{
    _cleanup_pod_state_ struct pod_state earlier = {0};
    (void)pod_state_load(s->directory, &earlier, NULL);
    pod_state_inherit(&s->state, &earlier);
    /* There may be an order to end or pause the pod that the earlier supervisor had not carried out
     * when it was killed. */
    s->has_pause_mark = supervisor_read_stop(s).pause;
    bool is_ending = s->state.reason[0] != '\0';
    if (is_ending)
        supervisor_move(s, SUPERVISOR_ENDING);
    for (size_t i = 0; i < s->spec.container_count; i++)
        pod_state_add(&s->state, s->spec.containers[i].name);
    for (size_t i = 0; i < s->state.count; i++)
        pod_restore_container(s, i, &earlier, s->has_pause_mark && !is_ending);
    if (s->state.finished)
        supervisor_move(s, SUPERVISOR_ENDED);
    else if (!is_ending)
        supervisor_move(s, SUPERVISOR_RUNNING);
    s->must_store = true;
}

static int pod_make_directory(const char *directory, const char *name, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    return file_make_dirs(path, 0700, err);
}

static int pod_load_spec(struct supervisor *s, struct arena *arena, struct err *err)
{
    int result = pod_spec_load(arena, s->directory, &s->spec, err);
    return result < 0 ? result : cgroup_trees_load(arena, s->directory, &s->spec.groups, err);
}

static int pod_prepare(struct supervisor *s, struct arena *arena, struct err *err)
{
    _cleanup_free_ char *lock_path = mem_printf("%s/lock", s->directory);
    int lock, result;
    sigset_t handled;
    sigemptyset(&handled);
    sigaddset(&handled, SIGCHLD);
    sigaddset(&handled, SIGHUP);
    sigaddset(&handled, SIGTERM);
    sigprocmask(SIG_BLOCK, &handled, NULL);
    /* The signals are blocked before the lock is taken, because the control process may send
     * SIGTERM as soon as it sees the lock. */
    if ((result = process_lock_take(lock_path, &lock, err)) < 0 ||
        (result = pod_load_spec(s, arena, err)) < 0 ||
        (result = pod_make_directory(s->directory, "logs", err)) < 0 ||
        (result = pod_make_directory(s->directory, "messages", err)) < 0 ||
        (result = pod_make_directory(s->directory, "root", err)) < 0 ||
        (result = pod_make_directory(s->directory, "shm", err)) < 0)
        return result;
    s->spec.shm = s->spec.machine_ipc ? "/dev/shm" : arena_printf(arena, "%s/shm", s->directory);
    s->signal_fd = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signal_fd < 0)
        return err_set_errno(err, errno, "cannot receive signals");
    pod_restore(s);
    supervisor_read_deadline(s);
    if (s->state.finished)
        return 0;
    if ((result = step_limits_begin_pod(&s->spec, err)) < 0 ||
        (result = step_isolation_enter(&s->spec, s->directory, err)) < 0)
        return result;
    return step_server_open(&s->server, s->directory, s->runs, s->state.count, err);
}

static int pod_run_supervisor(const char *directory, int ready_fd)
{
    static struct supervisor supervisor; /* too large for the stack; there is one per process */
    struct supervisor *s = &supervisor;
    struct err err = ERR_INIT;
    supervisor_init(s, directory);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    prctl(PR_SET_NAME, "trainyard-pod");
    umask(077);
    if (pod_prepare(s, arena, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    ssize_t written = write(ready_fd, "", 1);
    (void)written;
    close(ready_fd);
    if (!s->state.finished)
        supervisor_run(s);
    return 0;
}

/* The starting process exits when the supervisor is ready. So the supervisor is never a child of
 * the control process, and every control process watches the supervisor in the same way, whether
 * that control process or an earlier one has started it. */
int step_pod(int argc, char **argv)
{
    struct err err = ERR_INIT;
    int ready[2];
    if (argc != 1 || argv[0][0] != '/') {
        fputs("usage: trainyard-step pod /DIRECTORY\n", stderr);
        return 2;
    }
    if (step_detach(&err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    pid_t pid = pipe2(ready, O_CLOEXEC) < 0 ? -1 : fork();
    if (pid < 0) {
        fprintf(stderr, "cannot start the supervisor: %s\n", strerror(errno));
        return 1;
    }
    if (pid == 0) {
        close(ready[0]);
        if (setsid() < 0)
            return 1;
        return pod_run_supervisor(argv[0], ready[1]);
    }
    close(ready[1]);
    char byte;
    return read(ready[0], &byte, 1) == 1 ? 0 : 1;
}
