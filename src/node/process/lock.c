/* Takes lock files and finds the processes that hold them; see process/lock.h. */
#include "node/process/lock.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

int process_lock_take(const char *path, int *ret_fd, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open lock '%s'", path);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &lock) < 0)
        return errno == EACCES || errno == EAGAIN
                   ? err_set(err, ERR_EXISTS, "'%s' is held by another process", path)
                   : err_set_errno(err, errno, "cannot lock '%s'", path);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

static pid_t holder_pid(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid;
}

int process_lock_holder(const char *path, int *ret_pidfd, pid_t *ret_pid, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) /* ENOTDIR: the path leads through a file, so no lock file exists */
        return err_set_errno(err, errno == ENOTDIR ? ENOENT : errno, "cannot open lock '%s'", path);
    pid_t pid = holder_pid(fd);
    if (pid > 0) {
        _cleanup_fd_ int pidfd = pidfd_open(pid, 0);
        if (pidfd < 0 && errno != ESRCH)
            return err_set_errno(err, errno, "cannot watch process %d, which holds the lock '%s'",
                                 (int)pid, path);
        /* Checks the holder again: it may have ended before pidfd_open(), and another process may
         * have its pid now. */
        if (pidfd >= 0 && holder_pid(fd) == pid) {
            *ret_pidfd = TAKE_FD(pidfd);
            *ret_pid = pid;
            return 0;
        }
    }
    return err_set(err, ERR_NOT_FOUND, "no process holds the lock '%s'", path);
}

int process_lock_find(const char *path, int *ret_pidfd, struct err *err)
{
    struct err cause = ERR_INIT;
    pid_t pid;
    int result = process_lock_holder(path, ret_pidfd, &pid, &cause);
    if (result == -ERR_NOT_FOUND) {
        *ret_pidfd = -1;
        return 0;
    }
    if (result < 0 && err)
        *err = cause;
    return result;
}

bool process_wait_end(int pidfd, int timeout_ms)
{
    struct pollfd wait = {.fd = pidfd, .events = POLLIN};
    int got;
    do {
        got = poll(&wait, 1, timeout_ms);
    } while (got < 0 && errno == EINTR);
    return got > 0;
}

int process_kill(int pidfd, int timeout_ms, struct err *err)
{
    if (pidfd_send_signal(pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
        return err_set(err, ERR_FORBIDDEN,
                       "permission denied: the cluster may have been started by another user");
    if (!process_wait_end(pidfd, timeout_ms))
        return err_set(err, ERR_TIMEOUT, "it has not ended %d s after SIGKILL: try again",
                       timeout_ms / 1000);
    return 0;
}
