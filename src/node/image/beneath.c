/* Opens, creates and removes files below the root of an image; see image/beneath.h. */
#include "node/image/beneath.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    /* The longest path of a directory, in bytes. Names in that directory must still fit into
       PATH_MAX, because the tree is later removed by paths. */
    DIRECTORY_PATH_MAX = 3000,
};

/* Opens a path with openat2(). `resolve` is its set of RESOLVE_ flags. */
static int open_in(int root, const char *path, uint64_t flags, uint64_t resolve)
{
    const struct open_how how = {.flags = flags | O_CLOEXEC,
                                 .resolve = resolve | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
    long fd;
    do {
        fd = syscall(SYS_openat2, root, path[0] ? path : ".", &how, sizeof(how));
    } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
    return (int)fd;
}

static int open_in_root(int root, const char *path)
{
    return open_in(root, path, O_PATH | O_DIRECTORY, RESOLVE_IN_ROOT);
}

int beneath_open_directory(int root, const char *path, int *ret_fd, struct err *err)
{
    int fd = open_in_root(root, path);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open directory '%s'", path);
    *ret_fd = fd;
    return 0;
}

/* Refuses a directory whose real path is too long. Symbolic links can make it longer than any path
 * in the archive. */
static int check_depth(int fd, const char *path, struct err *err)
{
    char link[64], place[DIRECTORY_PATH_MAX + 1];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, place, sizeof(place)) > DIRECTORY_PATH_MAX)
        return err_set(err, ERR_TOO_LARGE, "directory '%.64s…' is too deep", path);
    return 0;
}

/* Opens the longest existing part of the path, then creates the missing directories below it. */
int beneath_make_directories(int root, const char *path, int *ret_fd, struct err *err)
{
    _cleanup_free_ char *part = mem_strdup(path);
    _cleanup_fd_ int fd = open_in_root(root, path);
    while (fd < 0 && errno == ENOENT && part[0]) {
        char *slash = strrchr(part, '/');
        *(slash ? slash : part) = '\0';
        fd = open_in_root(root, part);
    }
    size_t done = strlen(part);
    while (fd >= 0 && path[done]) {
        done += path[done] == '/';
        size_t size = strcspn(path + done, "/");
        _cleanup_free_ char *name = mem_strndup(path + done, size);
        _cleanup_fd_ int parent = fd;
        fd = mkdirat(parent, name, 0755) < 0 ? -1 : open_in_root(parent, name);
        done += size;
    }
    if (fd < 0)
        return err_set_errno(err, errno, "cannot make directory '%s'", path);
    int result = check_depth(fd, path, err);
    if (result == 0)
        *ret_fd = TAKE_FD(fd);
    return result;
}

int beneath_open_exactly(int root, const char *path)
{
    return open_in(root, path, O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

int beneath_open_file(int root, const char *path, int *ret_fd, struct err *err)
{
    struct stat info;
    _cleanup_fd_ int fd = open_in(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, RESOLVE_IN_ROOT);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open '%s'", path);
    if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
        return err_set(err, ERR_INVALID, "'%s' is not a file", path);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

DIR *beneath_list(int parent, const char *name, struct err *err)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries) {
        if (fd >= 0)
            close(fd);
        (void)err_set_errno(err, errno, "cannot list '%s'", name);
    }
    return entries;
}

/* Makes a directory writable. Skips symbolic links, because chmod would change their targets. */
static void make_directory_writable(int parent, const char *name)
{
    struct stat info;
    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode))
        (void)fchmodat(parent, name, 0700, 0);
}

/* Removes the files and empty directories in directory `name`. Moves other subdirectories into
 * `parent` with the names <prefix>.<count>, so that the caller can empty them later. So a tree of
 * any depth is removed without recursion. */
static int empty_directory(int parent, const char *prefix, const char *name, unsigned *count,
                           struct err *err)
{
    make_directory_writable(parent, name);
    DIR *entries = beneath_list(parent, name, err);
    if (!entries)
        return -ERR_IO;
    int result = 0;
    bool found;
    do {
        found = false;
        rewinddir(entries);
        for (struct dirent *entry; result == 0 && (entry = readdir(entries));) {
            if (str_eq(entry->d_name, ".") || str_eq(entry->d_name, ".."))
                continue;
            found = true;
            if (unlinkat(dirfd(entries), entry->d_name, 0) == 0 ||
                unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR) == 0)
                continue;
            char moved[32];
            snprintf(moved, sizeof(moved), "%s.%u", prefix, (*count)++);
            make_directory_writable(dirfd(entries), entry->d_name);
            if (renameat(dirfd(entries), entry->d_name, parent, moved) < 0)
                result = err_set_errno(err, errno, "cannot remove '%s'", entry->d_name);
        }
    } while (result == 0 && found);
    closedir(entries);
    return result;
}

int beneath_remove(int parent, const char *name, struct err *err)
{
    /* image_unpack_layer() skips entries whose name begins with ".wh..wh.". */
    static const char PREFIX[] = ".wh..wh.going";
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    unsigned count = 0;
    int result = empty_directory(parent, PREFIX, name, &count, err);
    if (result == 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0)
        result = err_set_errno(err, errno, "cannot remove '%s'", name);
    for (unsigned i = 0; result == 0 && i < count; i++) {
        char moved[32];
        snprintf(moved, sizeof(moved), "%s.%u", PREFIX, i);
        result = empty_directory(parent, PREFIX, moved, &count, err);
        if (result == 0 && unlinkat(parent, moved, AT_REMOVEDIR) < 0)
            result = err_set_errno(err, errno, "cannot remove '%s'", moved);
    }
    return result;
}
