/* Checks and creates the source of hostPath volumes; see volume/host_path.h. */
#include "node/volume/host_path.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *type, *words;
    mode_t format;
    bool create;
} TYPES[] = {
    {"DirectoryOrCreate", "a directory", S_IFDIR, true},
    {"Directory", "a directory", S_IFDIR, false},
    {"FileOrCreate", "a file", S_IFREG, true},
    {"File", "a file", S_IFREG, false},
    {"Socket", "a socket file", S_IFSOCK, false},
    {"CharDevice", "a character device", S_IFCHR, false},
    {"BlockDevice", "a block device", S_IFBLK, false},
};

/* Like the kubelet, creates a file but not its parent directory. Does not follow a link. */
static int host_path_make(const char *path, mode_t format, struct err *err)
{
    if (S_ISDIR(format))
        return file_make_dirs(path, 0755, err);
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    return fd < 0 ? err_set_errno(err, errno, "cannot make hostPath '%s'", path) : 0;
}

static int host_path_check_type(const char *path, const char *type, struct err *err)
{
    struct stat info;
    for (size_t i = 0; i < ARRAY_SIZE(TYPES); i++) {
        if (!str_eq(type, TYPES[i].type))
            continue;
        if (TYPES[i].create && !file_exists(path)) {
            int result = host_path_make(path, TYPES[i].format, err);
            if (result < 0)
                return result;
        }
        if (stat(path, &info) < 0 || (info.st_mode & S_IFMT) != TYPES[i].format)
            return err_set(err, ERR_NOT_FOUND, "hostPath type check failed: %s is not %s", path,
                           TYPES[i].words);
    }
    return 0;
}

/* Refuses `real`, a path without symbolic links, if it is in `state_dir`. `path` is for the
 * message. */
static int host_path_check_state(const char *real, const char *state_dir, const char *path,
                                 struct err *err)
{
    size_t size = strlen(state_dir);
    if (strncmp(real, state_dir, size) != 0 || (real[size] != '/' && real[size] != '\0'))
        return 0;
    return err_set(err, ERR_FORBIDDEN,
                   "hostPath '%s' lies in the state directory of this cluster: use a "
                   "persistentVolumeClaim, or a directory elsewhere",
                   path);
}

/* Refuses a path in `state_dir` before anything is created. If the path does not exist, checks the
 * deepest directory above it that exists. */
static int host_path_check_existing(const char *path, const char *state_dir, struct err *err)
{
    _cleanup_free_ char *existing = mem_strdup(path);
    char real[PATH_MAX];
    while (!realpath(existing, real)) {
        char *slash = strrchr(existing, '/');
        if (errno != ENOENT || slash == existing)
            return 0; /* only "/" exists, or volume_host_path() reports the error */
        *slash = '\0';
    }
    return host_path_check_state(real, state_dir, path, err);
}

int volume_host_path(struct arena *arena, const struct json *source, const char *state_dir,
                     const char **ret, struct err *err)
{
    const char *path = json_get_string(source, "path", "");
    const char *type = json_get_string(source, "type", "");
    char real[PATH_MAX];
    if (path[0] != '/')
        return err_set(err, ERR_INVALID, "hostPath '%s' is not absolute", path);
    int result = host_path_check_existing(path, state_dir, err);
    if (result < 0 || (result = host_path_check_type(path, type, err)) < 0)
        return result;
    if (!realpath(path, real))
        return errno == ENOENT ? err_set(err, ERR_NOT_FOUND,
                                         "hostPath '%s' does not exist (type DirectoryOrCreate or "
                                         "FileOrCreate creates it)",
                                         path)
                               : err_set_errno(err, errno, "cannot resolve hostPath '%s'", path);
    /* A program may have replaced a directory by a link since the first check. */
    if ((result = host_path_check_state(real, state_dir, path, err)) < 0)
        return result;
    *ret = arena_strdup(arena, real);
    return 0;
}
