/* Implements node_secret_file_add(): registers files outside of the state directory that pods must
 * not read, such as the file of 'trainyard up --kubeconfig'. */
#include "node/node.h"

#include "node/pod/secrets.h"
#include "node/process/lock.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Returns the path without symbolic links. The file may be missing, but its directory must
 * exist. */
static int secret_file_resolve(struct arena *arena, const char *path, const char **ret,
                               struct err *err)
{
    char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (realpath(path, real)) {
        *ret = arena_strdup(arena, real);
        return 0;
    }
    const char *directory = arena_strndup(arena, path, (size_t)(slash - path) + 1);
    if (errno != ENOENT || !realpath(directory, real))
        return err_set_errno(err, errno, "cannot write '%s'", path);
    *ret = arena_printf(arena, "%s%s", str_eq(real, "/") ? "" : real, slash);
    return 0;
}

/* Returns true if a supervisor holds the lock of its pod's directory, or may hold it. */
static bool some_pod_runs(const char *state_dir)
{
    _cleanup_free_ char *pods = mem_printf("%s/pods", state_dir);
    bool found = false;
    DIR *directory = opendir(pods);
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        _cleanup_free_ char *lock = mem_printf("%s/%s/lock", pods, entry->d_name);
        _cleanup_fd_ int pidfd = -1;
        pid_t pid;
        found = entry->d_name[0] != '.' &&
                process_lock_holder(lock, &pidfd, &pid, NULL) != -ERR_NOT_FOUND;
    }
    if (directory)
        closedir(directory);
    return found;
}

/* Sets *ret to whether the list of secrets contains the path. */
static int secret_file_is_listed(struct arena *arena, const char *list, const char *path, bool *ret,
                                 struct err *err)
{
    struct pod_strings paths = {0};
    int result = pod_secrets_load(arena, list, &paths, err);
    *ret = false;
    for (size_t i = 0; i < paths.count; i++)
        *ret |= str_eq(paths.items[i], path);
    return result;
}

int node_secret_file_add(const struct node_namespaces *space, const char *state_dir,
                         const char *path, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *real, *list = arena_printf(arena, "%s/secrets", state_dir), *state;
    bool listed;
    int result = secret_file_resolve(arena, path, &real, err);
    if (result == 0)
        result = secret_file_resolve(arena, state_dir, &state, err);
    if (result < 0)
        return result;
    if (str_has_prefix(real, arena_printf(arena, "%s/", state)))
        return 0; /* pods see nothing of the state directory */
    result = secret_file_is_listed(arena, list, real, &listed, err);
    /* A file that does not exist when a container starts cannot be masked in that container. */
    if (result == 0 && !(listed && file_exists(real)) && !node_namespaces_plain(space) &&
        some_pod_runs(state_dir))
        return err_set(err, ERR_EXISTS,
                       "the running pods could read '%s': stop them with 'trainyard down' first, "
                       "or leave out --kubeconfig",
                       path);
    return result < 0 ? result : pod_secrets_add(list, real, err);
}
