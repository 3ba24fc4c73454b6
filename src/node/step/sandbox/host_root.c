/* Mounts the machine's files as a container's root; see step/sandbox/host_root.h. */
#include "node/step/sandbox/host_root.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/step/sandbox/layer.h"
#include "node/step/sandbox/mount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOT_ENTRIES_MAX = 256 };

/* Directories that are created empty instead of showing the machine's. /run must not show the
 * machine's, because processes can connect to sockets even in a read-only mount. */
static const char *const FRESH[] = {"proc", "sys", "dev", "run", "tmp"};

struct root_entry {
    char name[256];
    char *link; /* the target of a symbolic link, or NULL */
    int tree;   /* if `link` is NULL: a detached clone of the entry */
    bool is_directory;
};

static bool is_fresh(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(FRESH); i++)
        if (str_eq(name, FRESH[i]))
            return true;
    return str_eq(name, ".") || str_eq(name, "..");
}

/* Reads a link, or clones a file or directory. Returns false if the entry cannot be shown, because
 * its mount cannot be cloned (unbindable). */
static bool gather_entry(int root, struct root_entry *entry)
{
    char link[4096];
    struct stat info;
    ssize_t size = readlinkat(root, entry->name, link, sizeof(link) - 1);
    if (size >= 0) {
        entry->link = mem_strndup(link, (size_t)size);
        return true;
    }
    if (mount_clone(root, entry->name, true, &entry->tree, NULL) < 0)
        return false;
    if (fstat(entry->tree, &info) < 0) {
        close(entry->tree);
        return false;
    }
    entry->is_directory = S_ISDIR(info.st_mode);
    return true;
}

/* Clones the entries of "/" before the new root is mounted below one of them. */
static int gather_entries(struct root_entry *entries, size_t *ret_count, struct err *err)
{
    DIR *root = opendir("/");
    if (!root)
        return err_set_errno(err, errno, "cannot list '/'");
    size_t count = 0;
    int result = 0;
    for (struct dirent *found; result == 0 && (found = readdir(root));) {
        if (is_fresh(found->d_name))
            continue;
        if (count == ROOT_ENTRIES_MAX) {
            result = err_set(err, ERR_TOO_MANY, "'/' has more than %d entries", ROOT_ENTRIES_MAX);
            break;
        }
        entries[count] = (struct root_entry){.tree = -1};
        str_copy(entries[count].name, sizeof(entries[count].name), found->d_name);
        count += gather_entry(dirfd(root), &entries[count]);
    }
    closedir(root);
    *ret_count = count;
    return result;
}

/* Creates in the directory a mount point for each entry and the directories of FRESH. An entry that
 * is a symbolic link is copied. */
static int make_mount_points(int directory, const struct root_entry *entries, size_t count,
                             struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct root_entry *entry = &entries[i];
        int made = entry->link           ? symlinkat(entry->link, directory, entry->name)
                   : entry->is_directory ? mkdirat(directory, entry->name, 0755)
                                         : mknodat(directory, entry->name, S_IFREG | 0644, 0);
        if (made < 0)
            return err_set_errno(err, errno, "cannot make '/%s'", entry->name);
    }
    for (size_t i = 0; i < ARRAY_SIZE(FRESH); i++)
        if (mkdirat(directory, FRESH[i], 0755) < 0)
            return err_set_errno(err, errno, "cannot make '/%s'", FRESH[i]);
    return 0;
}

/* Mounts a file system in memory with the mount points of make_mount_points(). `ret_root` becomes a
 * descriptor of its root, which stays usable if another file system is mounted over it. */
static int mount_memory_root(const struct root_entry *entries, size_t count,
                             const char *mount_point, int *ret_root, struct err *err)
{
    int result = mount_memory(mount_point, 0, "mode=0755", err);
    if (result < 0)
        return result;
    *ret_root = open(mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*ret_root < 0)
        return err_set_errno(err, errno, "cannot open '%s'", mount_point);
    return make_mount_points(*ret_root, entries, count, err);
}

/* Mounts the layer itself as the root, with the mount points of make_mount_points() in it. Used if
 * the layer cannot be part of an overlay, for example because it is on an overlay. */
static int mount_layer(const struct pod_container *container, const struct root_entry *entries,
                       size_t count, const char *mount_point, struct err *err)
{
    int result = step_layer_make(container, err);
    if (result < 0)
        return result;
    _cleanup_fd_ int layer = open(container->layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC), tree = -1;
    if (layer < 0 || fchmod(layer, 0755) < 0)
        return err_set_errno(err, errno, "cannot open '%s'", container->layer);
    if ((result = make_mount_points(layer, entries, count, err)) < 0 ||
        (result = mount_clone(layer, "", false, &tree, err)) < 0)
        return result;
    return mount_attach(tree, mount_point, err);
}

/* Mounts a root that the container may write to, on its layer. Returns false if that is not
 * possible. Tries an overlay first, because with an overlay the mount points for the machine's
 * entries need no space on the disk. */
static bool mount_writable(const struct pod_spec *spec, const struct pod_container *container,
                           int root, const struct root_entry *entries, size_t count,
                           const char *mount_point)
{
    if (!container->layer || container->read_only || step_layer_make(container, NULL) < 0)
        return false;
    return step_layer_mount(spec, container, root, mount_point) == 0 ||
           mount_layer(container, entries, count, mount_point, NULL) == 0;
}

/* Makes the container's user the owner of the root. With `nested` there is nothing to do: the
 * container has only one user, which owns the root already. */
static int give_root(const struct pod_spec *spec, const struct pod_container *container,
                     struct err *err)
{
    gid_t group = container->group < 0 ? 0 : (gid_t)container->group;
    if (spec->nested || container->user < 0 || chown(".", (uid_t)container->user, group) == 0)
        return 0;
    return err_set_errno(err, errno, "cannot change the owner of the root directory to user %lld",
                         (long long)container->user);
}

int step_host_root_mount(const struct pod_spec *spec, const struct pod_container *container,
                         const char *mount_point, bool *ret_writable, struct err *err)
{
    /* Memory that is allocated here is not freed: execve() of the command drops it. */
    struct root_entry *entries = mem_calloc(ROOT_ENTRIES_MAX, sizeof(*entries));
    size_t count;
    _cleanup_fd_ int root = -1;
    int result = gather_entries(entries, &count, err);
    if (result == 0)
        result = mount_memory_root(entries, count, mount_point, &root, err);
    if (result < 0)
        return result;
    *ret_writable = mount_writable(spec, container, root, entries, count, mount_point);
    if (chdir(mount_point) < 0)
        return err_set_errno(err, errno, "cannot change to '%s'", mount_point);
    if (*ret_writable && (result = give_root(spec, container, err)) < 0)
        return result;
    for (size_t i = 0; i < count; i++)
        if (!entries[i].link && (result = mount_attach(entries[i].tree, entries[i].name, err)) < 0)
            return result;
    return 0;
}
