/* Makes the directory for files that a container writes; see step/sandbox/layer.h. */
#include "node/step/sandbox/layer.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

int step_layer_make(const struct pod_container *container, struct err *err)
{
    int result = file_remove_tree(container->layer, err);
    return result < 0 ? result : file_make_dirs(container->layer, 0700, err);
}

/* Uses descriptors, because a path may contain characters that separate mount options. */
int step_layer_mount(const struct pod_spec *spec, const struct pod_container *container, int lower,
                     const char *mount_point)
{
    _cleanup_free_ char *upper_path = mem_printf("%s/upper", container->layer);
    _cleanup_free_ char *work_path = mem_printf("%s/work", container->layer);
    if (mkdir(upper_path, 0755) < 0 || mkdir(work_path, 0700) < 0)
        return -1;
    _cleanup_fd_ int upper = open(upper_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_fd_ int work = open(work_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (upper < 0 || work < 0)
        return -1;
    char options[256];
    /* An ordinary user may not write the trusted.* attributes in which overlays store their data.
     * With userxattr, overlays use user.* attributes instead. */
    snprintf(options, sizeof(options),
             "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d%s",
             lower, upper, work, spec->nested ? ",userxattr" : "");
    return mount("overlay", mount_point, "overlay", MS_NOSUID | MS_NODEV, options);
}
