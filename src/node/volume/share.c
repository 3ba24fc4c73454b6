/* Implements node_share_find() of node.h: checks a directory of the machine that 'trainyard up
 * --share' gives to every pod. Every pod can change all files in it, so directories of the system,
 * the user's home directory and directories with secrets are refused. */
#include "node/node.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/plan/masks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns true if `path` is `directory` or below it. */
static bool share_lies_in(const char *path, const char *directory)
{
    size_t size = strlen(directory);
    if (str_eq(directory, "/"))
        return true;
    return strncmp(path, directory, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

static const char *real_path(struct arena *arena, const char *path)
{
    _cleanup_free_ char *real = path ? realpath(path, NULL) : NULL;
    return real ? arena_strdup(arena, real) : path;
}

/* Refuses directories of which each pod has its own, and directories of the system. */
static int check_system(const char *path, struct err *err)
{
    static const char *const PER_POD[] = {"/run", "/tmp", "/var/tmp"};
    /* Refused themselves, but not the directories below them. */
    static const char *const SYSTEM[] = {"/", "/boot", "/home", "/opt", "/usr", "/var"};
    /* Refused with everything below them. */
    static const char *const WHOLE[] = {"/dev", "/etc", "/proc", "/sys"};
    for (size_t i = 0; i < ARRAY_SIZE(PER_POD); i++)
        if (str_eq(path, PER_POD[i]))
            return err_set(err, ERR_INVALID,
                           "cannot share '%s': every pod has its own; share a directory below it",
                           path);
    bool is_of_system = false;
    for (size_t i = 0; i < ARRAY_SIZE(SYSTEM); i++)
        is_of_system = is_of_system || str_eq(path, SYSTEM[i]);
    for (size_t i = 0; i < ARRAY_SIZE(WHOLE); i++)
        is_of_system = is_of_system || share_lies_in(path, WHOLE[i]);
    return is_of_system ? err_set(err, ERR_INVALID,
                                  "cannot share '%s', which belongs to the system: share a "
                                  "directory that holds only what pods are to read and write",
                                  path)
                        : 0;
}

/* Refuses the home directory and the directories above it. There a pod could change the shell's
 * startup files and add keys, and so act as the home's owner on the machine. */
static int check_home(struct arena *arena, const char *path, const char *home, struct err *err)
{
    if (!home || !share_lies_in(real_path(arena, home), path))
        return 0;
    return err_set(
        err, ERR_INVALID,
        "cannot share '%s': a pod could change your keys and your shell's startup files; "
        "share a directory below '%s'",
        path, home);
}

static int check_masks(struct arena *arena, const char *state_dir, const char *home,
                       const char *path, struct err *err)
{
    struct pod_strings masks = {0};
    plan_masks_add(arena, state_dir, home, &masks);
    for (size_t i = 0; i < masks.count; i++)
        if (share_lies_in(path, real_path(arena, masks.items[i])))
            return err_set(err, ERR_INVALID,
                           "cannot share '%s': '%s' holds secrets and is hidden from pods; share a "
                           "directory elsewhere",
                           path, masks.items[i]);
    return 0;
}

int node_share_find(struct arena *arena, const char *state_dir, const char *home, const char *path,
                    const char **ret, struct err *err)
{
    _cleanup_free_ char *real = realpath(path, NULL);
    struct stat info;
    if (!real)
        return err_set_errno(err, errno, "cannot share '%s'", path);
    if (stat(real, &info) < 0 || !S_ISDIR(info.st_mode))
        return err_set(err, ERR_INVALID, "cannot share '%s': it is not a directory", path);
    int result = check_system(real, err);
    if (result == 0)
        result = check_masks(arena, state_dir, home, real, err);
    if (result == 0)
        result = check_home(arena, real, home, err);
    if (result == 0)
        *ret = arena_strdup(arena, real);
    return result;
}
