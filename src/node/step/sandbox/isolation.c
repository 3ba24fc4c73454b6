/* Implements pods with and without namespaces; see step/sandbox/isolation.h. */
#include "node/step/sandbox/isolation.h"

#include "node/process/orphans.h"
#include "node/step/sandbox/layer.h"
#include "node/step/sandbox/limits.h"

#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int step_isolation_enter(const struct pod_spec *spec, const char *directory, struct err *err)
{
    int result;
    if (spec->plain) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        orphans_end_marked(directory, NULL, NULL); /* left by a supervisor that was killed */
        return 0;
    }
    if ((result = step_network_enter(spec, err)) < 0 || (result = step_sysctls_set(spec, err)) < 0)
        return result;
    return step_memory_mount(spec, err);
}

pid_t step_isolation_fork(const struct pod_spec *spec)
{
    if (spec->plain)
        return fork();
    /* like fork(), but the child is the first process of new namespaces */
    return (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Drops privileges in a pod without namespaces. With `nested` (an ordinary user, or a root without
 * privileges) there are none to drop. */
static int isolation_drop_privileges(const struct pod_spec *spec,
                                     const struct pod_container *container, struct err *err)
{
    if (!spec->nested)
        return step_privilege_bound(spec, container, err);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set_errno(err, errno, "cannot set no_new_privs");
    return container->unconfined ? 0 : step_seccomp_install(err);
}

int step_isolation_build(const struct pod_spec *spec, const struct pod_container *container,
                         const char *mount_point, struct err *err)
{
    int result;
    if (spec->plain) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (container->layer && (result = step_layer_make(container, err)) < 0)
            return result;
        return isolation_drop_privileges(spec, container, err);
    }
    if ((result = step_root_enter(spec, container, mount_point, err)) < 0)
        return result;
    step_limits_shrink_memory_files(spec, container);
    if ((result = step_privilege_drop(spec, container, err)) < 0)
        return result;
    return step_limits_set_process_count(spec, err);
}

int step_isolation_join(const struct pod_spec *spec, const struct pod_container *container,
                        int first_fd, struct err *err)
{
    if (spec->plain) {
        int result = isolation_drop_privileges(spec, container, err);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return result;
    }
    if (setns(first_fd, CLONE_NEWNS | (spec->nested ? CLONE_NEWUSER : 0)) < 0)
        return err_set_errno(err, errno, "cannot join the container's namespaces");
    int result = step_privilege_bound(spec, container, err);
    return result < 0 ? result : step_limits_set_process_count(spec, err);
}

/* When the first process of a PID namespace is killed, the kernel kills the other processes.
 * Without a namespace the first process must kill them, so it gets a signal that it can handle. */
int step_isolation_orphan_signal(const struct pod_spec *spec)
{
    return spec->plain ? SIGRTMIN : SIGKILL;
}

void step_isolation_end(const struct pod_spec *spec)
{
    if (!spec->plain)
        return;
    orphans_end_below(NULL, NULL);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* ---- in the supervisor ----------------------------------------------------------------------- */

struct container_filter {
    char mark[PATH_MAX];
    const pid_t *others;
    size_t count;
};

/* Selects every process that does not belong to another container, including orphans. Processes of
 * other containers are the supervisor's children in `others`, and orphans with the mark of another
 * container. */
static bool is_of_container(void *context, pid_t top)
{
    const struct container_filter *filter = context;
    char mark[PATH_MAX];
    for (size_t i = 0; i < filter->count; i++)
        if (filter->others[i] == top)
            return false;
    orphans_mark_of(top, mark, sizeof(mark));
    return !mark[0] || str_eq(mark, filter->mark);
}

void step_isolation_container_ended(const struct pod_spec *spec, const char *directory,
                                    const char *container, const pid_t *others, size_t count)
{
    struct container_filter filter = {.others = others, .count = count};
    if (!spec->plain)
        return;
    snprintf(filter.mark, sizeof(filter.mark), "%s/%s", directory, container);
    orphans_end_below(is_of_container, &filter);
}
