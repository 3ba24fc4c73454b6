/* Builds the root file system of a container. By default the root shows the machine's entries
 * read-only; /proc, /sys, /dev, /run and /tmp are new, and secrets of the machine's user are
 * masked. If the container's image has files, the root shows them instead of the machine's. /etc
 * has the pod's hosts, hostname and resolv.conf, and volumes are at their mount paths. This code
 * runs in the sandbox's first process and never changes the machine's mounts. */
#include "node/image/table.h"
#include "node/plan/python.h"
#include "node/pod/secrets.h"
#include "node/process/mount_info.h"
#include "node/step/sandbox/host_root.h"
#include "node/step/sandbox/image.h"
#include "node/step/sandbox/mount.h"
#include "node/step/step.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOUNTS_TEXT_MAX = 64 << 20 };

static int bind_device(const char *from, struct err *err)
{
    if (mknod(from + 1, S_IFREG | 0666, 0) < 0 || mount(from, from + 1, NULL, MS_BIND, NULL) < 0)
        return err_set_errno(err, errno, "cannot provide '%s' in the pod", from);
    return 0;
}

/* Mounts the /dev/shm that the containers of a pod share. */
static int mount_shm(const struct pod_spec *spec, struct err *err)
{
    _cleanup_fd_ int tree = -1;
    int result = mount_clone(AT_FDCWD, spec->shm, false, &tree, err);
    return result < 0 ? result : mount_attach(tree, "dev/shm", err);
}

static int mount_devices(const struct pod_spec *spec, const struct pod_container *container,
                         struct err *err)
{
    static const char *const DEVICES[] = {"null", "zero", "full", "random", "urandom", "tty"};
    static const char *const LINKS[][2] = {{"/proc/self/fd", "dev/fd"},
                                           {"/proc/self/fd/0", "dev/stdin"},
                                           {"/proc/self/fd/1", "dev/stdout"},
                                           {"/proc/self/fd/2", "dev/stderr"},
                                           {"pts/ptmx", "dev/ptmx"}};
    int result = mount_memory("dev", MS_NOEXEC, "mode=0755", err);
    if (result < 0)
        return result;
    for (size_t i = 0; i < ARRAY_SIZE(DEVICES); i++) {
        char from[32];
        snprintf(from, sizeof(from), "/dev/%s", DEVICES[i]);
        if ((result = bind_device(from, err)) < 0)
            return result;
    }
    for (size_t i = 0; i < container->devices.count; i++)
        if ((result = bind_device(container->devices.items[i], err)) < 0)
            return result;
    for (size_t i = 0; i < ARRAY_SIZE(LINKS); i++)
        if (symlink(LINKS[i][0], LINKS[i][1]) < 0)
            return err_set_errno(err, errno, "cannot link '/%s'", LINKS[i][1]);
    if (mkdir("dev/pts", 0755) < 0 || mkdir("dev/shm", 01777) < 0 ||
        mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=0620") < 0)
        return err_set_errno(err, errno, "cannot provide '/dev/pts' in the pod");
    return mount_shm(spec, err);
}

/* Mounts /proc. Some parts are read-only, as in other container runtimes, because the container's
 * root could leave the sandbox through them. */
static int mount_proc(struct err *err)
{
    static const char *const CLOSED[] = {"proc/sys", "proc/irq", "proc/bus", "proc/fs",
                                         "proc/sysrq-trigger"};
    static const char *const HIDDEN[] = {"proc/kcore", "proc/keys", "proc/timer_list",
                                         "proc/latency_stats"};
    if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return err_set_errno(err, errno,
                             "cannot mount a new /proc (if Trainyard runs in a container, start "
                             "that container with an unmasked /proc)");
    for (size_t i = 0; i < ARRAY_SIZE(CLOSED); i++) {
        int tree;
        if (access(CLOSED[i], F_OK) < 0)
            continue;
        int result = mount_clone(AT_FDCWD, CLOSED[i], true, &tree, err);
        if (result == 0) {
            result = mount_attach(tree, CLOSED[i], err);
            close(tree);
        }
        if (result < 0)
            return result;
    }
    for (size_t i = 0; i < ARRAY_SIZE(HIDDEN); i++)
        if (access(HIDDEN[i], F_OK) == 0 && mount("/dev/null", HIDDEN[i], NULL, MS_BIND, NULL) < 0)
            return err_set_errno(err, errno, "cannot hide '/%s'", HIDDEN[i]);
    return 0;
}

static int mount_sys(struct err *err)
{
    if (mount("sysfs", "sys", "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0)
        return 0;
    /* The kernel may refuse a new sysfs in a pod with the machine's network (hostNetwork), or if
     * something is mounted over /sys. Then the machine's /sys is shown, or nothing if it cannot be
     * cloned. */
    _cleanup_fd_ int tree = -1;
    if (mount_clone(AT_FDCWD, "/sys", true, &tree, err) < 0)
        return 0;
    return mount_attach(tree, "sys", err);
}

static int show_image(const struct pod_spec *spec, const struct pod_container *container,
                      const char *mount_point, bool *ret_writable, struct err *err)
{
    int result = step_image_mount(spec, container, mount_point, ret_writable, err);
    if (result < 0)
        return result;
    if (chdir(mount_point) < 0)
        return err_set_errno(err, errno, "cannot change to '%s'", mount_point);
    return step_image_prepare(*ret_writable, err);
}

/* Mounts /proc, /sys and /dev in the working directory and makes it the root. */
static int enter_root(const struct pod_spec *spec, const struct pod_container *container,
                      struct err *err)
{
    int result;
    /* Must run while the machine's /proc and /sys are still visible: only then does the kernel
     * allow an ordinary user to mount new ones. */
    if ((result = mount_proc(err)) < 0 || (result = mount_sys(err)) < 0 ||
        (result = mount_devices(spec, container, err)) < 0)
        return result;
    if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return err_set_errno(err, errno, "cannot change the root");
    return 0;
}

static int root_write_file(const char *path, const char *content, mode_t mode, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    return file_write_all(fd, content, strlen(content), err);
}

static int write_names(const struct pod_spec *spec, const char *directory, struct err *err)
{
    _cleanup_free_ char *hostname = mem_printf("%s\n", spec->hostname);
    const struct {
        const char *name, *content;
        mode_t mode;
    } files[] = {
        {"hostname", hostname, 0644},
        {"hosts", spec->hosts, 0644},
        {"resolv.conf", spec->resolv_conf, 0644},
        {"shadow", "", 0600}, /* empty, because the container's root may be the machine's root,
                                 which can read the machine's file */
        {"gshadow", "", 0600},
    };
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        if (!files[i].content)
            continue;
        char path[64];
        snprintf(path, sizeof(path), "%s/%s", directory, files[i].name);
        int result = root_write_file(path, files[i].content, files[i].mode, err);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Puts the pod's own hosts, hostname and resolv.conf into /etc. They cannot be mounted one by
 * one, because each file may be missing on the machine or be a symbolic link. So an overlay shows
 * the pod's files instead of the machine's. If the kernel refuses the overlay (something is mounted
 * below /etc), a layer does the same with more mounts. */
static int mount_etc(const struct pod_spec *spec, struct mount_layers *layers, struct err *err)
{
    int result = mount_memory("/run", 0, "mode=0755", err);
    if (result < 0)
        return result;
    if (mkdir("/run/etc", 0755) < 0)
        return err_set_errno(err, errno, "cannot make '/run/etc'");
    if ((result = write_names(spec, "/run/etc", err)) < 0)
        return result;
    bool done = mount("overlay", "/etc", "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV,
                      "lowerdir=/run/etc:/etc") == 0;
    umount2("/run", MNT_DETACH); /* the overlay keeps a reference to the file system */
    if (done)
        return 0;
    const char *const without[] = {"hostname",
                                   "shadow",
                                   "gshadow",
                                   spec->hosts ? "hosts" : "hostname",
                                   spec->resolv_conf ? "resolv.conf" : "hostname",
                                   NULL};
    if ((result = mount_layer_over(layers, "/etc", without, err)) < 0)
        return result;
    return write_names(spec, "/etc", err);
}

/* Mounts file systems in memory at /run, /tmp and /var/tmp, which a container may write to. In a
 * read-only root they become read-only after the mount points in them are made. */
static int mount_scratch(bool read_only, struct mount_layers *layers, struct err *err)
{
    static const struct {
        const char *path, *options;
    } PLACES[] = {{"/run", "mode=0755"}, {"/tmp", "mode=1777"}, {"/var/tmp", "mode=1777"}};
    for (size_t i = 0; i < ARRAY_SIZE(PLACES); i++) {
        if (access(PLACES[i].path, F_OK) < 0)
            continue;
        int result = mount_memory(PLACES[i].path, 0, PLACES[i].options, err);
        if (result == 0 && read_only)
            result = mount_layers_add(layers, PLACES[i].path, err);
        if (result < 0)
            return result;
    }
    return mkdir("/run/lock", 01777) < 0 ? err_set_errno(err, errno, "cannot make '/run/lock'") : 0;
}

/* Data that must be read from the machine's file systems before the root changes: the paths that
 * must be masked, without links, and clones of the container's volumes. */
struct root_view {
    struct pod_strings masks;
    int *trees;   /* detached clones, one per mount of the container */
    char **paths; /* the path of each tree on the machine, without links */
};

/* Adds the other paths at which the same file is visible on the machine. */
static void add_aliases(struct arena *arena, const char *mounts, const char *path,
                        struct pod_strings *ret)
{
    struct pod_strings aliases = {0};
    struct stat original, other;
    mount_info_aliases(arena, mounts, path, &aliases);
    for (size_t i = 0; i < aliases.count; i++)
        if (lstat(path, &original) == 0 && lstat(aliases.items[i], &other) == 0 &&
            original.st_dev == other.st_dev && original.st_ino == other.st_ino)
            pod_strings_add(arena, ret, aliases.items[i]);
}

/* Finds the paths to mask. Must be called while the machine's files are visible. A path that does
 * not exist needs no mask. */
static int gather_masks(const struct pod_spec *spec, struct pod_strings *ret, struct err *err)
{
    struct arena *arena = arena_new();
    struct pod_strings wanted = {0};
    int result = spec->secrets ? pod_secrets_load(arena, spec->secrets, &wanted, err) : 0;
    for (size_t i = 0; i < spec->masks.count; i++)
        pod_strings_add(arena, &wanted, spec->masks.items[i]);
    _cleanup_buf_ struct buf mounts;
    buf_init(&mounts, MOUNTS_TEXT_MAX);
    if (result == 0)
        result = file_read("/proc/self/mountinfo", &mounts, err);
    for (size_t i = 0; result == 0 && i < wanted.count; i++) {
        char real[PATH_MAX];
        if (!realpath(wanted.items[i], real))
            continue;
        pod_strings_add(arena, ret, arena_strdup(arena, real));
        add_aliases(arena, mounts.data, real, ret);
    }
    return result;
}

static int root_mask_path(const char *path, struct err *err)
{
    struct stat info;
    if (lstat(path, &info) < 0 || S_ISLNK(info.st_mode))
        return 0; /* not visible in this container, or a link, which is not followed */
    if (S_ISDIR(info.st_mode))
        return mount_memory(path, MS_RDONLY | MS_NOEXEC, "mode=0555,size=4k", err);
    if (mount("/dev/null", path, NULL, MS_BIND, NULL) < 0)
        return err_set_errno(err, errno, "cannot hide '%s'", path);
    return 0;
}

static int place_volume(const struct pod_mount *mount, int tree, struct mount_layers *layers,
                        struct err *err)
{
    struct stat info;
    if (fstat(tree, &info) < 0)
        return err_set_errno(err, errno, "cannot inspect volume '%s'", mount->source);
    int result = mount_make_target(layers, mount->target, S_ISDIR(info.st_mode), err);
    return result < 0 ? result : mount_attach(tree, mount->target, err);
}

static bool is_mount_root(const char *path)
{
    struct statx info;
    return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &info) == 0 &&
           info.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* Mounts each directory between `top` and `path` on itself, so that the pod cannot rename it. A
 * mask hides only a path: after a rename, pods that start later would see the file at its new path.
 */
static int pin_directories(const char *top, const char *path, struct err *err)
{
    for (const char *at = path + strlen(top) + 1; (at = strchr(at, '/')); at++) {
        _cleanup_free_ char *directory = mem_strndup(path, (size_t)(at - path));
        struct stat info;
        if (lstat(directory, &info) < 0 || !S_ISDIR(info.st_mode))
            return 0; /* the file is not visible in this container */
        if (!is_mount_root(directory) &&
            mount(directory, directory, NULL, MS_BIND | MS_REC, NULL) < 0)
            return err_set_errno(err, errno, "cannot protect '%s'", directory);
    }
    return 0;
}

/* Masks paths inside a volume that contains them. A volume that is itself such a path is not
 * masked, because the manifest asks for it. */
static int mask_inside(const struct pod_strings *masks, const char *path,
                       const struct pod_mount *volume, struct err *err)
{
    const char *root = str_eq(path, "/") ? "" : path;
    size_t size = strlen(root);
    int result = 0;
    for (size_t i = 0; result == 0 && i < masks->count; i++) {
        const char *hidden = masks->items[i];
        if (!str_has_prefix(hidden, root) || hidden[size] != '/')
            continue;
        _cleanup_free_ char *inside = mem_printf("%s%s", volume->target, hidden + size);
        if (!volume->read_only || volume->only_top)
            result = pin_directories(volume->target, inside, err);
        if (result == 0)
            result = root_mask_path(inside, err);
    }
    return result;
}

/* Arranges the new root, which is "/" already: names of the pod, scratch directories, masks and
 * volumes. `writable` means that the container may write to the root, and, with an image, to all
 * files of the image. */
static int root_arrange(const struct pod_spec *spec, const struct pod_container *container,
                        const struct root_view *view, bool writable, struct err *err)
{
    struct mount_layers layers = {0};
    bool all_writable = writable && container->root;
    int result = all_writable ? step_image_write_names(spec, err) : mount_etc(spec, &layers, err);
    if (result == 0 && !all_writable)
        result = mount_scratch(container->read_only, &layers, err);
    if (result == 0 && !container->root)
        result = plan_python_link(IMAGE_TOOLS_DIRECTORY, err);
    for (size_t i = 0; result == 0 && !container->root && i < view->masks.count; i++)
        result = root_mask_path(view->masks.items[i], err);
    for (size_t i = 0; result == 0 && i < container->mount_count; i++) {
        const struct pod_mount *mount = &container->mounts[i];
        result = place_volume(mount, view->trees[i], &layers, err);
        if (result == 0)
            result = mask_inside(&view->masks, view->paths[i], mount, err);
    }
    /* Creates a missing working directory if possible. Otherwise the start of the command fails
     * with a message. */
    if (result == 0 && container->directory && file_make_dirs(container->directory, 0755, NULL) < 0)
        err_clear(err);
    if (result == 0)
        result = mount_layers_make_read_only(&layers, err);
    if (result == 0)
        result = mount_read_only("/dev", err);
    return result == 0 && (!writable || container->read_only) ? mount_read_only("/", err) : result;
}

int step_root_enter(const struct pod_spec *spec, const struct pod_container *container,
                    const char *mount_point, struct err *err)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_set_errno(err, errno, "cannot make the mounts private");
    /* Memory that is allocated here is not freed: execve() of the command drops it. */
    struct root_view view = {.trees = mem_calloc(container->mount_count + 1, sizeof(*view.trees)),
                             .paths = mem_calloc(container->mount_count + 1, sizeof(*view.paths))};
    bool writable = false;
    int result = gather_masks(spec, &view.masks, err);
    for (size_t i = 0; result == 0 && i < container->mount_count; i++)
        result = mount_clone_volume(&container->mounts[i], &view.trees[i], &view.paths[i], err);
    if (result == 0)
        result = container->root
                     ? show_image(spec, container, mount_point, &writable, err)
                     : step_host_root_mount(spec, container, mount_point, &writable, err);
    if (result == 0)
        result = enter_root(spec, container, err);
    if (result == 0)
        result = root_arrange(spec, container, &view, writable, err);
    return result;
}
