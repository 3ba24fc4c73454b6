/* Implements the IDX format; see idx.h. A file starts with a magic number: two zero bytes, the type
 * 0x08 for one byte per value, and the number of dimensions. Each dimension follows as a big-endian
 * u32. The values come last. */
#include "train/data/idx.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum {
    MAGIC_IMAGES = 0x803,
    MAGIC_LABELS = 0x801,
    HEADER_IMAGES = 16,
    HEADER_LABELS = 8,
    /* limit of the bytes after unpacking, because a small gzip file can unpack to a huge file */
    FILE_MAX = 1 << 30,
    LABELS_FILE_MAX = 64 << 10,
    PATH_SIZE = 4096,
};

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int check_images(const char *name, const uint8_t *images, size_t size, struct idx *idx,
                        struct err *err)
{
    if (size < HEADER_IMAGES || big_endian(images) != MAGIC_IMAGES)
        return err_set(err, ERR_BAD_REQUEST,
                       "the file of images '%s-…' is not an IDX file of pictures", name);
    uint32_t count = big_endian(images + 4), height = big_endian(images + 8),
             width = big_endian(images + 12);
    if (count < 1 || count > IDX_PICTURES_MAX || height < 1 || height > IDX_SIDE_MAX || width < 1 ||
        width > IDX_SIDE_MAX)
        return err_set(err, ERR_INVALID,
                       "images of '%s': the header says %u pictures of %u×%u; expected 1 to %d "
                       "pictures of at most %d×%d",
                       name, count, width, height, IDX_PICTURES_MAX, IDX_SIDE_MAX, IDX_SIDE_MAX);
    size_t want = (size_t)count * height * width, have = size - HEADER_IMAGES;
    if (want != have)
        return err_set(err, ERR_BAD_REQUEST,
                       "images of '%s' hold %zu bytes of pictures, but their header says %zu", name,
                       have, want);
    idx->count = count;
    idx->height = (int)height;
    idx->width = (int)width;
    return 0;
}

static int check_labels(const char *name, const uint8_t *labels, size_t size, size_t count,
                        struct err *err)
{
    if (size < HEADER_LABELS || big_endian(labels) != MAGIC_LABELS)
        return err_set(err, ERR_BAD_REQUEST,
                       "the file of labels '%s-…' is not an IDX file of labels", name);
    if (big_endian(labels + 4) != count)
        return err_set(err, ERR_INVALID, "'%s' has %zu pictures, but %u labels", name, count,
                       big_endian(labels + 4));
    if (size - HEADER_LABELS != count)
        return err_set(err, ERR_BAD_REQUEST,
                       "labels of '%s' hold %zu bytes, but their header says %zu", name,
                       size - HEADER_LABELS, count);
    return 0;
}

int idx_parse(const char *name, const void *images, size_t images_size, const void *labels,
              size_t labels_size, struct idx **ret, struct err *err)
{
    struct idx idx = {0};
    int result = check_images(name, images, images_size, &idx, err);
    if (result == 0)
        result = check_labels(name, labels, labels_size, idx.count, err);
    if (result < 0)
        return result;
    size_t bytes = images_size - HEADER_IMAGES;
    idx.pixels = mem_alloc(bytes);
    idx.labels = mem_alloc(idx.count);
    memcpy(idx.pixels, (const uint8_t *)images + HEADER_IMAGES, bytes);
    memcpy(idx.labels, (const uint8_t *)labels + HEADER_LABELS, idx.count);
    for (size_t i = 0; i < idx.count; i++)
        if (idx.labels[i] >= idx.classes)
            idx.classes = idx.labels[i] + 1;
    *ret = mem_alloc(sizeof(idx));
    **ret = idx;
    return 0;
}

/* Reads a gzip file, or a plain file, which zlib passes through. */
static int unpack_file(const char *path, struct buf *buf, struct err *err)
{
    gzFile file = gzopen(path, "rbe");
    if (!file)
        return err_set_errno(err, errno, "cannot read '%s'", path);
    int result = 0;
    for (;;) {
        char *room = buf_reserve(buf, 1 << 16);
        if (!room) {
            result = err_set(err, ERR_TOO_LARGE, "'%s' holds more than %d bytes", path, FILE_MAX);
            break;
        }
        int got = gzread(file, room, 1 << 16), problem = 0;
        if (got > 0) {
            buf_commit(buf, (size_t)got);
            continue;
        }
        const char *text = gzerror(file, &problem);
        if (problem == Z_ERRNO)
            result = err_set_errno(err, errno, "cannot read '%s'", path);
        else if (problem == Z_BUF_ERROR)
            result = err_set(err, ERR_BAD_REQUEST, "'%s' is truncated", path);
        else if (problem != Z_OK)
            result = err_set(err, ERR_BAD_REQUEST, "'%s' is damaged: %s", path, text);
        break;
    }
    gzclose(file);
    return result;
}

/* Sets `path` to the file, for example "train-images-idx3-ubyte" or "train-images.idx3-ubyte", with
 * or without ".gz". Returns whether it exists. */
static bool find_file(const char *directory, const char *stem, const char *kind,
                      char path[PATH_SIZE])
{
    for (int form = 0; form < 4; form++) {
        snprintf(path, PATH_SIZE, "%s/%s%c%s%s", directory, stem, form < 2 ? '-' : '.', kind,
                 form % 2 ? "" : ".gz");
        if (file_exists(path))
            return true;
    }
    return false;
}

bool idx_is_directory(const char *directory)
{
    char path[PATH_SIZE];
    return find_file(directory, "train-images", "idx3-ubyte", path);
}

static int read_one(const char *directory, const char *stem, const char *kind, struct buf *buf,
                    struct err *err)
{
    char path[PATH_SIZE];
    if (find_file(directory, stem, kind, path))
        return unpack_file(path, buf, err);
    return err_set(
        err, ERR_NOT_FOUND,
        "'%s' has neither '%s-%s' nor '%s-%s.gz': name a directory with the four IDX files "
        "of a data set (Debian's package dataset-fashion-mnist has some)",
        directory, stem, kind, stem, kind);
}

static void put_number(struct buf *buf, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_append_char(buf, (char)(value >> shift));
}

static int write_one(const char *directory, enum idx_part part, const char *kind,
                     const struct buf *file, struct err *err)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s-%s", directory, part == IDX_TRAIN ? "train" : "t10k", kind);
    if (file->overflowed)
        return err_set(err, ERR_TOO_LARGE, "'%s' would have more than %d bytes", path, FILE_MAX);
    return file_write_atomic(path, file->data, file->size, 0644, err);
}

int idx_write(const struct idx *idx, const char *directory, enum idx_part part, struct err *err)
{
    _cleanup_buf_ struct buf images, labels;
    buf_init(&images, FILE_MAX);
    buf_init(&labels, FILE_MAX);
    put_number(&images, MAGIC_IMAGES);
    put_number(&images, (uint32_t)idx->count);
    put_number(&images, (uint32_t)idx->height);
    put_number(&images, (uint32_t)idx->width);
    buf_append(&images, idx->pixels, idx->count * (size_t)idx->height * (size_t)idx->width);
    put_number(&labels, MAGIC_LABELS);
    put_number(&labels, (uint32_t)idx->count);
    buf_append(&labels, idx->labels, idx->count);
    int result = write_one(directory, part, "images-idx3-ubyte", &images, err);
    return result < 0 ? result : write_one(directory, part, "labels-idx1-ubyte", &labels, err);
}

int idx_open(const char *directory, enum idx_part part, struct idx **ret, struct err *err)
{
    const char *stem[] = {part == IDX_TRAIN ? "train-images" : "t10k-images",
                          part == IDX_TRAIN ? "train-labels" : "t10k-labels"};
    _cleanup_buf_ struct buf images, labels;
    buf_init(&images, FILE_MAX);
    buf_init(&labels, FILE_MAX);
    char name[PATH_SIZE];
    snprintf(name, sizeof(name), "%s/%s", directory, part == IDX_TRAIN ? "train" : "t10k");
    int result = read_one(directory, stem[0], "idx3-ubyte", &images, err);
    if (result == 0)
        result = read_one(directory, stem[1], "idx1-ubyte", &labels, err);
    if (result == 0)
        result = idx_parse(name, images.data, images.size, labels.data, labels.size, ret, err);
    return result;
}

struct idx *idx_free(struct idx *idx)
{
    if (!idx)
        return NULL;
    free(idx->pixels);
    free(idx->labels);
    free(idx);
    return NULL;
}

/* Reads line `label`, counted from 0, of DIR/LABELS. Returns whether the line exists and is not
 * empty. */
static bool name_in_file(const char *directory, int label, char *text, size_t size)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/LABELS", directory);
    _cleanup_buf_ struct buf file;
    buf_init(&file, LABELS_FILE_MAX);
    if (file_read(path, &file, NULL) < 0)
        return false;
    char *rest = file.data, *line = NULL;
    for (int i = 0; i <= label; i++)
        line = strsep(&rest, "\n");
    if (!line || *line == '\0')
        return false;
    (void)str_copy(text, size, line);
    return true;
}

const char *idx_label_name(const char *directory, int label, char *text, size_t size)
{
    static const char *const FASHION[] = {"T-shirt/top", "Trouser",   "Pullover", "Dress",
                                          "Coat",        "Sandal",    "Shirt",    "Sneaker",
                                          "Bag",         "Ankle boot"};
    snprintf(text, size, "%d", label);
    if (label < 0 || label > UINT8_MAX || name_in_file(directory, label, text, size))
        return text;
    if (strcasestr(directory, "fashion") && (size_t)label < ARRAY_SIZE(FASHION))
        (void)str_copy(text, size, FASHION[label]);
    return text;
}

void idx_describe(const struct idx *idx, char *text, size_t size)
{
    uLong digest = crc32_z(crc32(0, NULL, 0), idx->pixels,
                           idx->count * (size_t)idx->height * (size_t)idx->width);
    digest = crc32_z(digest, idx->labels, idx->count);
    snprintf(text, size, "%zu pictures of %d×%d, %d classes, digest %08lx", idx->count, idx->width,
             idx->height, idx->classes, (unsigned long)digest);
}
