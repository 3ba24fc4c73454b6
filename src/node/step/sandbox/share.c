/* Makes one PID namespace for all containers of a pod; see step/sandbox/share.h. */
#include "node/step/sandbox/share.h"

#include "node/process/lock.h"
#include "node/process/namespaces.h"
#include "node/step/exec.h"
#include "node/step/sandbox/mount.h"

#include "base/cleanup.h"
#include "base/moment.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    /* How long the sweep is repeated, and how long each sweep waits for killed processes. A process
     * that forks fast needs several sweeps. A process that hangs in the kernel does not end at
     * all. */
    SWEEP_MS = 2 * 1000,
    KILLED_MAX = 256, /* processes per sweep */
};

/* ---- the first process ----------------------------------------------------------------------- */

/* Gives the first process an empty root. Every container sees this process and must not reach the
 * machine's files through it. */
static int enter_empty_root(const char *mount_point)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount_memory(mount_point, MS_RDONLY | MS_NOEXEC, "mode=0555,size=4k", NULL) < 0 ||
        chdir(mount_point) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
        return -1;
    return umount2(".", MNT_DETACH);
}

/* `supervisor` is a pidfd. It shows whether the supervisor died before PR_SET_PDEATHSIG was set;
 * getppid() cannot, because the PID is not visible in this namespace. */
static void reap_forever(const char *mount_point, int supervisor) __attribute__((noreturn));
static void reap_forever(const char *mount_point, int supervisor)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (process_wait_end(supervisor, 0))
        _exit(1);
    prctl(PR_SET_NAME, "trainyard-pause");
    setsid();
    if (close_range(0, ~0U, 0) < 0 || enter_empty_root(mount_point) < 0)
        _exit(1);
    for (;;) {
        siginfo_t info;
        if (sigwaitinfo(&all, &info) == SIGCHLD)
            while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
    }
}

static int share_start_first_process(struct step_share *share, const char *mount_point,
                                     struct err *err)
{
    if (share->pid)
        return 0;
    _cleanup_fd_ int self = pidfd_open(getpid(), 0);
    long pid =
        self < 0 ? -1
                 : syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        reap_forever(mount_point, self);
    if (pid < 0)
        return err_set_errno(err, errno, "cannot make the namespace that the containers share");
    share->pid = (pid_t)pid;
    return 0;
}

bool step_share_reaped(struct step_share *share, pid_t pid)
{
    if (pid != share->pid)
        return false;
    share->pid = 0;
    return true;
}

pid_t step_share_fork(struct step_share *share, const char *mount_point, struct err *err)
{
    if (share_start_first_process(share, mount_point, err) < 0)
        return -1;
    _cleanup_fd_ int first = pidfd_open(share->pid, 0);
    pid_t pid = first < 0 ? -1 : step_fork_inside(first);
    if (pid < 0)
        err_set_errno(err, errno, "cannot enter the namespace that the containers share");
    if (pid == 0 && unshare(CLONE_NEWNS) < 0)
        _exit(1);
    return pid;
}

/* ---- the remaining processes of a container -------------------------------------------------- */

int step_share_mark(void)
{
    return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
}

/* Kills the process with the pid `name` if its mount namespace is `mark`. Checks this again after
 * the pidfd is open, so that no later process with the same pid is killed. Returns the pidfd of the
 * killed process, or -1 if it was not killed. */
static int kill_marked(const char *name, ino_t mark)
{
    int64_t pid;
    if (str_to_int64(name, 1, INT32_MAX, &pid, NULL) < 0 ||
        process_mount_namespace((pid_t)pid) != mark)
        return -1;
    _cleanup_fd_ int fd = pidfd_open((pid_t)pid, 0);
    if (fd < 0 || process_mount_namespace((pid_t)pid) != mark ||
        pidfd_send_signal(fd, SIGKILL, NULL, 0) < 0)
        return -1;
    return TAKE_FD(fd);
}

/* Kills up to KILLED_MAX processes of the container, then waits for their end. Returns false if
 * there were none. */
static bool sweep_once(ino_t mark)
{
    int killed[KILLED_MAX];
    size_t count = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && count < KILLED_MAX && (entry = readdir(processes));) {
        int fd = kill_marked(entry->d_name, mark);
        if (fd >= 0)
            killed[count++] = fd;
    }
    if (processes)
        closedir(processes);
    const int64_t deadline = moment_monotonic_ms() + SWEEP_MS;
    for (size_t i = 0; i < count; i++) {
        int64_t left = deadline - moment_monotonic_ms();
        (void)process_wait_end(killed[i], left > 0 ? (int)left : 0);
        close(killed[i]);
    }
    return count > 0;
}

void step_share_sweep(int mark_fd)
{
    const int64_t deadline = moment_monotonic_ms() + SWEEP_MS;
    struct stat mark;
    if (mark_fd < 0 || fstat(mark_fd, &mark) < 0)
        return;
    for (bool is_late = false; sweep_once(mark.st_ino) && !is_late;)
        is_late = moment_monotonic_ms() > deadline;
}
