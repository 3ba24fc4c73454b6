/* A root of the container's own; see step/image.h. */
#include "node/step/image.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/step/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_place(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Through descriptors: a path may hold what separates the options of a mount. */
static int mount_overlay(int lower, const char *layer, bool nested, const char *mount_point)
{
    _cleanup_free_ char *upper_path = mem_printf("%s/upper", layer);
    _cleanup_free_ char *work_path = mem_printf("%s/work", layer);
    if (mkdir(upper_path, 0755) < 0 || mkdir(work_path, 0700) < 0)
        return -1;
    _cleanup_fd_ int upper = open_place(upper_path), work = open_place(work_path);
    if (upper < 0 || work < 0)
        return -1;
    char options[256];
    /* An ordinary user may not write the attributes that overlays keep their notes in, but others
     * in their place. */
    snprintf(options, sizeof(options),
             "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d%s",
             lower, upper, work, nested ? ",userxattr" : "");
    return mount("overlay", mount_point, "overlay", MS_NOSUID | MS_NODEV, options);
}

static int make_layer(const char *layer, struct err *err)
{
    int result = file_remove_tree(layer, err); /* of the run before */
    return result < 0 ? result : file_make_dirs(layer, 0700, err);
}

int step_image_mount(const struct pod_spec *spec, const struct pod_container *container,
                     const char *mount_point, bool *ret_writable, struct err *err)
{
    _cleanup_fd_ int lower = open_place(container->root), tree = -1;
    if (lower < 0)
        return err_set_errno(err, errno, "the image's files are gone from '%s'", container->root);
    int result = make_layer(container->layer, err);
    if (result < 0)
        return result;
    *ret_writable = mount_overlay(lower, container->layer, spec->nested, mount_point) == 0;
    if (!*ret_writable && mount_memory(container->layer, 0, "mode=0700", err) == 0)
        *ret_writable = mount_overlay(lower, container->layer, spec->nested, mount_point) == 0;
    if (*ret_writable)
        return 0;
    if ((result = mount_clone(lower, "", true, &tree, err)) < 0)
        return result;
    return mount_attach(tree, mount_point, err);
}

/* The image is a stranger's: a link there would have us mount where it leads. */
static int require_directory(const char *name, mode_t mode, bool writable, struct err *err)
{
    struct stat info;
    if (lstat(name, &info) == 0 && S_ISDIR(info.st_mode))
        return 0;
    if (!writable)
        return err_set(err, ERR_UNSUPPORTED,
                       "the image has no directory '/%s', and none can be made: the kernel refuses "
                       "overlays here",
                       name);
    if ((unlink(name) < 0 && errno != ENOENT) || mkdir(name, mode) < 0)
        return err_set_errno(err, errno, "cannot make '/%s'", name);
    return 0;
}

int step_image_prepare(bool writable, struct err *err)
{
    static const struct {
        const char *name;
        mode_t mode;
    } DIRECTORIES[] = {{"proc", 0555}, {"sys", 0555},  {"dev", 0755},
                       {"run", 0755},  {"tmp", 01777}, {"etc", 0755}};
    for (size_t i = 0; i < ARRAY_SIZE(DIRECTORIES); i++) {
        int result = require_directory(DIRECTORIES[i].name, DIRECTORIES[i].mode, writable, err);
        if (result < 0)
            return result;
    }
    return 0;
}

static int replace_file(const char *path, const char *content, struct err *err)
{
    if (unlink(path) < 0 && errno != ENOENT)
        return err_set_errno(err, errno, "cannot replace '%s'", path);
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    return file_write_all(fd, content, strlen(content), err);
}

int step_image_write_names(const struct pod_spec *spec, struct err *err)
{
    _cleanup_free_ char *hostname = mem_printf("%s\n", spec->hostname);
    int result = replace_file("/etc/hostname", hostname, err);
    if (result == 0 && spec->hosts)
        result = replace_file("/etc/hosts", spec->hosts, err);
    if (result == 0 && spec->resolv_conf)
        result = replace_file("/etc/resolv.conf", spec->resolv_conf, err);
    return result;
}
