/* Tries to create namespaces; see network/namespace_probe.h. */
#include "node/network/namespace_probe.h"

#include "node/process/namespaces.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIT(capability) (1U << (capability))

static bool has_capabilities(uint32_t needed)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    return geteuid() == 0 && syscall(SYS_capget, &header, data) == 0 &&
           (data[0].effective & needed) == needed;
}

/* Returns true if this process may not call setgroups(). A user namespace may deny it even to a
 * process with all capabilities. */
static bool groups_are_denied(void)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 64);
    return file_read("/proc/self/setgroups", &text, NULL) == 0 && str_has_prefix(text.data, "deny");
}

bool namespace_probe_can_become(void)
{
    return !groups_are_denied() &&
           has_capabilities(BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP));
}

bool namespace_probe_is_privileged(void)
{
    return has_capabilities(BIT(CAP_SYS_ADMIN) | BIT(CAP_NET_ADMIN) | BIT(CAP_SETUID) |
                            BIT(CAP_SETGID) | BIT(CAP_SETPCAP));
}

const char *namespace_probe_advice(void)
{
    return geteuid() == 0
               ? "To allow namespaces in a container: docker run --privileged."
               : "To allow namespaces: sysctl user.max_user_namespaces=10000, "
                 "kernel.unprivileged_userns_clone=1 and "
                 "kernel.apparmor_restrict_unprivileged_userns=0, where they exist; in a container "
                 "docker run --security-opt systempaths=unconfined; or run as root.";
}

int namespace_probe_make_user_namespace(struct err *err)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (unshare(CLONE_NEWUSER) < 0)
        return err_set_errno(err, errno, "unshare(CLONE_NEWUSER)");
    return process_map_ids((struct id_map){.inside = 0, .outside = uid},
                           (struct id_map){.inside = 0, .outside = gid}, err);
}

/* Refuses a chroot into an ordinary directory. In such a chroot the kernel creates no user
 * namespace, and pivot_root() fails, because the root is not a mount point. */
static int check_root(struct err *err)
{
    struct statx root;
    if (statx(AT_FDCWD, "/", 0, STATX_TYPE, &root) < 0 ||
        !(root.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) ||
        root.stx_attributes & STATX_ATTR_MOUNT_ROOT)
        return 0;
    return err_set(err, ERR_UNAVAILABLE,
                   "the root directory is not a mount point, as in a chroot: use pivot_root "
                   "instead, as container runtimes do");
}

/* Tries to mount a new /proc. The kernel refuses that in a container that hides parts of /proc. A
 * child process mounts it, because only a process in the new PID namespace can. */
static int try_proc(const char *directory, struct err *err)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        bool mounted =
            mount("proc", directory, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
        _exit(mounted ? 0 : errno);
    }
    if (child < 0)
        return err_set_errno(err, errno, "cannot fork in a new PID namespace");
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (status == 0)
        return 0;
    return err_set_errno(err, WIFEXITED(status) ? WEXITSTATUS(status) : EPERM,
                         "cannot mount a new /proc while parts of the current one are hidden");
}

/* Tries to create everything that a sandbox needs, in the calling process. */
static int try_all(const char *directory, struct err *err)
{
    int result = namespace_probe_is_privileged() ? 0 : namespace_probe_make_user_namespace(err);
    if (result < 0)
        return result;
    if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
        return err_set_errno(err, errno, "unshare");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", directory, "tmpfs", MS_NOSUID | MS_NODEV, NULL) < 0)
        return err_set_errno(err, errno, "mount");
    return try_proc(directory, err);
}

int namespace_probe(const char *directory, struct err *err)
{
    struct err failure = ERR_INIT;
    int fds[2];
    int result = check_root(err);
    if (result < 0)
        return result;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_set_errno(err, errno, "cannot make a pipe");
    pid_t child = fork();
    if (child == 0) {
        (void)try_all(directory, &failure);
        _exit(write(fds[1], &failure, sizeof(failure)) == (ssize_t)sizeof(failure) ? 0 : 1);
    }
    int fork_error = errno;
    close(fds[1]);
    ssize_t got = child < 0 ? -1 : read(fds[0], &failure, sizeof(failure));
    close(fds[0]);
    if (child < 0)
        return err_set_errno(err, fork_error, "cannot fork");
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (got != (ssize_t)sizeof(failure)) /* for example, a seccomp filter has killed the child */
        return err_set(err, ERR_UNAVAILABLE, "a process that tries to create namespaces is killed");
    if (failure.code == ERR_NONE)
        return 0;
    *err = failure;
    return -(int)failure.code;
}
