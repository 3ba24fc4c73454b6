/* Writes a set of files that changes atomically; see volume/set.h. */
#include "node/volume/set.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/volume/group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_MAX_SIZE = 128 };

/* Returns true if the API allows the path inside a volume: a relative path without "..". */
static bool is_inner_path(const char *path)
{
    if (!path[0] || path[0] == '/')
        return false;
    for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return false;
    return strncmp(path, "..", 2) != 0; /* the layout reserves such names at the top */
}

int volume_set_add(struct volume_set *set, const char *path, const char *data, size_t size,
                   mode_t mode, struct err *err)
{
    if (!is_inner_path(path))
        return err_set(err, ERR_INVALID, "'%s' is not a path inside a volume", path);
    const struct volume_set_entry entry = {path, data, size, mode & 0777};
    for (size_t i = 0; i < set->count; i++) {
        if (str_eq(set->entries[i].path, path)) {
            set->entries[i] = entry;
            return 0;
        }
    }
    if (set->count == set->capacity) {
        size_t larger = set->capacity ? set->capacity * 2 : 16;
        struct volume_set_entry *moved = arena_zalloc(set->arena, larger * sizeof(*moved));
        if (set->count)
            memcpy(moved, set->entries, set->count * sizeof(*moved));
        set->entries = moved;
        set->capacity = larger;
    }
    set->entries[set->count++] = entry;
    return 0;
}

/* Returns the checksum that identifies a set. The name of the set's directory ends with it. */
static uint64_t sum_of(const struct volume_set *set, int64_t group)
{
    uint64_t sum = hash_fnv1a(HASH_FNV_START, &group, sizeof(group));
    if (set->boot)
        sum = hash_fnv1a(sum, set->boot, strlen(set->boot) + 1);
    for (size_t i = 0; i < set->count; i++) {
        const struct volume_set_entry *entry = &set->entries[i];
        sum = hash_fnv1a(sum, entry->path, strlen(entry->path) + 1);
        sum = hash_fnv1a(sum, &entry->mode, sizeof(entry->mode));
        sum = hash_fnv1a(sum, &entry->size, sizeof(entry->size));
        sum = hash_fnv1a(sum, entry->data, entry->size);
    }
    return sum;
}

/* Writes the name of the set's directory, "..<time>.<sum>". */
static void name_version(uint64_t sum, char ret[NAME_MAX_SIZE])
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t size = strftime(ret, NAME_MAX_SIZE, "..%Y_%m_%d_%H_%M_%S", &utc);
    snprintf(ret + size, NAME_MAX_SIZE - size, ".%016" PRIx64, sum);
}

/* Creates the file and its directories with exactly the given modes. The umask does not matter. */
static int volume_set_write_entry(int version, const struct volume_set_entry *entry,
                                  struct err *err)
{
    _cleanup_free_ char *path = mem_strdup(entry->path);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if ((mkdirat(version, path, 0755) < 0 && errno != EEXIST) ||
            fchmodat(version, path, 0755, 0) < 0)
            return err_set_errno(err, errno, "cannot make '%s'", path);
        *slash = '/';
    }
    _cleanup_fd_ int fd = openat(version, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot make '%s'", path);
    int result = file_write_all(fd, entry->data, entry->size, err);
    if (result == 0 && fchmod(fd, entry->mode) < 0)
        result = err_set_errno(err, errno, "cannot set the mode of '%s'", path);
    return result < 0 ? err_wrap(err, "'%s'", path) : 0;
}

/* Writes the files of the set to the new directory `path`. */
static int write_version(const struct volume_set *set, const char *path, int64_t group,
                         struct err *err)
{
    int result = file_remove_tree(path, err); /* a killed process may have left it */
    if (result < 0)
        return result;
    if (mkdir(path, 0755) < 0)
        return err_set_errno(err, errno, "cannot make '%s'", path);
    _cleanup_fd_ int version = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (version < 0 || fchmod(version, 0755) < 0)
        return err_set_errno(err, errno, "cannot open '%s'", path);
    for (size_t i = 0; result == 0 && i < set->count; i++)
        result = volume_set_write_entry(version, &set->entries[i], err);
    return result < 0 ? result : volume_group_give(path, group, true, err);
}

/* Makes the link `name`, and replaces a file, link or directory of that name. A file or link is
 * replaced atomically. */
static int put_link(const char *directory, const char *name, const char *target, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    _cleanup_free_ char *aside = mem_printf("%s/..link", directory);
    (void)unlink(aside);
    if (symlink(target, aside) == 0) {
        if (rename(aside, path) == 0)
            return 0;
        if (errno == EISDIR || errno == ENOTEMPTY) /* the layout of an older version */
            (void)file_remove_tree(path, NULL);
        if (rename(aside, path) == 0)
            return 0;
    }
    return err_set_errno(err, errno, "cannot link '%s'", path);
}

static bool volume_set_is_shown(const struct volume_set *set, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < set->count; i++)
        if (strncmp(set->entries[i].path, name, size) == 0 &&
            (set->entries[i].path[size] == '/' || set->entries[i].path[size] == '\0'))
            return true;
    return false;
}

/* Makes a link to "..data/<name>" for each name at the top of the set. */
static int show_names(const struct volume_set *set, const char *directory, struct err *err)
{
    for (size_t i = 0; i < set->count; i++) {
        const char *path = set->entries[i].path;
        _cleanup_free_ char *name = mem_strndup(path, strcspn(path, "/"));
        _cleanup_free_ char *target = mem_printf(VOLUME_SET_DATA "/%s", name);
        _cleanup_free_ char *link = mem_printf("%s/%s", directory, name);
        char now[NAME_MAX_SIZE * 4];
        ssize_t size = readlink(link, now, sizeof(now) - 1);
        now[size > 0 ? size : 0] = '\0';
        int result = str_eq(now, target) ? 0 : put_link(directory, name, target, err);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Removes the names and the directory of an earlier set. */
static void remove_stale(const struct volume_set *set, const char *directory, const char *version)
{
    DIR *entries = opendir(directory);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *name = entry->d_name;
        if (str_eq(name, ".") || str_eq(name, "..") || str_eq(name, VOLUME_SET_DATA) ||
            str_eq(name, version) || volume_set_is_shown(set, name))
            continue;
        _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
        (void)file_remove_tree(path, NULL);
    }
    if (entries)
        closedir(entries);
}

int volume_set_publish(const struct volume_set *set, const char *directory, int64_t group,
                       struct err *err)
{
    uint64_t sum = sum_of(set, group);
    _cleanup_free_ char *data = mem_printf("%s/" VOLUME_SET_DATA, directory);
    char now[NAME_MAX_SIZE], suffix[32], version[NAME_MAX_SIZE];
    snprintf(suffix, sizeof(suffix), ".%016" PRIx64, sum);
    ssize_t size = readlink(data, now, sizeof(now) - 1);
    now[size > 0 ? size : 0] = '\0';
    if (str_has_suffix(now, suffix))
        return 0;
    name_version(sum, version);
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, version);
    int result;
    if ((result = file_make_dirs(directory, 0755, err)) < 0 ||
        (result = volume_group_give_one(directory, group, err)) < 0)
        return result;
    if ((result = write_version(set, path, group, err)) < 0 ||
        (result = put_link(directory, VOLUME_SET_DATA, version, err)) < 0) {
        (void)file_remove_tree(path, NULL);
        return result;
    }
    if ((result = show_names(set, directory, err)) < 0)
        return result;
    remove_stale(set, directory, version);
    return 0;
}
