/* Mounts a root file system from an image; see step/sandbox/image.h. */
#include "node/step/sandbox/image.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/step/sandbox/layer.h"
#include "node/step/sandbox/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

int step_image_mount(const struct pod_spec *spec, const struct pod_container *container,
                     const char *mount_point, bool *ret_writable, struct err *err)
{
    _cleanup_fd_ int lower = open(container->root, O_PATH | O_DIRECTORY | O_CLOEXEC), tree = -1;
    if (lower < 0)
        return err_set_errno(err, errno, "the image's files are gone from '%s'", container->root);
    int result = step_layer_make(container, err);
    if (result < 0)
        return result;
    *ret_writable = step_layer_mount(spec, container, lower, mount_point) == 0;
    if (!*ret_writable && mount_memory(container->layer, 0, "mode=0700", err) == 0)
        *ret_writable = step_layer_mount(spec, container, lower, mount_point) == 0;
    if (*ret_writable)
        return 0;
    if ((result = mount_clone(lower, "", true, &tree, err)) < 0)
        return result;
    return mount_attach(tree, mount_point, err);
}

/* Makes sure that `name` is a directory. The image is untrusted: a link in it would redirect a
 * mount. */
static int require_directory(const char *name, mode_t mode, bool writable, struct err *err)
{
    struct stat info;
    if (lstat(name, &info) == 0 && S_ISDIR(info.st_mode))
        return 0;
    if (!writable)
        return err_set(err, ERR_UNSUPPORTED,
                       "the image has no directory '/%s', and it cannot be created, because the "
                       "kernel refuses overlay mounts here",
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
