/* Implements publishing and finding the versions of an exported model; see model_versions.h. */
#include "train/run/model_versions.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    ENTRIES_MAX = 100000, /* limit of the entries that are read from a directory */
    TRIES_MAX = 100,      /* attempts to find a free number while other processes publish */
    STALE_S = 3600,       /* temporary directories older than this number of seconds are removed */
};

#define TEMPORARY_PREFIX ".publishing-"

/* Reads the name of a directory entry as a version. Returns an error if it is not a version. */
static int parse_version(const struct dirent *entry, int64_t *ret)
{
    return str_to_int64(entry->d_name, 1, INT64_MAX - 1, ret, NULL);
}

/* Sets *ret to the highest version below `below`, or to 0 if there is none. */
static int highest_below(const char *directory, int64_t below, int64_t *ret, struct err *err)
{
    DIR *stream = opendir(directory);
    if (!stream)
        return err_set_errno(err, errno, "cannot read directory '%s'", directory);
    struct dirent *entry;
    int64_t highest = 0, version;
    for (int i = 0; i < ENTRIES_MAX && (entry = readdir(stream)); i++)
        if (parse_version(entry, &version) == 0 && version < below && version > highest)
            highest = version;
    closedir(stream);
    *ret = highest;
    return 0;
}

/* Removes temporary directories that are older than STALE_S: their processes were killed. */
static void remove_stale(const char *directory, int64_t now_s)
{
    DIR *stream = opendir(directory);
    struct dirent *entry;
    for (int i = 0; stream && i < ENTRIES_MAX && (entry = readdir(stream)); i++) {
        if (!str_has_prefix(entry->d_name, TEMPORARY_PREFIX))
            continue;
        _cleanup_free_ char *path = mem_printf("%s/%s", directory, entry->d_name);
        struct stat info;
        if (lstat(path, &info) == 0 && (int64_t)info.st_mtime < now_s - STALE_S)
            (void)file_remove_tree(path, NULL);
    }
    if (stream)
        closedir(stream);
}

static int sync_directory(const char *path, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return err_set_errno(err, errno, "cannot sync '%s'", path);
    return 0;
}

/* Renames the temporary directory to the next free version. */
static int rename_to_version(const char *directory, const char *temporary, int64_t now_s,
                             int64_t *ret_version, struct err *err)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        int64_t highest;
        int result = highest_below(directory, INT64_MAX, &highest, err);
        if (result < 0)
            return result;
        int64_t version = highest + 1 > now_s ? highest + 1 : now_s;
        _cleanup_free_ char *path = mem_printf("%s/%lld", directory, (long long)version);
        /* rename() may replace an empty directory, but never a directory with a model in it. */
        if (rename(temporary, path) == 0) {
            *ret_version = version;
            return sync_directory(directory, err);
        }
        if (errno != ENOTEMPTY && errno != EEXIST)
            return err_set_errno(err, errno, "cannot write '%s'", path);
    }
    return err_set(err, ERR_CONFLICT,
                   "cannot export to '%s': other processes keep exporting there; try again",
                   directory);
}

int model_versions_publish(const char *directory, const char *file, int64_t now_s,
                           int (*write)(void *context, const char *path, struct err *err),
                           void *context, int64_t *ret_version, struct err *err)
{
    int result = file_make_dirs(directory, 0755, err);
    if (result < 0)
        return result;
    remove_stale(directory, now_s);
    _cleanup_free_ char *temporary = mem_printf("%s/" TEMPORARY_PREFIX "XXXXXX", directory);
    if (!mkdtemp(temporary) || chmod(temporary, 0755) < 0)
        return err_set_errno(err, errno, "cannot make a directory in '%s'", directory);
    _cleanup_free_ char *path = mem_printf("%s/%s", temporary, file);
    result = write(context, path, err);
    if (result == 0)
        result = sync_directory(temporary, err);
    if (result == 0)
        result = rename_to_version(directory, temporary, now_s, ret_version, err);
    if (result < 0)
        (void)file_remove_tree(temporary, NULL);
    return result;
}

int model_versions_newest(const char *directory, const char *file, int64_t below,
                          int64_t *ret_version, char ret_path[MODEL_VERSIONS_PATH_MAX],
                          struct err *err)
{
    for (;;) {
        int64_t version;
        int result = highest_below(directory, below, &version, err);
        if (result < 0)
            return result;
        if (version == 0)
            return err_set(err, ERR_NOT_FOUND, "'%s' holds no version of a model yet", directory);
        _cleanup_free_ char *path = mem_printf("%s/%lld/%s", directory, (long long)version, file);
        if (file_exists(path)) {
            if (!str_copy(ret_path, MODEL_VERSIONS_PATH_MAX, path))
                return err_set(err, ERR_TOO_LARGE, "the path '%s' is too long", path);
            *ret_version = version;
            return 0;
        }
        below = version;
    }
}
