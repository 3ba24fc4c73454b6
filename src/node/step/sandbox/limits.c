/* Sets the limits of a pod and its containers; see step/sandbox/limits.h. */
#include "node/step/sandbox/limits.h"

#include "base/mem.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

int step_limits_begin_pod(const struct pod_spec *spec, struct err *err)
{
    int result = cgroup_make(&spec->groups, NULL, err);
    return result < 0 ? result : cgroup_limit(&spec->groups, NULL, &spec->limits, err);
}

static void remove_group(const struct pod_spec *spec, const char *container)
{
    struct err err = ERR_INIT;
    if (cgroup_remove(&spec->groups, container, &err) < 0)
        fprintf(stderr, "%s\n", err.message);
}

void step_limits_end_pod(const struct pod_spec *spec)
{
    remove_group(spec, NULL);
}

int step_limits_begin(const struct pod_spec *spec, const struct pod_container *container,
                      struct err *err)
{
    remove_group(spec, container->name); /* left by a supervisor that was killed */
    int result = cgroup_make(&spec->groups, container->name, err);
    return result < 0 ? result
                      : cgroup_limit(&spec->groups, container->name, &container->limits, err);
}

bool step_limits_end(const struct pod_spec *spec, const struct pod_container *container)
{
    bool out_of_memory = cgroup_oom_kills(&spec->groups, container->name) > 0;
    remove_group(spec, container->name);
    return out_of_memory;
}

int step_limits_enter(const struct pod_spec *spec, const struct pod_container *container,
                      struct err *err)
{
    return cgroup_enter(&spec->groups, container->name, err);
}

void step_limits_shrink_memory_files(const struct pod_spec *spec,
                                     const struct pod_container *container)
{
    static const struct {
        const char *path;
        unsigned long flags;
    } PLACES[] = {{"/tmp", 0}, {"/var/tmp", 0}, {"/run", 0}};
    if (!container->limits.memory_bytes || cgroup_controllers(&spec->groups) & CGROUP_MEMORY)
        return;
    char options[48];
    snprintf(options, sizeof(options), "size=%lld", (long long)container->limits.memory_bytes);
    /* Only a tmpfs is changed. A path may be something else, such as a volume. */
    for (size_t i = 0; i < ARRAY_SIZE(PLACES); i++) {
        struct statfs file_system;
        if (statfs(PLACES[i].path, &file_system) == 0 && file_system.f_type == TMPFS_MAGIC)
            (void)mount(NULL, PLACES[i].path, NULL,
                        MS_REMOUNT | MS_NOSUID | MS_NODEV | PLACES[i].flags, options);
    }
}

static bool kernel_is_at_least(int major, int minor)
{
    struct utsname system;
    int have_major = 0, have_minor = 0;
    return uname(&system) == 0 && sscanf(system.release, "%d.%d", &have_major, &have_minor) == 2 &&
           (have_major > major || (have_major == major && have_minor >= minor));
}

/* Since Linux 5.14 the kernel counts a user's processes per user namespace. Older kernels count all
 * processes of the user, so a limit for one container would be wrong. The kernel does not enforce
 * this limit for root, so it is set only with `nested`. */
int step_limits_set_process_count(const struct pod_spec *spec, struct err *err)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)spec->limits.pids;
    if (!spec->nested || !wanted || cgroup_controllers(&spec->groups) & CGROUP_PIDS ||
        !kernel_is_at_least(5, 14))
        return 0;
    if (getrlimit(RLIMIT_NPROC, &limit) < 0)
        return err_set_errno(err, errno, "cannot read the limit of processes");
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < wanted)
        wanted = limit.rlim_max;
    limit = (struct rlimit){wanted, wanted};
    if (setrlimit(RLIMIT_NPROC, &limit) < 0)
        return err_set_errno(err, errno, "cannot limit the number of processes");
    return 0;
}
