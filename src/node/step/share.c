/* One PID namespace for all containers of a pod; see step/share.h. */
#include "node/step/share.h"

#include "node/step/exec.h"
#include "node/step/mount.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
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
    /* Who forks faster than it is killed ends sooner or later; who hangs in the kernel does not,
     * and holds the pod up no longer than this. */
    SWEEPS_MAX = 100,
    DEATH_MS = 1000,
};

/* ---- the first process ----------------------------------------------------------------------- */

/* It can be seen by every container: behind it there is no machine. */
static int enter_nothing(const char *mount_point)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount_memory(mount_point, MS_RDONLY | MS_NOEXEC, "mode=0555,size=4k", NULL) < 0 ||
        chdir(mount_point) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
        return -1;
    return umount2(".", MNT_DETACH);
}

static void reap_forever(const char *mount_point) __attribute__((noreturn));
static void reap_forever(const char *mount_point)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "trainyard-pause");
    setsid();
    if (close_range(0, ~0U, 0) < 0 || enter_nothing(mount_point) < 0)
        _exit(1);
    for (;;) {
        siginfo_t info;
        if (sigwaitinfo(&all, &info) == SIGCHLD)
            while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
    }
}

static int begin(struct step_share *share, const char *mount_point, struct err *err)
{
    if (share->pid)
        return 0;
    long pid = syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        reap_forever(mount_point);
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
    if (begin(share, mount_point, err) < 0)
        return -1;
    _cleanup_fd_ int first = pidfd_open(share->pid, 0);
    pid_t pid = first < 0 ? -1 : step_fork_inside(first);
    if (pid < 0)
        err_set_errno(err, errno, "cannot enter the namespace that the containers share");
    if (pid == 0 && unshare(CLONE_NEWNS) < 0)
        _exit(1);
    return pid;
}

/* ---- what a container leaves behind ---------------------------------------------------------- */

/* The number of a process's mount namespace; 0 for one that is gone, or not ours to look at. */
static ino_t number_of(const char *pid)
{
    char path[NAME_MAX + sizeof("/proc//ns/mnt")];
    struct stat info;
    snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
    return stat(path, &info) == 0 ? info.st_ino : 0;
}

int step_share_mark(void)
{
    return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
}

/* The descriptor first: what is looked at and what is killed are the same process then. */
static bool kill_marked(const char *name, ino_t mark)
{
    int64_t pid;
    if (str_to_int64(name, 1, INT32_MAX, &pid, NULL) < 0 || number_of(name) != mark)
        return false;
    _cleanup_fd_ int fd = pidfd_open((pid_t)pid, 0);
    if (fd < 0 || number_of(name) != mark || pidfd_send_signal(fd, SIGKILL, NULL, 0) < 0)
        return false;
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, DEATH_MS);
    return true;
}

void step_share_sweep(int mark_fd)
{
    struct stat mark;
    bool found = mark_fd >= 0 && fstat(mark_fd, &mark) == 0;
    for (int i = 0; found && i < SWEEPS_MAX; i++) {
        DIR *processes = opendir("/proc");
        found = false;
        if (!processes)
            return;
        for (struct dirent *entry; (entry = readdir(processes));)
            found = kill_marked(entry->d_name, mark.st_ino) || found;
        closedir(processes);
    }
}
