/* Drops the privileges that the command must not have, when the sandbox is complete or was joined.
 * The default capabilities do not allow changes of mounts, so the machine's files stay read-only
 * for the sandbox's root. Containers of an ordinary user also get their own user namespace. It
 * locks every mount and makes runAsUser possible. */
#include "node/plan/capabilities.h"
#include "node/process/namespaces.h"
#include "node/step/step.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Creates a user namespace that maps one user and one group, and a mount namespace together with
 * it; otherwise the mounts would not be locked. */
static int privilege_enter_user_namespace(int64_t user, int64_t group, struct err *err)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return err_set_errno(err, errno, "cannot make the container's user namespace");
    return process_map_ids((struct id_map){.inside = user < 0 ? 0 : user, .outside = 0},
                           (struct id_map){.inside = group < 0 ? 0 : group, .outside = 0}, err);
}

static int privilege_become_user(const struct pod_spec *spec, const struct pod_container *container,
                                 struct err *err)
{
    gid_t gid = container->group < 0 ? 0 : (gid_t)container->group;
    uid_t uid = container->user < 0 ? 0 : (uid_t)container->user;
    gid_t groups[POD_GROUPS_MAX];
    for (size_t i = 0; i < spec->extra_group_count; i++)
        groups[i] = (gid_t)spec->extra_groups[i];
    if (setgroups(spec->extra_group_count, groups) < 0 || setresgid(gid, gid, gid) < 0 ||
        setresuid(uid, uid, uid) < 0)
        return err_set_errno(err, errno, "cannot become user %lld", (long long)container->user);
    return 0;
}

/* Limits the capabilities of programs that are executed later. This process keeps its own
 * capabilities until keep_capabilities(). */
static int bound_capabilities(uint64_t kept, struct err *err)
{
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++)
        if (!(kept & UINT64_C(1) << capability) && prctl(PR_CAPBSET_DROP, capability) < 0)
            return err_set_errno(err, errno, "cannot give up capability %d", capability);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return err_set_errno(err, errno, "cannot give up ambient capabilities");
    return 0;
}

static int keep_capabilities(uint64_t kept, struct err *err)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2], now[2];
    /* Only capabilities that the process has can be kept: trainyard itself may run in a container
     * that has fewer. */
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
    uint64_t kept =
        container->capabilities & capabilities_most(spec->nested, spec->network != NULL);
    int result = bound_capabilities(kept, err);
    if (result == 0 && !spec->nested)
        result = privilege_become_user(spec, container, err);
    if (result == 0)
        result = keep_capabilities(kept, err);
    if (result == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        result = err_set_errno(err, errno, "cannot set no_new_privs");
    if (result == 0 && !container->unconfined)
        result = step_seccomp_install(err);
    return result;
}

int step_privilege_drop(const struct pod_spec *spec, const struct pod_container *container,
                        struct err *err)
{
    int result =
        spec->nested ? privilege_enter_user_namespace(container->user, container->group, err) : 0;
    return result == 0 ? step_privilege_bound(spec, container, err) : result;
}
