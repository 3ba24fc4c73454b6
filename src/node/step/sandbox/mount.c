/* Makes the mounts of the sandbox; see step/sandbox/mount.h. */
#include "node/step/sandbox/mount.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A directory with more than LAYER_ENTRIES_MAX entries does not get a layer, because each entry
 * costs a mount. OPEN_TRIES limits the attempts of open_below(). */
enum { LAYER_ENTRIES_MAX = 4096, OPEN_TRIES = 1000 };

static int set_attributes(int fd, unsigned long long attributes, bool recursive)
{
    struct mount_attr attr = {.attr_set = attributes};
    return mount_setattr(fd, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &attr,
                         sizeof(attr));
}

int mount_clone(int directory_fd, const char *path, bool read_only, int *ret_fd, struct err *err)
{
    _cleanup_fd_ int fd = open_tree(directory_fd, path,
                                    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
                                        AT_SYMLINK_NOFOLLOW | (path[0] ? 0 : AT_EMPTY_PATH));
    if (fd < 0 ||
        set_attributes(fd,
                       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (read_only ? MOUNT_ATTR_RDONLY : 0),
                       true) < 0)
        return err_set_errno(err, errno, "cannot clone the mount of '%s'", path);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* Opens `sub_path` and creates its missing directories, one component at a time. Never follows a
 * link: the pod can write below the source, and must not redirect this process to other
 * directories. Returns a descriptor, or -1 and sets errno. */
static int make_below(int base, const char *sub_path)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                                 .resolve =
                                     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    _cleanup_free_ char *path = mem_strdup(sub_path);
    int at = dup(base);
    char *rest = path;
    for (char *name; at >= 0 && (name = strsep(&rest, "/"));) {
        if (!name[0] || str_eq(name, "."))
            continue;
        int next = (int)syscall(SYS_openat2, at, name, &how, sizeof(how));
        if (next < 0 && errno == ENOENT && mkdirat(at, name, 0777) == 0)
            next = (int)syscall(SYS_openat2, at, name, &how, sizeof(how));
        close(at);
        at = next;
    }
    return at;
}

/* Opens `sub_path`. Follows links that stay below the source, like those of a config map's files.
 * The kernel checks this while it resolves the path, so the pod cannot replace a component after
 * the check. */
static int open_below(int base, const char *sub_path, int *ret_fd, struct err *err)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int at = -1, left = OPEN_TRIES;
    do { /* with ".." in the path the kernel returns EAGAIN after a concurrent rename */
        at = (int)syscall(SYS_openat2, base, sub_path, &how, sizeof(how));
    } while (at < 0 && errno == EAGAIN && --left > 0);
    if (at < 0 && errno == ENOENT)
        at = make_below(base, sub_path);
    if (at < 0)
        return err_set_errno(err, errno, "cannot use subPath '%s'", sub_path);
    *ret_fd = at;
    return 0;
}

/* Returns the path of an open file, as the kernel knows it. */
static int read_path(int fd, char **ret, struct err *err)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof(path));
    if (size < 0 || (size_t)size == sizeof(path))
        return err_set_errno(err, size < 0 ? errno : ENAMETOOLONG, "cannot read its path");
    *ret = mem_strndup(path, (size_t)size);
    return 0;
}

/* Opens the source of a volume and refuses links in its path. The planner has resolved the links. A
 * link that exists now was created later, perhaps by a pod that can write to a directory above, and
 * may lead to a path that the planner refuses. */
static int open_source(const char *source, int *ret_fd, struct err *err)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, source, &how, sizeof(how));
    if (fd < 0 && errno == ELOOP)
        return err_set(err, ERR_FORBIDDEN,
                       "cannot open volume '%s': a symbolic link was put into this path after the "
                       "pod was created; remove the link, or create the pod again",
                       source);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open volume '%s'", source);
    *ret_fd = fd;
    return 0;
}

int mount_clone_volume(const struct pod_mount *mount, int *ret_fd, char **ret_path, struct err *err)
{
    _cleanup_free_ char *path = NULL;
    _cleanup_fd_ int base = -1, tree = -1;
    int result = open_source(mount->source, &base, err);
    if (result < 0)
        return result;
    if (mount->sub_path) {
        int below = -1;
        if ((result = open_below(base, mount->sub_path, &below, err)) < 0)
            return result;
        close(base);
        base = below;
    }
    result = mount_clone(base, "", mount->read_only && !mount->only_top, &tree, err);
    if (result == 0 && mount->read_only && set_attributes(tree, MOUNT_ATTR_RDONLY, false) < 0)
        result = err_set_errno(err, errno, "cannot make it read-only");
    if (result == 0)
        result = read_path(base, &path, err);
    if (result < 0)
        return err_wrap(err, "volume '%s'", mount->source);
    *ret_path = TAKE(path);
    *ret_fd = TAKE_FD(tree);
    return 0;
}

int mount_attach(int tree_fd, const char *target, struct err *err)
{
    if (move_mount(tree_fd, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return err_set_errno(err, errno, "cannot mount at '%s'", target);
    return 0;
}

int mount_memory(const char *target, unsigned long flags, const char *options, struct err *err)
{
    if (mount("tmpfs", target, "tmpfs", flags | MS_NOSUID | MS_NODEV, options) < 0)
        return err_set_errno(err, errno, "cannot mount memory at '%s'", target);
    return 0;
}

int mount_read_only(const char *target, struct err *err)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    if (mount_setattr(AT_FDCWD, target, 0, &attr, sizeof(attr)) < 0)
        return err_set_errno(err, errno, "cannot make '%s' read-only", target);
    return 0;
}

static bool mount_is_one_of(const char *name, const char *const *list)
{
    for (; list && *list; list++)
        if (str_eq(name, *list))
            return true;
    return false;
}

/* Makes one entry of the directory `covered` visible in the layer, which is the working directory.
 */
static int show_entry(int covered, const char *name, struct err *err)
{
    struct stat info;
    if (fstatat(covered, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return 0; /* removed meanwhile */
    if (S_ISLNK(info.st_mode)) {
        char link[4096];
        ssize_t size = readlinkat(covered, name, link, sizeof(link) - 1);
        if (size < 0)
            return 0;
        link[size] = '\0';
        return symlink(link, name) < 0 ? err_set_errno(err, errno, "cannot link '%s'", name) : 0;
    }
    int made = S_ISDIR(info.st_mode) ? mkdir(name, 0755) : mknod(name, S_IFREG | 0644, 0);
    if (made < 0)
        return err_set_errno(err, errno, "cannot make '%s'", name);
    _cleanup_fd_ int tree = -1;
    /* An entry that this user may not clone stays an empty mount point. */
    if (mount_clone(covered, name, true, &tree, err) < 0)
        return 0;
    return mount_attach(tree, name, err);
}

static int layers_check_room(const struct mount_layers *layers, struct err *err)
{
    return layers->count < MOUNT_LAYERS_MAX
               ? 0
               : err_set(err, ERR_TOO_MANY, "too many mount paths lie in read-only directories");
}

int mount_layer_over(struct mount_layers *layers, const char *directory, const char *const *without,
                     struct err *err)
{
    int result = layers_check_room(layers, err);
    if (result < 0)
        return result;
    _cleanup_fd_ int covered = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (covered < 0)
        return err_set_errno(err, errno, "cannot open '%s'", directory);
    if ((result = mount_memory(directory, 0, "mode=0755", err)) < 0)
        return result;
    _cleanup_fd_ int layer = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (layer < 0 || fchdir(layer) < 0)
        return err_set_errno(err, errno, "cannot open the layer over '%s'", directory);

    DIR *entries = fdopendir(dup(covered));
    if (!entries)
        return err_set_errno(err, errno, "cannot list '%s'", directory);
    size_t shown = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(entries));) {
        const char *name = entry->d_name;
        if (str_eq(name, ".") || str_eq(name, "..") || mount_is_one_of(name, without))
            continue;
        result = ++shown > LAYER_ENTRIES_MAX
                     ? err_set(err, ERR_TOO_MANY, "'%s' has more than %d entries", directory,
                               LAYER_ENTRIES_MAX)
                     : show_entry(covered, name, err);
    }
    closedir(entries);
    if (chdir("/") < 0 && result == 0)
        result = err_set_errno(err, errno, "cannot change to '/'");
    if (result == 0)
        layers->fds[layers->count++] = TAKE_FD(layer);
    return result;
}

static int make_mount_point(const char *path, bool directory)
{
    return directory ? mkdir(path, 0755) : mknod(path, S_IFREG | 0644, 0);
}

int mount_make_target(struct mount_layers *layers, const char *target, bool directory,
                      struct err *err)
{
    _cleanup_free_ char *path = mem_strdup(target);
    for (char *at = path + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        bool last = *at == '\0';
        *at = '\0';
        bool as_directory = directory || !last;
        if (access(path, F_OK) < 0 && make_mount_point(path, as_directory) < 0) {
            if (errno != EROFS && errno != EACCES && errno != EPERM)
                return err_set_errno(err, errno, "cannot make mount path '%s'", path);
            char *slash = strrchr(path, '/');
            *slash = '\0';
            int result = mount_layer_over(layers, slash == path ? "/" : path, NULL, err);
            *slash = '/';
            if (result < 0)
                return err_wrap(err, "cannot make mount path '%s'", target);
            if (make_mount_point(path, as_directory) < 0)
                return err_set_errno(err, errno, "cannot make mount path '%s'", path);
        }
        if (last)
            return 0;
        *at = '/';
    }
}

int mount_layers_add(struct mount_layers *layers, const char *directory, struct err *err)
{
    int result = layers_check_room(layers, err);
    if (result < 0)
        return result;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open '%s'", directory);
    layers->fds[layers->count++] = fd;
    return 0;
}

int mount_layers_make_read_only(struct mount_layers *layers, struct err *err)
{
    int result = 0;
    for (int i = 0; i < layers->count; i++) {
        if (result == 0 && set_attributes(layers->fds[i], MOUNT_ATTR_RDONLY, false) < 0)
            result = err_set_errno(err, errno, "cannot make a directory read-only again");
        close(layers->fds[i]);
    }
    layers->count = 0;
    return result;
}
