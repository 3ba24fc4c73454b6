/* Mounts the pod's volumes in memory and its /dev/shm, when the supervisor starts
 * (step/sandbox/isolation.c). The containers of a pod share these file systems, but each container
 * has its own mount namespace. So the supervisor mounts them in a mount namespace of its own, and
 * containers bind-mount them like any directory. New mounts of the machine still appear in that
 * namespace. The file systems are not visible on the machine and end with the supervisor. */
#include "node/step/sandbox/mount.h"
#include "node/step/step.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int mount_one(const struct pod_memory *memory, struct err *err)
{
    char options[64] = "mode=0777";
    if (memory->size > 0)
        snprintf(options, sizeof(options), "mode=0777,size=%lld", (long long)memory->size);
    int result = mount_memory(memory->path, 0, options, err);
    if (result == 0 && memory->group >= 0 &&
        (chown(memory->path, (uid_t)-1, (gid_t)memory->group) < 0 ||
         chmod(memory->path, 02777) < 0))
        result =
            err_set_errno(err, errno, "cannot make '%s' accessible to its group", memory->path);
    return result;
}

/* Mounts /dev/shm. If the pod has a memory limit that no control group enforces, that limit is the
 * size of /dev/shm; otherwise the size is the kernel's default. */
static int mount_shm(const struct pod_spec *spec, struct err *err)
{
    char options[64] = "mode=1777";
    int64_t limit = spec->limits.memory_bytes;
    if (limit && !(cgroup_controllers(&spec->groups) & CGROUP_MEMORY))
        snprintf(options, sizeof(options), "mode=1777,size=%lld", (long long)limit);
    return mount_memory(spec->shm, MS_NOEXEC, options, err);
}

int step_memory_mount(const struct pod_spec *spec, struct err *err)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return err_set_errno(err, errno, "cannot make a mount namespace for memory volumes");
    int result = spec->machine_ipc ? 0 : mount_shm(spec, err);
    for (size_t i = 0; result == 0 && i < spec->memory_count; i++)
        result = mount_one(&spec->memories[i], err);
    return result;
}
