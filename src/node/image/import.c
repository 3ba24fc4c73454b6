/* Implements node_image_import() for `trainyard image import`. Unpacks the layers of each image
 * into a separate directory, checks all digests, and renames the directory into place. Other
 * processes never see an incomplete image. */
#include "node/node.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/image/config.h"
#include "node/image/name.h"
#include "node/image/store.h"
#include "node/image/table.h"
#include "node/image/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The state of an import. */
struct importing {
    struct arena *arena;
    const struct node_image_import *wanted;
    const char *directory; /* the directory of this import */
    uint64_t bytes_left;
    struct image_archive archive;
    struct err *err;
};

/* Unpacks one layer and checks its digests. */
static int apply_layer(struct importing *import, const struct image_layer *layer,
                       struct image_unpack *unpack)
{
    const struct image_member *member = image_archive_find(&import->archive, layer->member);
    char stored[TLS_SHA256_TEXT], plain[TLS_SHA256_TEXT];
    _cleanup_(cleanup_image_stream) struct image_stream *stream = image_stream_new(
        import->archive.fd, (int64_t)member->offset, (int64_t)member->size, &import->bytes_left);
    int result = image_unpack_layer(
        unpack, (struct tar_source){.read = image_stream_read, .context = stream}, import->err);
    if (result == 0)
        result = image_stream_finish(stream, stored, plain, import->err);
    if (result == 0 &&
        ((layer->digest[0] && !str_eq(layer->digest, stored)) || !str_eq(layer->diff_id, plain)))
        result = err_set(import->err, ERR_INVALID,
                         "its digest does not match the image's manifest or configuration");
    return result < 0 ? err_wrap(import->err, "layer '%s'", layer->member) : 0;
}

static int unpack_all(struct importing *import, const struct image_found *image, const char *root,
                      uint64_t *ret_size)
{
    _cleanup_fd_ int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(import->err, errno, "cannot open '%s'", root);
    _cleanup_(cleanup_image_unpack) struct image_unpack *unpack =
        image_unpack_new(fd, import->wanted->files_max);
    for (size_t k = 0; k < image->layer_count; k++) {
        int result = apply_layer(import, &image->layers[k], unpack);
        if (result < 0)
            return result;
    }
    int result = image_unpack_finish(unpack, ret_size, import->err);
    /* Must come before the rename, so that after a power failure the image is either complete or
     * missing. */
    if (result == 0 && syncfs(fd) < 0)
        result = err_set_errno(import->err, errno, "cannot write '%s' to the disk", root);
    return result;
}

static int write_size(struct importing *import, const char *directory, uint64_t size)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "%llu", (unsigned long long)size);
    return file_write_atomic(arena_printf(import->arena, "%s/size", directory), text,
                             (size_t)length, 0600, import->err);
}

static int64_t read_size(struct importing *import, const char *directory)
{
    _cleanup_buf_ struct buf text;
    int64_t size = 0;
    buf_init(&text, 32);
    if (file_read(arena_printf(import->arena, "%s/size", directory), &text, NULL) == 0)
        (void)str_to_int64(text.data, 0, INT64_MAX, &size, NULL);
    return size;
}

static const char *new_image_directory(struct importing *import, const struct image_found *image)
{
    return arena_printf(import->arena, "%s/%s", import->directory, image->digest);
}

/* Unpacks the image, unless an image with the same digest exists. The digest determines the
 * content. */
static int unpack_image(struct importing *import, const struct image_found *image)
{
    const char *new_directory = new_image_directory(import, image);
    const char *root = arena_printf(import->arena, "%s/rootfs", new_directory);
    uint64_t size;
    int result;
    if (file_exists(image_directory(import->arena, import->wanted->state_dir, image->digest)) ||
        file_exists(new_directory))
        return 0;
    if ((result = file_make_dirs(root, 0755, import->err)) < 0 ||
        (result = unpack_all(import, image, root, &size)) < 0)
        return result;
    return write_size(import, new_directory, size);
}

/* Renames the unpacked image into place, unless the image exists. The caller holds the lock of the
 * table; images are removed under the same lock. */
static int place_image(struct importing *import, const struct image_found *image)
{
    const char *place = image_directory(import->arena, import->wanted->state_dir, image->digest);
    /* Usually does nothing. Another process may have removed the image after unpack_images() had
     * found that it exists; then the image is unpacked while the lock is held. */
    int result = unpack_image(import, image);
    if (result < 0)
        return result;
    if (!file_exists(place) && rename(new_image_directory(import, image), place) < 0)
        return err_set_errno(import->err, errno, "cannot rename the new image to '%s'", place);
    return 0;
}

/* Sets `*ret` to the name as it is in the table: with a tag. */
static int name_of(struct importing *import, const char *text, const char **ret)
{
    struct image_name name;
    int result = image_name_parse(import->arena, text, &name, import->err);
    if (result < 0)
        return result;
    if (!name.tag[0])
        name.tag = "latest";
    *ret = image_name_text(import->arena, &name);
    return 0;
}

static void add_row(struct importing *import, struct json *table, const struct image_found *image,
                    const char *name, struct json *ret)
{
    struct arena *arena = import->arena;
    struct json *row = json_clone(arena, image->row);
    char now[MOMENT_TEXT_MAX];
    moment_format(moment_wall_ms(), now);
    json_set_string(arena, row, "digest", image->digest);
    if (image->manifest[0])
        json_set_string(arena, row, "manifest", image->manifest);
    json_set_int(
        arena, row, "size",
        read_size(import, image_directory(arena, import->wanted->state_dir, image->digest)));
    json_set_string(arena, row, "created", now);
    json_set(arena, table, name, row);
    struct json *item = json_clone(arena, row);
    json_set_string(arena, item, "name", name);
    json_append(ret, item);
}

/* Puts the unpacked images into place and into the table. */
static int name_images(struct importing *import, const struct image_found *images, size_t count,
                       struct json *ret)
{
    _cleanup_fd_ int lock = -1;
    struct json *table = NULL;
    int result = image_store_lock(import->wanted->state_dir, &lock, import->err);
    if (result == 0)
        result = image_table_load(import->arena, import->wanted->state_dir, &table, import->err);
    for (size_t k = 0; result == 0 && k < count; k++) {
        size_t names = import->wanted->name ? 1 : images[k].name_count;
        result = place_image(import, &images[k]);
        for (size_t n = 0; result == 0 && n < names; n++) {
            const char *name = NULL;
            result = name_of(
                import, import->wanted->name ? import->wanted->name : images[k].names[n], &name);
            if (result == 0)
                add_row(import, table, &images[k], name, ret);
        }
    }
    if (result == 0)
        result = image_table_store(import->wanted->state_dir, table, import->err);
    return result < 0 ? result : image_store_collect(import->wanted->state_dir, table, import->err);
}

static int import_check_names(struct importing *import, const struct image_found *images,
                              size_t count)
{
    const char *name;
    if (import->wanted->name && count > 1)
        return err_set(import->err, ERR_INVALID, "it contains %zu images: leave out the name",
                       count);
    for (size_t k = 0; !import->wanted->name && k < count; k++) {
        /* An archive need not name its images; one that skopeo wrote to oci-archive:FILE does not.
         */
        if (images[k].name_count == 0)
            return err_set(import->err, ERR_INVALID,
                           "the archive has no name for the image: give a name after the file");
        for (size_t n = 0; n < images[k].name_count; n++)
            if (name_of(import, images[k].names[n], &name) < 0)
                return err_wrap(import->err, "the name in the archive");
    }
    return import->wanted->name ? name_of(import, import->wanted->name, &name) : 0;
}

/* Blocks SIGINT and SIGTERM, so that node_image_import() can remove the files of an interrupted
 * import. image_unpack_layer() checks for these signals. */
static int unpack_images(struct importing *import, const struct image_found *images, size_t count)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    int result = 0;
    for (size_t k = 0; result == 0 && k < count; k++)
        result = unpack_image(import, &images[k]);
    return result;
}

static int import_from(struct importing *import, struct json *ret)
{
    struct image_found *images = ARENA_ARRAY(import->arena, struct image_found, IMAGES_MAX);
    size_t count;
    int result = image_archive_open(import->arena, import->wanted->file,
                                    arena_printf(import->arena, "%s/archive", import->directory),
                                    &import->bytes_left, &import->archive, import->err);
    if (result < 0)
        return result;
    if ((result = image_config_read(&import->archive, images, &count, import->err)) < 0 ||
        (result = import_check_names(import, images, count)) < 0 ||
        (result = unpack_images(import, images, count)) < 0)
        count = 0;
    if (result == 0)
        result = name_images(import, images, count, ret);
    image_archive_close(&import->archive);
    return result;
}

int node_image_import(struct arena *arena, const struct node_image_import *wanted,
                      struct json **ret, struct err *err)
{
    struct importing import = {
        .arena = arena, .wanted = wanted, .bytes_left = wanted->bytes_max, .err = err};
    _cleanup_fd_ int lock = -1, directory_fd = -1;
    struct json *table, *rows = json_array(arena);
    int result;
    if ((result = image_store_lock(wanted->state_dir, &lock, err)) < 0 ||
        (result = image_table_load(arena, wanted->state_dir, &table, err)) < 0 ||
        (result = image_store_collect(wanted->state_dir, table, err)) < 0 ||
        (result = image_store_begin(arena, wanted->state_dir, &import.directory, &directory_fd,
                                    err)) < 0)
        return result;
    close(TAKE_FD(lock));
    sigset_t before;
    sigprocmask(SIG_BLOCK, NULL, &before);
    result = import_from(&import, rows);
    if (result < 0)
        result = err_wrap(err, "'%s'", wanted->file);
    int removed = file_remove_tree(import.directory, result < 0 ? NULL : err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (result == 0)
        result = removed;
    if (result == 0)
        *ret = rows;
    return result;
}
