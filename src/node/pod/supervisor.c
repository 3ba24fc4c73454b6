/* Implements the link to a supervisor; see pod/supervisor.h. The supervisor is not a child process.
 * The link watches a pidfd for the supervisor's end, and the pod's directory for a new state file.
 * libuv may report events of many supervisors in one turn of the loop. So its callbacks only set
 * flags, and a deferred task acts on them: the loop limits the time of the deferred tasks per
 * turn. */
#include "node/pod/supervisor.h"

#include "node/process/lock.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "base/system/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

enum { LOG_MAX = 4096 }; /* bytes of supervisor.log */

struct supervisor_link {
    struct loop *loop;
    char *directory, *step_path;
    const struct supervisor_events *events;
    void *context;
    int pidfd;                      /* of the supervisor; -1 if none runs */
    pid_t pid;                      /* of the supervisor; 0 if none runs */
    struct supervisor_start *start; /* the start that a thread of the pool works on, or NULL */
    int starter; /* the pidfd of the process that starts the supervisor and then exits, or -1 */
    bool freed;  /* the link was freed; the memory is released when the handles below are closed */
    int open_handles;          /* the number of handles below that libuv has not closed yet */
    uv_poll_t start_watch;     /* watches `starter` */
    uv_poll_t end_watch;       /* watches `pidfd` */
    uv_fs_event_t state_watch; /* watches the pod's directory */
    bool start_watch_open, end_watch_open, state_watch_open;
    struct loop_task task; /* acts on the following flags, which callbacks of libuv set */
    bool has_started;      /* the process of `starter` has exited */
    bool has_ended;        /* the supervisor has exited */
    bool has_changed;      /* the state file was replaced */
};

/* A supervisor that is being started. A thread of the pool creates the process, because creating a
 * process may block for a while. The loop thread does the rest. */
struct supervisor_start {
    struct loop_work work;
    struct supervisor_link *link; /* NULL if the link was freed */
    /* The link was freed. If the thread has not created the process yet, it creates none. */
    _Atomic bool unwanted;
    char *directory, *step_path;
    int pidfd;      /* of the process that starts the supervisor, or -1 */
    struct err err; /* why the process could not be created */
};

static void on_supervisor_link_task(struct loop_task *task);

struct supervisor_link *supervisor_link_new(struct loop *loop, const char *directory,
                                            const char *step_path,
                                            const struct supervisor_events *events, void *context)
{
    struct supervisor_link *link = mem_zalloc(sizeof(*link));
    link->loop = loop;
    link->directory = mem_strdup(directory);
    link->step_path = mem_strdup(step_path);
    link->events = events;
    link->context = context;
    link->pidfd = link->starter = -1;
    link->task.callback = on_supervisor_link_task;
    return link;
}

static void supervisor_link_release(struct supervisor_link *link)
{
    free(link->directory);
    free(link->step_path);
    free(link);
}

static void on_supervisor_link_closed(uv_handle_t *handle)
{
    struct supervisor_link *link = handle->data;
    link->open_handles--;
    if (link->freed && link->open_handles == 0)
        supervisor_link_release(link);
}

static void close_handle(struct supervisor_link *link, uv_handle_t *handle, bool *is_open)
{
    if (!*is_open)
        return;
    *is_open = false;
    handle->data = link;
    uv_close(handle, on_supervisor_link_closed);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void stop_watching(struct supervisor_link *link)
{
    close_handle(link, (uv_handle_t *)&link->end_watch, &link->end_watch_open);
    close_handle(link, (uv_handle_t *)&link->state_watch, &link->state_watch_open);
    close_fd(&link->pidfd);
    link->pid = 0;
    link->has_ended = link->has_changed = false;
}

static void end_start(struct supervisor_link *link)
{
    close_handle(link, (uv_handle_t *)&link->start_watch, &link->start_watch_open);
    close_fd(&link->starter);
    link->has_started = false;
}

struct supervisor_link *supervisor_link_free(struct supervisor_link *link)
{
    if (!link)
        return NULL;
    loop_defer_cancel(link->loop, &link->task);
    stop_watching(link);
    end_start(link);
    if (link->start) {
        link->start->link = NULL;
        link->start->unwanted = true;
    }
    link->freed = true;
    if (link->open_handles == 0)
        supervisor_link_release(link);
    return NULL;
}

pid_t supervisor_link_pid(const struct supervisor_link *link)
{
    return link->pid;
}

bool supervisor_link_is_busy(const struct supervisor_link *link)
{
    return link->start || link->starter >= 0 || link->pidfd >= 0;
}

static void on_supervisor_link_ended(uv_poll_t *handle, int status, int events)
{
    struct supervisor_link *link = handle->data;
    uv_poll_stop(handle); /* the pidfd stays readable */
    link->has_ended = true;
    loop_defer(link->loop, &link->task);
}

static void on_supervisor_link_changed(uv_fs_event_t *handle, const char *filename, int events,
                                       int status)
{
    struct supervisor_link *link = handle->data;
    if (!str_eq(filename, "state"))
        return;
    link->has_changed = true;
    loop_defer(link->loop, &link->task);
}

static void supervisor_link_watch(struct supervisor_link *link)
{
    struct uv_loop_s *uv = loop_uv(link->loop);
    if (uv_fs_event_init(uv, &link->state_watch) == 0) {
        link->state_watch.data = link;
        link->state_watch_open = true;
        link->open_handles++;
        /* Fails if no inotify watch is free. The link then notices the end of the supervisor, but
         * no earlier change of its state file. */
        (void)uv_fs_event_start(&link->state_watch, on_supervisor_link_changed, link->directory, 0);
    }
    if (uv_poll_init(uv, &link->end_watch, link->pidfd) == 0) {
        link->end_watch.data = link;
        link->end_watch_open = true;
        link->open_handles++;
        uv_poll_start(&link->end_watch, UV_READABLE, on_supervisor_link_ended);
    }
}

int supervisor_link_attach(struct supervisor_link *link, struct err *err)
{
    _cleanup_free_ char *lock = mem_printf("%s/lock", link->directory);
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    int result = process_lock_holder(lock, &pidfd, &pid, err);
    if (result < 0)
        return result;
    /* The handles are fields of this link, and those of an earlier supervisor may not be closed
     * yet. */
    if (link->open_handles > 0)
        return err_set(err, ERR_UNAVAILABLE, "the previous processes of the pod are still ending");
    link->pidfd = TAKE_FD(pidfd);
    link->pid = pid;
    supervisor_link_watch(link);
    return 0;
}

/* Sets `err` to the last line in the log of a supervisor that could not start. */
static void supervisor_link_explain(struct supervisor_link *link, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/supervisor.log", link->directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, LOG_MAX);
    (void)file_read(path, &text, NULL);
    while (text.size && text.data[text.size - 1] == '\n')
        text.data[--text.size] = '\0';
    const char *newline = strrchr(text.data, '\n');
    err_set(err, ERR_INTERNAL, "cannot start the pod's supervisor: %s",
            text.size ? (newline ? newline + 1 : text.data) : "it ended without a message");
}

/* Called when the starting process has exited. If its exit code is 0, the supervisor is ready;
 * otherwise supervisor.log says why it could not start. */
static void finish_start(struct supervisor_link *link)
{
    siginfo_t end = {0};
    bool is_up = waitid(P_PIDFD, (id_t)link->starter, &end, WEXITED) == 0 &&
                 end.si_code == CLD_EXITED && end.si_status == 0;
    end_start(link);
    if (!is_up) {
        struct err err = ERR_INIT;
        supervisor_link_explain(link, &err);
        link->events->gone(link->context, &err);
        return;
    }
    _cleanup_free_ char *lock = mem_printf("%s/lock", link->directory);
    struct err err = ERR_INIT;
    int result = process_lock_holder(lock, &link->pidfd, &link->pid, &err);
    if (result < 0) { /* without a holder, the pod has ended already */
        link->events->gone(link->context, result == -ERR_NOT_FOUND ? NULL : &err);
        return;
    }
    supervisor_link_watch(link);
    link->events->alive(link->context);
}

static void on_started(uv_poll_t *handle, int status, int events)
{
    struct supervisor_link *link = handle->data;
    uv_poll_stop(handle); /* the pidfd stays readable */
    link->has_started = true;
    loop_defer(link->loop, &link->task);
}

/* Reports one event per call, because the owner may free the link in its callback. If the
 * supervisor has ended, changes of the state are not reported: the owner reads the state when it
 * learns of the end. */
static void on_supervisor_link_task(struct loop_task *task)
{
    struct supervisor_link *link = CONTAINER_OF(task, struct supervisor_link, task);
    if (link->has_started) {
        finish_start(link);
    } else if (link->has_ended) {
        stop_watching(link);
        link->events->gone(link->context, NULL);
    } else if (link->has_changed) {
        link->has_changed = false;
        link->events->changed(link->context);
    }
}

static int spawn_step(struct supervisor_start *start, struct err *err)
{
    _cleanup_free_ char *stop = mem_printf("%s/stop", start->directory);
    _cleanup_free_ char *log = mem_printf("%s/supervisor.log", start->directory);
    unlink(stop); /* meant for an earlier supervisor */
    _cleanup_fd_ int log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (log_fd < 0)
        return err_set_errno(err, errno, "cannot open '%s'", log);
    const struct spawn how = {
        .arguments = (char *[]){start->step_path, (char *)"pod", start->directory, NULL},
        .environment = (char *[]){NULL},
        .place = SPAWN_IN_OWN_SESSION,
        .in = -1,
        .out = log_fd,
        .err = log_fd,
    };
    pid_t pid;
    int error = spawn_process(&how, &pid);
    if (error)
        return err_set_errno(err, error, "cannot run '%s'", start->step_path);
    start->pidfd = pidfd_open(pid, 0);
    if (start->pidfd < 0) {
        int errnum = errno;
        /* The loop cannot watch a process without a pidfd. The next attempt finds the supervisor if
         * it has become ready. */
        waitpid(pid, NULL, 0);
        return err_set_errno(err, errnum, "cannot watch the start of a pod's supervisor");
    }
    return 0;
}

static void supervisor_link_spawn(struct loop_work *work)
{
    struct supervisor_start *start = CONTAINER_OF(work, struct supervisor_start, work);
    if (!start->unwanted)
        (void)spawn_step(start, &start->err);
}

static int watch_start(struct supervisor_link *link, struct err *err)
{
    int result = uv_poll_init(loop_uv(link->loop), &link->start_watch, link->starter);
    if (result < 0)
        return err_set(err, ERR_IO, "cannot watch the start of a pod's supervisor: %s",
                       uv_strerror(result));
    link->start_watch.data = link;
    link->start_watch_open = true;
    link->open_handles++;
    uv_poll_start(&link->start_watch, UV_READABLE, on_started);
    return 0;
}

static void on_spawned(struct loop_work *work)
{
    struct supervisor_start *start = CONTAINER_OF(work, struct supervisor_start, work);
    struct supervisor_link *link = start->link;
    struct err err = start->err;
    int pidfd = start->pidfd;
    free(start->directory);
    free(start->step_path);
    free(start);
    if (!link) {
        close_fd(&pidfd);
        return;
    }
    link->start = NULL;
    link->starter = pidfd;
    if (!err.code && watch_start(link, &err) == 0)
        return;
    close_fd(&link->starter);
    link->events->gone(link->context, &err);
}

void supervisor_link_start(struct supervisor_link *link)
{
    struct supervisor_start *start = mem_zalloc(sizeof(*start));
    *start = (struct supervisor_start){
        .work = {.work = supervisor_link_spawn, .done = on_spawned},
        .link = link,
        .pidfd = -1,
        .directory = mem_strdup(link->directory),
        .step_path = mem_strdup(link->step_path),
    };
    link->start = start;
    loop_work_start(link->loop, &start->work);
}

void supervisor_link_set_deadline(struct supervisor_link *link, int64_t planned_ms, int64_t wall_ms)
{
    int64_t known_ms = planned_ms;
    (void)pod_deadline_load(link->directory, &known_ms, NULL);
    if (link->pidfd >= 0 && known_ms != wall_ms &&
        pod_deadline_store(link->directory, wall_ms, NULL) == 0)
        pidfd_send_signal(link->pidfd, SIGHUP, NULL, 0);
}

int supervisor_link_stop(struct supervisor_link *link, const struct pod_stop *stop, struct err *err)
{
    if (link->pidfd < 0)
        return 0; /* no supervisor runs */
    /* Sends the signal even if the disk is full, because this pod may have filled it. */
    int result = pod_stop_store(link->directory, stop, err);
    pod_stop_tell(link->pidfd);
    return result;
}
