/* Sets the group of a volume; see volume/group.h. */
#include "node/volume/group.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 128, READ_BITS = 0440, WRITE_BITS = 0660, ENTER_BITS = 0110 };

static int group_give_file(int fd, const struct stat *info, int64_t group, bool read_only,
                           const char *name, struct err *err)
{
    mode_t mode = (info->st_mode & 07777) | (read_only ? READ_BITS : WRITE_BITS);
    if (S_ISDIR(info->st_mode))
        mode |= S_ISGID | ENTER_BITS;
    if ((info->st_gid != (gid_t)group && fchown(fd, (uid_t)-1, (gid_t)group) < 0) ||
        fchmod(fd, mode) < 0)
        return err_set_errno(err, errno, "cannot make '%s' accessible to group %lld", name,
                             (long long)group);
    return 0;
}

/* Changes the files below the directory behind the descriptor `directory`, and closes the
 * descriptor. */
static int group_walk_tree(int directory, dev_t device, int64_t group, bool read_only, int depth,
                           struct err *err)
{
    DIR *entries = fdopendir(directory);
    int result = 0;
    if (!entries) {
        result = err_set_errno(err, errno, "cannot list a volume");
        close(directory);
        return result;
    }
    for (struct dirent *entry; result == 0 && (entry = readdir(entries));) {
        const char *name = entry->d_name;
        struct stat info;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        /* O_NONBLOCK, because the pod may have created a FIFO here. Only directories and regular
         * files are changed. */
        _cleanup_fd_ int fd =
            openat(dirfd(entries), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (fd < 0 || fstat(fd, &info) < 0 || info.st_dev != device ||
            (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)))
            continue;
        result = group_give_file(fd, &info, group, read_only, name, err);
        if (result == 0 && S_ISDIR(info.st_mode) && depth < DEPTH_MAX)
            result = group_walk_tree(TAKE_FD(fd), device, group, read_only, depth + 1, err);
    }
    closedir(entries);
    return result;
}

static int open_root(const char *path, struct stat *info, int *ret_fd, struct err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, info) < 0) {
        int result = err_set_errno(err, errno, "cannot open '%s'", path);
        if (fd >= 0)
            close(fd);
        return result;
    }
    *ret_fd = fd;
    return 0;
}

int volume_group_give(const char *path, int64_t group, bool read_only, struct err *err)
{
    struct stat info;
    _cleanup_fd_ int fd = -1;
    if (group < 0)
        return 0;
    int result = open_root(path, &info, &fd, err);
    if (result == 0)
        result = group_give_file(fd, &info, group, read_only, path, err);
    return result < 0 ? result
                      : group_walk_tree(TAKE_FD(fd), info.st_dev, group, read_only, 0, err);
}

int volume_group_give_one(const char *path, int64_t group, struct err *err)
{
    struct stat info;
    _cleanup_fd_ int fd = -1;
    if (group < 0)
        return 0;
    int result = open_root(path, &info, &fd, err);
    return result < 0 ? result : group_give_file(fd, &info, group, true, path, err);
}

bool volume_group_is(const char *path, int64_t group)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_gid == (gid_t)group && info.st_mode & S_ISGID;
}
