/* Reads, writes and removes files and directory trees; see file.h. */
#include "base/system/file.h"

#include "base/mem.h"
#include "base/system/file_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read(const char *path, struct buf *buf, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot read '%s'", path);
    for (;;) {
        size_t left = buf->max - buf->size, want = left < 65536 ? left : 65536;
        char probe[1];
        char *room = want ? buf_reserve(buf, want) : probe;
        ssize_t got = read(fd, room, want ? want : sizeof(probe));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set_errno(err, errno, "cannot read '%s'", path);
        if (got == 0)
            return 0;
        if (!want)
            return err_set(err, ERR_TOO_LARGE, "'%s' is larger than %zu bytes", path, buf->max);
        buf_commit(buf, (size_t)got);
    }
}

int file_write_all(int fd, const void *data, size_t size, struct err *err)
{
    const char *at = data;
    while (size) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return err_set_errno(err, errno, "cannot write");
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

static int sync_directory_of(const char *path)
{
    _cleanup_free_ char *directory = mem_strdup(path);
    char *slash = strrchr(directory, '/');
    if (slash == directory)
        slash[1] = '\0';
    else if (slash)
        *slash = '\0';
    _cleanup_fd_ int fd = open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -1 : fsync(fd);
}

static int write_and_rename(const char *path, const void *data, size_t size, mode_t mode,
                            bool durable, struct err *err)
{
    _cleanup_free_ char *temporary = mem_printf("%s.XXXXXX", path);
    _cleanup_fd_ int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot write '%s'", path);
    int result = file_write_all(fd, data, size, err);
    if (result < 0)
        err_wrap(err, "'%s'", path);
    else if (fchmod(fd, mode) < 0 || (durable && fsync(fd) < 0) || rename(temporary, path) < 0 ||
             (durable && sync_directory_of(path) < 0))
        result = err_set_errno(err, errno, "cannot write '%s'", path);
    if (result < 0)
        unlink(temporary);
    return result;
}

int file_write_atomic(const char *path, const void *data, size_t size, mode_t mode, struct err *err)
{
    return write_and_rename(path, data, size, mode, true, err);
}

int file_replace(const char *path, const void *data, size_t size, mode_t mode, struct err *err)
{
    return write_and_rename(path, data, size, mode, false, err);
}

int file_write_into(const char *path, const char *text, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open '%s'", path);
    if (file_write_all(fd, text, strlen(text), err) < 0)
        return err_wrap(err, "'%s'", path);
    return 0;
}

static int make_dir(const char *path, mode_t mode, struct err *err)
{
    struct stat info;
    if (mkdir(path, mode) == 0)
        return 0;
    if (errno != EEXIST || stat(path, &info) < 0)
        return err_set_errno(err, errno, "cannot make directory '%s'", path);
    return S_ISDIR(info.st_mode)
               ? 0
               : err_set(err, ERR_EXISTS, "'%s' is a file, not a directory", path);
}

int file_make_dirs(const char *path, mode_t mode, struct err *err)
{
    if (*path == '\0')
        return err_set(err, ERR_INVALID, "cannot make a directory without a name");
    /* Usually only the last directory is missing. Then one mkdir() is cheaper than a check of each
     * parent. */
    if (mkdir(path, mode) == 0)
        return 0;
    if (errno == EEXIST)
        return make_dir(path, mode, err);
    _cleanup_free_ char *partial = mem_strdup(path);
    for (char *at = partial + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        int result = make_dir(partial, mode, err);
        if (result < 0)
            return result;
        *at = '/';
    }
    return make_dir(path, mode, err);
}

static int remove_entry(void *context, int directory, const char *name, const struct stat *info)
{
    return unlinkat(directory, name, S_ISDIR(info->st_mode) ? AT_REMOVEDIR : 0) < 0 ? errno : 0;
}

int file_remove_tree(const char *path, struct err *err)
{
    const struct file_walk walk = {.visit = remove_entry, .verb = "remove", .open_up = true};
    return file_walk(&walk, path, err);
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool file_stamp_get(const char *path, struct file_stamp *ret)
{
    struct stat info;
    if (stat(path, &info) < 0)
        return false;
    *ret = (struct file_stamp){
        .inode = info.st_ino, .size = (uint64_t)info.st_size, .changed = info.st_mtim};
    return true;
}

bool file_stamp_eq(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->inode == b->inode && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}
