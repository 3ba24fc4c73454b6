/* What holds a pod's processes together; see step/world.h. */
#include "node/step/world.h"

#include "node/process/strays.h"
#include "node/step/limits.h"

#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int step_world_enter(const struct pod_spec *spec, const char *directory, struct err *err)
{
    int result;
    if (spec->plain) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        strays_end_marked(directory, NULL, NULL); /* of a supervisor that was killed */
        return 0;
    }
    if ((result = step_network_enter(spec, err)) < 0 || (result = step_sysctls_set(spec, err)) < 0)
        return result;
    return step_memory_mount(spec, err);
}

pid_t step_world_fork(const struct pod_spec *spec)
{
    if (spec->plain)
        return fork();
    /* like fork(), but the child is the first of new namespaces */
    return (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Who is an ordinary user, or a root without the rights of one, has nothing to give up. */
static int give_up(const struct pod_spec *spec, const struct pod_container *container,
                   struct err *err)
{
    if (!spec->nested)
        return step_privilege_bound(spec, container, err);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set_errno(err, errno, "cannot renounce new privileges");
    return container->unconfined ? 0 : step_seccomp_install(err);
}

int step_world_build(const struct pod_spec *spec, const struct pod_container *container,
                     const char *mount_point, struct err *err)
{
    int result;
    if (spec->plain) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        return give_up(spec, container, err);
    }
    if ((result = step_root_enter(spec, container, mount_point, err)) < 0)
        return result;
    step_limits_shrink_memory_files(spec, container);
    if ((result = step_privilege_drop(spec, container, err)) < 0)
        return result;
    return step_limits_count_processes(spec, err);
}

int step_world_join(const struct pod_spec *spec, const struct pod_container *container,
                    int first_fd, struct err *err)
{
    if (spec->plain) {
        int result = give_up(spec, container, err);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return result;
    }
    if (setns(first_fd, CLONE_NEWNS | (spec->nested ? CLONE_NEWUSER : 0)) < 0)
        return err_set_errno(err, errno, "cannot join the container's namespaces");
    int result = step_privilege_bound(spec, container, err);
    return result < 0 ? result : step_limits_count_processes(spec, err);
}

/* Killed at once, the first process of a namespace takes the rest along. Without one it has to
 * hear of it and to end them. */
int step_world_orphan_signal(const struct pod_spec *spec)
{
    return spec->plain ? SIGRTMIN : SIGKILL;
}

void step_world_end(const struct pod_spec *spec)
{
    if (!spec->plain)
        return;
    strays_end_below(NULL, NULL);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* ---- in the supervisor ----------------------------------------------------------------------- */

struct choice {
    char mark[PATH_MAX];
    char own_program[PATH_MAX];
    const pid_t *others;
    size_t count;
};

static void read_program(const char *path, char ret[PATH_MAX])
{
    ssize_t size = readlink(path, ret, PATH_MAX - 1);
    ret[size > 0 ? size : 0] = '\0';
}

/* What is left of the container: its orphans, and commands run in it. One that is being born has no
 * mark yet, and is still our program. */
static bool is_of_container(void *context, pid_t top)
{
    const struct choice *choice = context;
    char mark[PATH_MAX], program[PATH_MAX], path[64];
    for (size_t i = 0; i < choice->count; i++)
        if (choice->others[i] == top)
            return false;
    strays_mark_of(top, mark, sizeof(mark));
    if (mark[0])
        return str_eq(mark, choice->mark);
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)top);
    read_program(path, program);
    return !str_eq(program, choice->own_program);
}

void step_world_container_ended(const struct pod_spec *spec, const char *directory,
                                const char *container, const pid_t *others, size_t count)
{
    struct choice choice = {.others = others, .count = count};
    if (!spec->plain)
        return;
    snprintf(choice.mark, sizeof(choice.mark), "%s/%s", directory, container);
    read_program("/proc/self/exe", choice.own_program);
    strays_end_below(is_of_container, &choice);
}
