/* Walks a tree of files with openat(); see file_walk.h. A stack contains the directories from the
 * parent of the tree to the current directory. For each directory, the stack has the inode and the
 * names of the subdirectories that must still be walked. */
#include "base/system/file_walk.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_HELD_MAX = 1 << 30 };

struct level {
    struct stat info;
    size_t names; /* offset in walker.names where the names of this directory start */
};

struct walker {
    const struct file_walk *walk;
    int fd; /* descriptor of the current directory, the last of `levels` */
    struct level *levels;
    size_t depth, room; /* number of used and of allocated `levels` */
    /* The names that must still be walked ("a\0b\0"), level by level. A name stays in the list
     * until its directory has been left. */
    struct buf names;
};

static const char *last_name(const struct walker *w)
{
    const char *end = w->names.data + w->names.size - 1;
    const char *before = memrchr(w->names.data, '\0', (size_t)(end - w->names.data));
    return before ? before + 1 : w->names.data;
}

static void drop_name(struct walker *w)
{
    w->names.size = (size_t)(last_name(w) - w->names.data);
}

static void push_level(struct walker *w, const struct stat *info)
{
    if (w->depth == w->room) {
        w->room = w->room ? 2 * w->room : 16;
        w->levels = mem_realloc(w->levels, w->room * sizeof(*w->levels));
    }
    w->levels[w->depth++] = (struct level){*info, w->names.size};
}

/* Visits an entry. A missing entry is not an error, because another process may have removed it. */
static int walker_visit(struct walker *w, const char *name, const struct stat *info)
{
    int result = w->walk->visit(w->walk->context, w->fd, name, info);
    return result == ENOENT ? 0 : result;
}

/* Counts an entry. Returns false if no more entries are allowed. */
static bool take_entry(const struct walker *w)
{
    size_t *left = w->walk->entries_left;
    if (left && *left == 0)
        return false;
    if (left)
        --*left;
    return true;
}

/* Visits one entry of the current directory. If the entry is a directory, does not visit it yet,
 * but adds its name to the names that must still be walked. */
static int walker_examine(struct walker *w, const char *name)
{
    struct stat info;
    if (fstatat(w->fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : errno;
    int result = !take_entry(w) ? E2BIG : S_ISDIR(info.st_mode) ? 0 : walker_visit(w, name, &info);
    /* The name is needed for the walk or for the error message. */
    if (S_ISDIR(info.st_mode) || result)
        buf_append(&w->names, name, strlen(name) + 1);
    if (result == 0 && w->names.overflowed)
        result = w->walk->names_max ? E2BIG : ENOMEM;
    return result;
}

/* Opens a directory. Even the owner cannot open a directory of mode 0, but the owner can change the
 * mode, which `open_up` allows. */
static int open_directory(const struct walker *w, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(w->fd, name, flags);
    if (fd >= 0 || errno != EACCES || !w->walk->open_up)
        return fd;
    _cleanup_fd_ int place = openat(w->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return -1;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
    if (chmod(path, 0700) < 0) {
        errno = EACCES;
        return -1;
    }
    return openat(w->fd, name, flags);
}

/* Returns whether this process has search permission (x) on the directory. Without it, the entries
 * can be listed, but stat() and the way to ".." fail. Always true if `closed` is NULL, because
 * those failures then end the walk. */
static bool may_pass(const struct walker *w, int fd)
{
    if (!w->walk->closed)
        return true;
    _cleanup_fd_ int same = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return same >= 0;
}

static int read_entries(struct walker *w)
{
    int copy = fcntl(w->fd, F_DUPFD_CLOEXEC, 0), result = 0;
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    if (!directory) {
        result = errno;
        if (copy >= 0)
            close(copy);
        return result;
    }
    errno = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(directory)); errno = 0)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = walker_examine(w, entry->d_name);
    if (result == 0 && errno)
        result = errno;
    closedir(directory);
    return result;
}

/* Enters the directory of the last name. If that name is now another type of file, or the directory
 * is on another file system or may not be entered (`closed`), it is visited without being
 * entered. */
static int walker_descend(struct walker *w)
{
    const char *name = last_name(w);
    struct stat info;
    if (w->walk->depth_max && w->depth > w->walk->depth_max)
        return E2BIG;
    int fd = open_directory(w, name);
    bool is_closed = fd < 0 ? errno == EACCES && w->walk->closed : !may_pass(w, fd);
    if (fd < 0 && !is_closed && errno != ELOOP && errno != ENOTDIR && errno != ENOENT)
        return errno;
    if (is_closed)
        ++*w->walk->closed;
    bool foreign =
        fd >= 0 && (fstat(fd, &info) < 0 ||
                    (w->depth > 1 && info.st_dev != w->levels[w->depth - 1].info.st_dev));
    if (fd < 0 || foreign || is_closed) {
        if (fd >= 0)
            close(fd);
        int result = fstatat(w->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0
                         ? walker_visit(w, name, &info)
                     : errno == ENOENT ? 0
                                       : errno;
        if (result == 0)
            drop_name(w);
        return result;
    }
    if (w->walk->open_up && (info.st_mode & 0700) != 0700)
        (void)fchmod(fd, 0700); /* after a failure, the entries of the directory fail */
    close(w->fd);
    w->fd = fd;
    push_level(w, &info);
    return read_entries(w);
}

/* Leaves a directory after all its entries have been visited, and visits the directory. */
static int walker_ascend(struct walker *w)
{
    const struct stat left = w->levels[--w->depth].info, *parent = &w->levels[w->depth - 1].info;
    struct stat info;
    int fd = openat(w->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    close(w->fd);
    w->fd = fd;
    if (fstat(fd, &info) < 0)
        return errno;
    if (info.st_dev != parent->st_dev || info.st_ino != parent->st_ino)
        return ESTALE; /* the directory was moved: its parent is not part of the walk */
    int result = walker_visit(w, last_name(w), &left);
    if (result == 0)
        drop_name(w);
    return result;
}

static int walker_fail(const struct walker *w, const char *path, int errnum, struct err *err)
{
    char place[ERR_MESSAGE_MAX];
    size_t size = (size_t)snprintf(place, sizeof(place), "%s", path);
    /* On each level below the top, the last name is the directory that the walk is in. */
    for (size_t i = 1; i < w->depth && size < sizeof(place); i++) {
        size_t end = i + 1 < w->depth ? w->levels[i + 1].names : w->names.size;
        if (end == w->levels[i].names)
            break;
        const char *from = w->names.data + w->levels[i].names;
        const char *before = memrchr(from, '\0', end - w->levels[i].names - 1);
        size +=
            (size_t)snprintf(place + size, sizeof(place) - size, "/%s", before ? before + 1 : from);
    }
    return err_set_errno(err, errnum, "cannot %s '%s'", w->walk->verb, place);
}

int file_walk(const struct file_walk *walk, const char *path, struct err *err)
{
    struct walker w = {.walk = walk};
    struct stat info;
    _cleanup_free_ char *above = mem_strdup(path);
    for (size_t size = strlen(above); size > 1 && above[size - 1] == '/';)
        above[--size] = '\0';
    char *slash = strrchr(above, '/');
    _cleanup_free_ char *name = mem_strdup(slash ? slash + 1 : above);
    if (!name[0] || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return err_set(err, ERR_INVALID, "cannot %s '%s': the path must end with a name",
                       walk->verb, path);
    if (slash)
        slash[slash == above] = '\0';
    w.fd = open(slash ? above : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (w.fd < 0)
        return errno == ENOENT ? 0 : err_set_errno(err, errno, "cannot %s '%s'", walk->verb, path);
    buf_init(&w.names, walk->names_max ? walk->names_max : NAMES_HELD_MAX);
    int result = fstat(w.fd, &info) < 0 ? errno : 0;
    push_level(&w, &info);
    if (result == 0)
        result = walker_examine(&w, name);
    while (result == 0 && (w.depth > 1 || w.names.size))
        result =
            w.names.size > w.levels[w.depth - 1].names ? walker_descend(&w) : walker_ascend(&w);
    result = result ? walker_fail(&w, path, result, err) : 0;
    close(w.fd);
    free(w.levels);
    buf_release(&w.names);
    return result;
}
