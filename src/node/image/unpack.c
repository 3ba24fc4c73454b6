/* Unpacks layers into a directory; see image/unpack.h. */
#include "node/image/unpack.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "base/vec.h"
#include "node/image/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A whiteout deletes a file of a lower layer. Its name has this prefix. */
#define WHITEOUT        ".wh."
#define WHITEOUT_OPAQUE ".wh..wh..opq"
#define WHITEOUT_OWN    ".wh..wh." /* prefix of metadata of a union file system */

enum { KEPT_BITS = 01777 }; /* of a mode: not the set-id bits */

/* The final mode and time of a directory. */
struct directory_note {
    unsigned mode;
    int64_t mtime;
};

struct image_unpack {
    int root;
    bool sets_owners; /* the process is root */
    uint64_t entries_left;
    struct map directories; /* path → struct directory_note */
    struct map written;     /* paths that the current layer contains */
    int parent;             /* the open directory of the previous entry, or -1 */
    char *parent_path;      /* the path of `parent`, or NULL */
};

struct image_unpack *image_unpack_new(int root_fd, uint64_t entries_max)
{
    struct image_unpack *unpack = mem_calloc(1, sizeof(*unpack));
    unpack->root = root_fd;
    unpack->sets_owners = geteuid() == 0;
    unpack->entries_left = entries_max;
    unpack->parent = -1;
    return unpack;
}

/* Closes `parent`. Must be called before the directory may be replaced. */
static void forget_parent(struct image_unpack *unpack)
{
    if (unpack->parent >= 0)
        close(unpack->parent);
    unpack->parent = -1;
    free(unpack->parent_path);
    unpack->parent_path = NULL;
}

struct image_unpack *image_unpack_free(struct image_unpack *unpack)
{
    if (!unpack)
        return NULL;
    forget_parent(unpack);
    const char *path;
    void *note;
    for (size_t i = 0; map_next(&unpack->directories, &i, &path, &note);)
        free(note);
    map_release(&unpack->directories);
    map_release(&unpack->written);
    free(unpack);
    return NULL;
}

/* Returns the path from the top, without doubled slashes and single dots. Refuses "..", because no
 * image needs it. */
static int clean_path(const char *given, char **ret, struct err *err)
{
    _cleanup_free_ char *copy = mem_strdup(given);
    char *plain = mem_calloc(1, strlen(given) + 1), *target = plain, *rest = copy;
    for (char *part; (part = strsep(&rest, "/"));) {
        if (!part[0] || str_eq(part, "."))
            continue;
        if (str_eq(part, "..")) {
            free(plain);
            return err_set(err, ERR_INVALID, "'%s' contains '..', which an image must not use",
                           given);
        }
        if (target > plain)
            *target++ = '/';
        target = stpcpy(target, part);
    }
    *ret = plain;
    return 0;
}

/* Records that the current layer contains the path and all directories above it. */
static void note_written(struct image_unpack *unpack, const char *path)
{
    _cleanup_free_ char *copy = mem_strdup(path);
    for (char *slash; !map_get(&unpack->written, copy); *slash = '\0') {
        map_put(&unpack->written, copy, unpack);
        slash = strrchr(copy, '/');
        if (!slash)
            return;
    }
}

/* Opens the directory that contains the path, and creates missing directories. `*ret_name` is the
 * last part of the path. */
static int enter_parent(struct image_unpack *unpack, const char *path, const char **ret_name,
                        struct err *err)
{
    const char *slash = strrchr(path, '/');
    *ret_name = slash ? slash + 1 : path;
    _cleanup_free_ char *directory = mem_strndup(path, slash ? (size_t)(slash - path) : 0);
    if (unpack->parent >= 0 && str_eq(unpack->parent_path, directory))
        return 0;
    forget_parent(unpack);
    int result = beneath_make_directories(unpack->root, directory, &unpack->parent, err);
    if (result == 0)
        unpack->parent_path = TAKE(directory);
    return result;
}

/* Removes the entries of lower layers from this directory and its subdirectories. Entries of the
 * current layer stay. */
static int clear_directory(struct image_unpack *unpack, int parent, const char *path,
                           struct err *err)
{
    VEC(char *) names = {0};
    int result = 0;
    DIR *entries = beneath_list(parent, ".", err);
    if (!entries)
        return -ERR_IO;
    for (struct dirent *entry; (entry = readdir(entries));)
        if (!str_eq(entry->d_name, ".") && !str_eq(entry->d_name, ".."))
            vec_push(&names, mem_strdup(entry->d_name));
    closedir(entries);
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_free_ char *child = mem_printf("%s%s%s", path, path[0] ? "/" : "", names.items[i]);
        if (result == 0 && !map_get(&unpack->written, child)) {
            result = beneath_remove(parent, names.items[i], err);
        } else if (result == 0) {
            _cleanup_fd_ int inner =
                openat(parent, names.items[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner >= 0)
                result = clear_directory(unpack, inner, child, err);
        }
        free(names.items[i]);
    }
    vec_release(&names);
    return result;
}

/* Applies a whiteout. ".wh.x" deletes x, unless the current layer contains x too. ".wh..wh..opq"
 * deletes all entries of lower layers in its directory. */
static int apply_whiteout(struct image_unpack *unpack, const char *path, const char *name,
                          struct err *err)
{
    if (str_eq(name, WHITEOUT_OPAQUE)) {
        forget_parent(unpack);
        _cleanup_free_ char *directory = mem_strndup(path, strlen(path) - strlen(name));
        size_t size = strlen(directory);
        if (size)
            directory[size - 1] = '\0';
        note_written(unpack, directory);
        _cleanup_fd_ int fd = -1;
        int result = beneath_make_directories(unpack->root, directory, &fd, err);
        return result < 0 ? result : clear_directory(unpack, fd, directory, err);
    }
    if (str_has_prefix(name, WHITEOUT_OWN))
        return 0;
    const char *hidden = name + strlen(WHITEOUT);
    _cleanup_free_ char *whole =
        mem_printf("%.*s%s", (int)(strlen(path) - strlen(name)), path, hidden);
    if (!hidden[0] || str_eq(hidden, ".") || str_eq(hidden, ".."))
        return err_set(err, ERR_INVALID, "whiteout '%s' does not name a file", path);
    if (map_get(&unpack->written, whole))
        return 0;
    int result = beneath_remove(unpack->parent, hidden, err);
    forget_parent(unpack); /* its path may contain the removed directory */
    return result;
}

static int unpack_write_file(struct image_unpack *unpack, struct tar_reader *reader,
                             const struct tar_entry *entry, const char *name, struct err *err)
{
    _cleanup_fd_ int fd =
        openat(unpack->parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot make '%s'", entry->path);
    char data[64 * 1024];
    for (ssize_t got; (got = tar_read_data(reader, data, sizeof(data), err)) != 0;) {
        int result = got < 0 ? (int)got : file_write_all(fd, data, (size_t)got, err);
        if (result < 0)
            return err_wrap(err, "cannot write '%s'", entry->path);
    }
    return 0;
}

/* Makes a hard link to a file of the image. The target is resolved inside the root directory. */
static int make_hardlink(struct image_unpack *unpack, const struct tar_entry *entry,
                         const char *name, struct err *err)
{
    _cleanup_free_ char *target = NULL;
    int result = clean_path(entry->link, &target, err);
    if (result < 0)
        return result;
    const char *slash = strrchr(target, '/');
    _cleanup_free_ char *directory = mem_strndup(target, slash ? (size_t)(slash - target) : 0);
    _cleanup_fd_ int from = -1;
    if (beneath_open_directory(unpack->root, directory, &from, err) < 0)
        return err_wrap(err, "'%s' links to '%s'", entry->path, entry->link);
    if (linkat(from, slash ? slash + 1 : target, unpack->parent, name, 0) < 0)
        return err_set_errno(err, errno, "cannot link '%s' to '%s'", entry->path, entry->link);
    return 0;
}

static int make_directory(struct image_unpack *unpack, const struct tar_entry *entry,
                          const char *path, const char *name, struct err *err)
{
    if (mkdirat(unpack->parent, name, 0755) < 0 && errno != EEXIST)
        return err_set_errno(err, errno, "cannot make '%s'", entry->path);
    struct directory_note *note = mem_calloc(1, sizeof(*note));
    *note = (struct directory_note){.mode = entry->mode & KEPT_BITS, .mtime = entry->mtime};
    free(map_put(&unpack->directories, path, note));
    return 0;
}

static int make_entry(struct image_unpack *unpack, struct tar_reader *reader,
                      const struct tar_entry *entry, const char *path, const char *name,
                      struct err *err)
{
    switch (entry->type) {
    case TAR_FILE:
        return unpack_write_file(unpack, reader, entry, name, err);
    case TAR_DIRECTORY:
        return make_directory(unpack, entry, path, name, err);
    case TAR_HARDLINK:
        return make_hardlink(unpack, entry, name, err);
    case TAR_SYMLINK:
        if (symlinkat(entry->link, unpack->parent, name) < 0)
            return err_set_errno(err, errno, "cannot make link '%s'", entry->path);
        return 0;
    case TAR_FIFO:
        if (mkfifoat(unpack->parent, name, 0600) < 0)
            return err_set_errno(err, errno, "cannot make '%s'", entry->path);
        return 0;
    case TAR_DEVICE:
    default:
        return 0;
    }
}

/* Sets the owner, mode and time of a new entry. The mode and time of a directory are set in
 * image_unpack_finish(). A hard link shares all three with its file. */
static int set_attributes(const struct image_unpack *unpack, const struct tar_entry *entry,
                          const char *name, struct err *err)
{
    if (entry->type == TAR_HARDLINK)
        return 0;
    /* The process may be root of a user namespace that does not map every id. */
    if (unpack->sets_owners &&
        fchownat(unpack->parent, name, entry->uid, entry->gid, AT_SYMLINK_NOFOLLOW) < 0 &&
        errno != EPERM && errno != EINVAL)
        return err_set_errno(err, errno, "cannot set the owner of '%s'", entry->path);
    if (entry->type == TAR_DIRECTORY)
        return 0;
    if (entry->type != TAR_SYMLINK &&
        fchmodat(unpack->parent, name, entry->mode & KEPT_BITS, 0) < 0)
        return err_set_errno(err, errno, "cannot set the mode of '%s'", entry->path);
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = entry->mtime}};
    (void)utimensat(unpack->parent, name, times, AT_SYMLINK_NOFOLLOW);
    return 0;
}

/* Unpacks one entry of the layer. */
static int apply_entry(struct image_unpack *unpack, struct tar_reader *reader,
                       const struct tar_entry *entry, struct err *err)
{
    _cleanup_free_ char *path = NULL;
    const char *name;
    int result = clean_path(entry->path, &path, err);
    if (result < 0 || !path[0]) /* the root directory itself keeps its owner */
        return result;
    if ((result = enter_parent(unpack, path, &name, err)) < 0)
        return result;
    if (str_has_prefix(name, WHITEOUT))
        return apply_whiteout(unpack, path, name, err);
    note_written(unpack, path);
    if (entry->type == TAR_DEVICE)
        return 0;
    struct stat there;
    if (fstatat(unpack->parent, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        !(S_ISDIR(there.st_mode) && entry->type == TAR_DIRECTORY) &&
        (result = beneath_remove(unpack->parent, name, err)) < 0)
        return result;
    result = make_entry(unpack, reader, entry, path, name, err);
    return result < 0 ? result : set_attributes(unpack, entry, name, err);
}

static bool is_end_signal_pending(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM);
}

int image_unpack_layer(struct image_unpack *unpack, struct tar_source source, struct err *err)
{
    struct tar_reader reader;
    struct tar_entry entry;
    tar_reader_init(&reader, source);
    map_release(&unpack->written);
    int got;
    while ((got = tar_read_next(&reader, &entry, err)) > 0) {
        if (is_end_signal_pending())
            got = err_set(err, ERR_CANCELED, "the import was interrupted");
        else if (unpack->entries_left-- == 0)
            got = err_set(err, ERR_TOO_MANY, "it has more files than are allowed");
        else
            got = apply_entry(unpack, &reader, &entry, err);
        if (got < 0)
            break;
    }
    tar_reader_release(&reader);
    forget_parent(unpack);
    return got;
}

static int by_length_descending(const void *a, const void *b)
{
    size_t one = strlen(*(const char *const *)a), other = strlen(*(const char *const *)b);
    return one < other ? 1 : one > other ? -1 : 0;
}

/* Returns the size of all files in bytes. A file with several names counts once. */
static uint64_t unpack_tree_size(int root)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d/.", root);
    char *const roots[] = {path, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
    uint64_t size = 0;
    for (FTSENT *entry; walk && (entry = fts_read(walk));)
        if (entry->fts_info == FTS_F)
            size += (uint64_t)entry->fts_statp->st_size / entry->fts_statp->st_nlink;
    if (walk)
        fts_close(walk);
    return size;
}

/* Sets the modes of inner directories first, because the final mode of an outer directory may deny
 * access to them. */
int image_unpack_finish(struct image_unpack *unpack, uint64_t *ret_size, struct err *err)
{
    VEC(const char *) paths = {0};
    const char *path;
    void *value;
    *ret_size = unpack_tree_size(unpack->root);
    for (size_t i = 0; map_next(&unpack->directories, &i, &path, &value);)
        vec_push(&paths, path);
    if (paths.count)
        qsort(paths.items, paths.count, sizeof(*paths.items), by_length_descending);
    int result = 0;
    for (size_t i = 0; result == 0 && i < paths.count; i++) {
        const struct directory_note *note = map_get(&unpack->directories, paths.items[i]);
        const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = note->mtime}};
        _cleanup_fd_ int fd = beneath_open_exactly(unpack->root, paths.items[i]);
        if (fd < 0)
            continue; /* a later layer has deleted it */
        if (fchmod(fd, note->mode) < 0)
            result = err_set_errno(err, errno, "cannot set the mode of '%s'", paths.items[i]);
        (void)futimens(fd, times);
    }
    vec_release(&paths);
    return result;
}
