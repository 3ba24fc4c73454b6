/* The last thing before the command runs: giving up privilege. The capabilities kept are those
 * other container runtimes keep by default, less mknod; none can change a mount, so the read-only
 * machine stays read-only for the sandbox's root. An ordinary user's containers get a user
 * namespace of their own besides: it locks every mount and is what gives runAsUser. */
#include "node/step.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int KEPT[] = {CAP_CHOWN,   CAP_DAC_OVERRIDE, CAP_FOWNER,     CAP_FSETID,
                           CAP_KILL,    CAP_SETGID,       CAP_SETUID,     CAP_SETPCAP,
                           CAP_SETFCAP, CAP_NET_RAW,      CAP_SYS_CHROOT, CAP_NET_BIND_SERVICE};

/* With its own mount namespace, or the mounts would not be locked. */
static int nest(int64_t user, int64_t group, struct err *err)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return err_set_errno(err, errno, "cannot make the container's user namespace");
    char map[64];
    int result = file_write_into("/proc/self/setgroups", "deny", err);
    snprintf(map, sizeof(map), "%lld 0 1\n", (long long)(user < 0 ? 0 : user));
    if (result == 0)
        result = file_write_into("/proc/self/uid_map", map, err);
    snprintf(map, sizeof(map), "%lld 0 1\n", (long long)(group < 0 ? 0 : group));
    if (result == 0)
        result = file_write_into("/proc/self/gid_map", map, err);
    return result;
}

static int become(int64_t user, int64_t group, struct err *err)
{
    gid_t gid = group < 0 ? 0 : (gid_t)group;
    uid_t uid = user < 0 ? 0 : (uid_t)user;
    if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
        return err_set_errno(err, errno, "cannot become user %lld", (long long)user);
    return 0;
}

static int bound_capabilities(struct err *err)
{
    uint64_t kept = 0;
    for (size_t i = 0; i < ARRAY_SIZE(KEPT); i++)
        kept |= UINT64_C(1) << KEPT[i];
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++)
        if (!(kept & UINT64_C(1) << capability) && prctl(PR_CAPBSET_DROP, capability) < 0)
            return err_set_errno(err, errno, "cannot give up capability %d", capability);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return err_set_errno(err, errno, "cannot give up ambient capabilities");
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2], now[2];
    /* Only what is there can be kept: we may run in a container that has less. */
    if (syscall(SYS_capget, &header, now) < 0)
        return err_set_errno(err, errno, "cannot read capabilities");
    for (int word = 0; word < 2; word++) {
        uint32_t wanted = (uint32_t)(kept >> (32 * word)) & now[word].permitted;
        data[word] = (struct __user_cap_data_struct){.effective = wanted, .permitted = wanted};
    }
    if (syscall(SYS_capset, &header, data) < 0)
        return err_set_errno(err, errno, "cannot set capabilities");
    return 0;
}

int step_privilege_bound(const struct pod_spec *spec, const struct pod_container *container,
                         struct err *err)
{
    int result = bound_capabilities(err);
    if (result == 0 && !spec->nested)
        result = become(container->user, container->group, err);
    if (result == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        result = err_set_errno(err, errno, "cannot renounce new privileges");
    return result;
}

int step_privilege_drop(const struct pod_spec *spec, const struct pod_container *container,
                        struct err *err)
{
    int result = spec->nested ? nest(container->user, container->group, err) : 0;
    return result == 0 ? step_privilege_bound(spec, container, err) : result;
}
