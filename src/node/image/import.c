/* Imports an image: reads the archive, unpacks its layers into a separate directory, checks all
 * digests, and renames the directory into place. Other processes never see an incomplete image. */
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

struct importing {
    struct arena *arena;
    const struct node_image_import *wanted;
    const char *aside; /* the directory of this import */
    uint64_t bytes_left;
    struct image_archive archive;
    struct err *err;
};

static int apply_layer(struct importing *i, const struct image_layer *layer,
                       struct image_unpack *unpack)
{
    const struct image_member *member = image_archive_find(&i->archive, layer->member);
    char stored[TLS_SHA256_TEXT], plain[TLS_SHA256_TEXT];
    _cleanup_(cleanup_image_stream) struct image_stream *stream = image_stream_new(
        i->archive.fd, (int64_t)member->offset, (int64_t)member->size, &i->bytes_left);
    int result = image_unpack_layer(
        unpack, (struct tar_source){.read = image_stream_read, .context = stream}, i->err);
    if (result == 0)
        result = image_stream_finish(stream, stored, plain, i->err);
    if (result == 0 &&
        ((layer->digest[0] && !str_eq(layer->digest, stored)) || !str_eq(layer->diff_id, plain)))
        result = err_set(i->err, ERR_INVALID, "its digest is not what the image says");
    return result < 0 ? err_wrap(i->err, "layer '%s'", layer->member) : 0;
}

static int unpack_all(struct importing *i, const struct image_found *image, const char *root,
                      uint64_t *ret_size)
{
    _cleanup_fd_ int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(i->err, errno, "cannot open '%s'", root);
    _cleanup_(cleanup_image_unpack) struct image_unpack *unpack =
        image_unpack_new(fd, i->wanted->files_max);
    for (size_t k = 0; k < image->layer_count; k++) {
        int result = apply_layer(i, &image->layers[k], unpack);
        if (result < 0)
            return result;
    }
    int result = image_unpack_finish(unpack, ret_size, i->err);
    /* Must come before the rename, so that after a power failure the image is either complete or
     * missing. */
    if (result == 0 && syncfs(fd) < 0)
        result = err_set_errno(i->err, errno, "cannot write '%s' to the disk", root);
    return result;
}

static int note_size(struct importing *i, const char *directory, uint64_t size)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "%llu", (unsigned long long)size);
    return file_write_atomic(arena_printf(i->arena, "%s/size", directory), text, (size_t)length,
                             0600, i->err);
}

static int64_t read_size(struct importing *i, const char *directory)
{
    _cleanup_buf_ struct buf text;
    int64_t size = 0;
    buf_init(&text, 32);
    if (file_read(arena_printf(i->arena, "%s/size", directory), &text, NULL) == 0)
        (void)str_to_int64(text.data, 0, INT64_MAX, &size, NULL);
    return size;
}

static const char *work_directory(struct importing *i, const struct image_found *image)
{
    return arena_printf(i->arena, "%s/%s", i->aside, image->digest);
}

/* Unpacks the image, unless an image with the same digest exists. That digest determines the
 * content. */
static int unpack_image(struct importing *i, const struct image_found *image)
{
    const char *work = work_directory(i, image);
    const char *root = arena_printf(i->arena, "%s/rootfs", work);
    uint64_t size;
    int result;
    if (file_exists(image_directory(i->arena, i->wanted->state_dir, image->digest)) ||
        file_exists(work))
        return 0;
    if ((result = file_make_dirs(root, 0755, i->err)) < 0 ||
        (result = unpack_all(i, image, root, &size)) < 0)
        return result;
    return note_size(i, work, size);
}

/* The caller holds the lock of the table. Images are removed under the same lock. */
static int place_image(struct importing *i, const struct image_found *image)
{
    const char *place = image_directory(i->arena, i->wanted->state_dir, image->digest);
    if (!file_exists(place) && rename(work_directory(i, image), place) < 0)
        return err_set_errno(i->err, errno, "cannot rename the new image to '%s'", place);
    return 0;
}

static int name_of(struct importing *i, const char *text, const char **ret)
{
    struct image_name name;
    int result = image_name_parse(i->arena, text, &name, i->err);
    if (result < 0)
        return result;
    if (!name.tag[0])
        name.tag = "latest";
    *ret = image_name_text(i->arena, &name);
    return 0;
}

static void add_row(struct importing *i, struct json *table, const struct image_found *image,
                    const char *name, struct json *ret)
{
    struct arena *arena = i->arena;
    struct json *row = json_clone(arena, image->row);
    char now[MOMENT_TEXT_MAX];
    moment_format(moment_wall_ms(), now);
    json_set_string(arena, row, "digest", image->digest);
    if (image->manifest[0])
        json_set_string(arena, row, "manifest", image->manifest);
    json_set_int(arena, row, "size",
                 read_size(i, image_directory(arena, i->wanted->state_dir, image->digest)));
    json_set_string(arena, row, "created", now);
    json_set(arena, table, name, row);
    struct json *told = json_clone(arena, row);
    json_set_string(arena, told, "name", name);
    json_append(ret, told);
}

static int name_images(struct importing *i, const struct image_found *images, size_t count,
                       struct json *ret)
{
    _cleanup_fd_ int lock = -1;
    struct json *table = NULL;
    int result = image_store_lock(i->wanted->state_dir, &lock, i->err);
    if (result == 0)
        result = image_table_load(i->arena, i->wanted->state_dir, &table, i->err);
    for (size_t k = 0; result == 0 && k < count; k++) {
        size_t names = i->wanted->name ? 1 : images[k].name_count;
        result = place_image(i, &images[k]);
        for (size_t n = 0; result == 0 && n < names; n++) {
            const char *name = NULL;
            result = name_of(i, i->wanted->name ? i->wanted->name : images[k].names[n], &name);
            if (result == 0)
                add_row(i, table, &images[k], name, ret);
        }
    }
    if (result == 0)
        result = image_table_store(i->wanted->state_dir, table, i->err);
    return result < 0 ? result : image_store_collect(i->wanted->state_dir, table, i->err);
}

static int import_check_names(struct importing *i, const struct image_found *images, size_t count)
{
    const char *name;
    if (i->wanted->name && count > 1)
        return err_set(i->err, ERR_INVALID, "there are %zu images in it: leave out the name",
                       count);
    for (size_t k = 0; !i->wanted->name && k < count; k++) {
        /* An archive need not name its images; one that skopeo wrote to oci-archive:FILE does not.
         */
        if (images[k].name_count == 0)
            return err_set(i->err, ERR_INVALID,
                           "the archive has no name for the image: give a name after the file");
        for (size_t n = 0; n < images[k].name_count; n++)
            if (name_of(i, images[k].names[n], &name) < 0)
                return err_wrap(i->err, "the name in the archive");
    }
    return i->wanted->name ? name_of(i, i->wanted->name, &name) : 0;
}

/* Blocks SIGINT and SIGTERM, so that the caller can remove the files of an interrupted import.
 * image_unpack_layer() checks for pending signals. */
static int unpack_images(struct importing *i, const struct image_found *images, size_t count)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    int result = 0;
    for (size_t k = 0; result == 0 && k < count; k++)
        result = unpack_image(i, &images[k]);
    return result;
}

static int import_from(struct importing *i, struct json *ret)
{
    struct image_found *images = ARENA_ARRAY(i->arena, struct image_found, IMAGES_MAX);
    size_t count;
    int result = image_archive_open(i->arena, i->wanted->file,
                                    arena_printf(i->arena, "%s/archive", i->aside), &i->bytes_left,
                                    &i->archive, i->err);
    if (result < 0)
        return result;
    if ((result = image_config_read(&i->archive, images, &count, i->err)) < 0 ||
        (result = import_check_names(i, images, count)) < 0 ||
        (result = unpack_images(i, images, count)) < 0)
        count = 0;
    image_archive_close(&i->archive);
    return result < 0 ? result : name_images(i, images, count, ret);
}

int node_image_import(struct arena *arena, const struct node_image_import *wanted,
                      struct json **ret, struct err *err)
{
    struct importing i = {
        .arena = arena, .wanted = wanted, .bytes_left = wanted->bytes_max, .err = err};
    _cleanup_fd_ int lock = -1, aside = -1;
    struct json *table, *made = json_array(arena);
    int result;
    if ((result = image_store_lock(wanted->state_dir, &lock, err)) < 0 ||
        (result = image_table_load(arena, wanted->state_dir, &table, err)) < 0 ||
        (result = image_store_collect(wanted->state_dir, table, err)) < 0 ||
        (result = image_store_begin(arena, wanted->state_dir, &i.aside, &aside, err)) < 0)
        return result;
    close(TAKE_FD(lock));
    sigset_t before;
    sigprocmask(SIG_BLOCK, NULL, &before);
    result = import_from(&i, made);
    if (result < 0)
        result = err_wrap(err, "'%s'", wanted->file);
    int removed = file_remove_tree(i.aside, result < 0 ? NULL : err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (result == 0)
        result = removed;
    if (result == 0)
        *ret = made;
    return result;
}
