/* Manages the files of images; see image/store.h. */
#include "node/image/store.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/image/table.h"
#include "node/pod/record/spec.h"
#include "node/pod/record/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMPORT_PREFIX "import."

int image_store_lock(const char *state_dir, int *ret_fd, struct err *err)
{
    _cleanup_free_ char *directory = mem_printf("%s/images", state_dir);
    _cleanup_free_ char *path = mem_printf("%s/lock", directory);
    int result = file_make_dirs(directory, 0700, err);
    if (result < 0)
        return result;
    _cleanup_fd_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0)
        if (errno != EINTR)
            return err_set_errno(err, errno, "cannot lock '%s'", path);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open '%s'", path);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

int image_store_begin(struct arena *arena, const char *state_dir, const char **ret_path,
                      int *ret_fd, struct err *err)
{
    char *path = arena_printf(arena, "%s/images/" IMPORT_PREFIX "XXXXXX", state_dir);
    _cleanup_fd_ int fd = -1;
    if (!mkdtemp(path))
        return err_set_errno(err, errno, "cannot make a directory in '%s/images'", state_dir);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
        return err_set_errno(err, errno, "cannot lock '%s'", path);
    *ret_path = path;
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* Returns true if the pod of this directory has not ended and has a container with the root `root`.
 * Sets *ret_name to its host name. */
static bool uses_root(const char *pod_dir, const char *root, struct arena *arena,
                      const char **ret_name)
{
    _cleanup_pod_state_ struct pod_state state = {0};
    struct pod_spec spec;
    if (pod_spec_load(arena, pod_dir, &spec, NULL) < 0 ||
        (pod_state_load(pod_dir, &state, NULL) == 0 && state.finished))
        return false;
    *ret_name = spec.hostname;
    for (size_t i = 0; i < spec.container_count; i++)
        if (str_eq(spec.containers[i].root, root))
            return true;
    return false;
}

const char *image_store_find_pod(struct arena *arena, const char *state_dir, const char *root)
{
    _cleanup_free_ char *pods = mem_printf("%s/pods", state_dir);
    const char *name = NULL, *found = NULL;
    DIR *entries = opendir(pods);
    if (!entries)
        return NULL;
    for (struct dirent *entry; !found && (entry = readdir(entries));) {
        _cleanup_free_ char *pod = mem_printf("%s/%s", pods, entry->d_name);
        if (entry->d_name[0] != '.' && uses_root(pod, root, arena, &name))
            found = name;
    }
    closedir(entries);
    return found;
}

static bool is_in_table(const struct json *table, const char *hex)
{
    JSON_EACH (row, table) {
        const char *digest = json_get_string(row, "digest", "");
        if (str_has_prefix(digest, "sha256:") && str_eq(digest + strlen("sha256:"), hex))
            return true;
    }
    return false;
}

/* Returns true if the import that used the directory has ended: no process holds the directory's
 * lock. */
static bool is_abandoned(const char *path)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

int image_store_collect(const char *state_dir, const struct json *table, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_free_ char *directory = mem_printf("%s/images", state_dir);
    DIR *entries = opendir(directory);
    int result = 0;
    if (!entries)
        return errno == ENOENT ? 0 : err_set_errno(err, errno, "cannot list '%s'", directory);
    for (struct dirent *entry; result == 0 && (entry = readdir(entries));) {
        const char *name = entry->d_name;
        const char *path = arena_printf(arena, "%s/%s", directory, name);
        if (name[0] == '.' || str_eq(name, "lock"))
            continue;
        bool is_import = str_has_prefix(name, IMPORT_PREFIX);
        if (is_import
                ? is_abandoned(path)
                : !is_in_table(table, name) &&
                      !image_store_find_pod(arena, state_dir, image_root(arena, state_dir, name)))
            result = file_remove_tree(path, err);
    }
    closedir(entries);
    return result;
}
