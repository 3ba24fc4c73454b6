/* Opens an image archive and finds its members; see image/archive.h. */
#include "node/image/archive.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/image/tar_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 8 }; /* the maximum of names in a chain of links, with the first and the last */

/* Returns the name `name` in `directory` in one spelling: "./a//b/" becomes "a/b". ".." goes one
 * level up, never above the top. */
static char *plain_name(struct arena *arena, const char *directory, const char *name)
{
    char *joined = arena_printf(arena, "%s/%s", directory, name);
    char *target = joined, *rest = joined;
    for (char *part; (part = strsep(&rest, "/"));) {
        if (str_eq(part, "..")) {
            while (target > joined && *--target != '/')
                continue;
        } else if (part[0] && !str_eq(part, ".")) {
            size_t size = strlen(part);
            if (target > joined)
                *target++ = '/';
            memmove(target, part, size);
            target += size;
        }
    }
    *target = '\0';
    return joined;
}

static const char *directory_of(struct arena *arena, const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? arena_strndup(arena, name, (size_t)(slash - name)) : "";
}

/* The offset in the archive at which index_members() reads next. */
struct position {
    int fd;
    uint64_t at;
};

static ssize_t read_at(void *context, void *data, size_t size, struct err *err)
{
    struct position *position = context;
    ssize_t got = pread(position->fd, data, size, (off_t)position->at);
    if (got < 0)
        return err_set_errno(err, errno, "cannot read the archive");
    position->at += (uint64_t)got;
    return got;
}

static int skip_bytes_at(void *context, uint64_t size, struct err *err)
{
    struct position *position = context;
    if (size > (uint64_t)INT64_MAX - position->at)
        return err_set(err, ERR_INVALID, "the size of an entry is too large");
    position->at += size;
    return 0;
}

static int add_member(struct image_archive *archive, const struct tar_reader *reader,
                      const struct tar_entry *entry, struct err *err)
{
    struct arena *arena = archive->arena;
    if (entry->type != TAR_FILE && entry->type != TAR_SYMLINK && entry->type != TAR_HARDLINK)
        return 0;
    if (archive->members.count == IMAGE_ARCHIVE_MEMBERS_MAX)
        return err_set(err, ERR_TOO_MANY, "the archive has more than %d members",
                       IMAGE_ARCHIVE_MEMBERS_MAX);
    struct image_member *member = ARENA_NEW(arena, struct image_member);
    const char *name = plain_name(arena, "", entry->path);
    *member = (struct image_member){.offset = reader->position, .size = entry->size};
    if (entry->type == TAR_SYMLINK)
        member->link = plain_name(arena, directory_of(arena, name), entry->link);
    else if (entry->type == TAR_HARDLINK)
        member->link = plain_name(arena, "", entry->link);
    map_put(&archive->members, name, member);
    return 0;
}

static int index_members(struct image_archive *archive, struct err *err)
{
    struct position position = {.fd = archive->fd};
    struct tar_reader reader;
    struct tar_entry entry;
    tar_reader_init(
        &reader, (struct tar_source){.read = read_at, .skip = skip_bytes_at, .context = &position});
    int got;
    while ((got = tar_read_next(&reader, &entry, err)) > 0)
        if ((got = add_member(archive, &reader, &entry, err)) < 0)
            break;
    tar_reader_release(&reader);
    return got;
}

/* Copies the plain bytes of the archive to a file that can be read at any offset. */
static int copy_archive(int from, const char *aside, uint64_t *budget, int *ret_fd, struct err *err)
{
    _cleanup_(cleanup_image_stream) struct image_stream *stream =
        image_stream_new(from, IMAGE_STREAM_ALL, IMAGE_STREAM_ALL, budget);
    _cleanup_fd_ int to = open(aside, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (to < 0 || unlink(aside) < 0) /* so that a killed import leaves no large file */
        return err_set_errno(err, errno, "cannot make '%s'", aside);
    char data[64 * 1024];
    for (ssize_t got; (got = image_stream_read(stream, data, sizeof(data), err)) != 0;) {
        if (got < 0)
            return (int)got;
        int result = file_write_all(to, data, (size_t)got, err);
        if (result < 0)
            return err_wrap(err, "'%s'", aside);
    }
    *ret_fd = TAKE_FD(to);
    return 0;
}

static bool is_plain_file(int fd)
{
    struct stat info;
    unsigned char magic[4];
    ssize_t got = pread(fd, magic, sizeof(magic), 0);
    return got >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
           !image_stream_is_packed(magic, (size_t)got);
}

int image_archive_open(struct arena *arena, const char *path, const char *aside, uint64_t *budget,
                       struct image_archive *ret, struct err *err)
{
    *ret = (struct image_archive){.arena = arena, .fd = -1};
    _cleanup_fd_ int fd = str_eq(path, "-") ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open '%s'", path);
    int result = 0;
    if (is_plain_file(fd))
        ret->fd = TAKE_FD(fd);
    else
        result = copy_archive(fd, aside, budget, &ret->fd, err);
    if (result == 0)
        result = index_members(ret, err);
    if (result < 0)
        image_archive_close(ret);
    return result;
}

void image_archive_close(struct image_archive *archive)
{
    map_release(&archive->members);
    if (archive->fd >= 0)
        close(archive->fd);
    archive->fd = -1;
}

const struct image_member *image_archive_find(const struct image_archive *archive, const char *name)
{
    const char *wanted = plain_name(archive->arena, "", name);
    for (int i = 0; i < LINKS_MAX; i++) {
        const struct image_member *member = map_get(&archive->members, wanted);
        if (!member || !member->link)
            return member;
        wanted = member->link;
    }
    return NULL;
}

int image_archive_document(const struct image_archive *archive, const char *name, struct json **ret,
                           char ret_digest[TLS_SHA256_TEXT], struct err *err)
{
    const struct image_member *member = image_archive_find(archive, name);
    if (!member)
        return err_set(err, ERR_NOT_FOUND, "the archive does not contain '%s'", name);
    if (member->size > IMAGE_DOCUMENT_MAX)
        return err_set(err, ERR_TOO_LARGE, "'%s' has more than %d bytes", name, IMAGE_DOCUMENT_MAX);
    size_t size = (size_t)member->size;
    char *text = arena_alloc(archive->arena, size + 1);
    if (pread(archive->fd, text, size, (off_t)member->offset) != (ssize_t)size)
        return err_set(err, ERR_INVALID, "the archive is cut short: '%s' is incomplete", name);
    _cleanup_(cleanup_tls_sha256) struct tls_sha256 *sum = tls_sha256_new();
    tls_sha256_add(sum, text, size);
    tls_sha256_end(sum, ret_digest);
    if (json_parse(archive->arena, text, size, NULL, ret, err) < 0)
        return err_wrap(err, "'%s'", name);
    return 0;
}
