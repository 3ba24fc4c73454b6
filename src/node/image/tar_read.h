/* A tar archive read as a stream, entry by entry: ustar, pax and GNU, as image layers and what
 * `docker save` writes come. Every field is distrusted; nothing is written here, and names are
 * given as they stand: whoever makes files of them sees to it that they stay where they belong. */
#ifndef TRAINYARD_NODE_IMAGE_TAR_READ_H
#define TRAINYARD_NODE_IMAGE_TAR_READ_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    TAR_BLOCK = 512,
    TAR_NAME_MAX = 4095,           /* what the kernel takes as a path */
    TAR_EXTENDED_MAX = 256 * 1024, /* bytes of one extended header */
};

struct tar_source {
    /* Up to `size` bytes; 0 only at the end. */
    ssize_t (*read)(void *context, void *data, size_t size, struct err *err);
    int (*skip)(void *context, uint64_t size, struct err *err); /* NULL: they are read */
    void *context;
};

enum tar_type {
    TAR_FILE,
    TAR_DIRECTORY,
    TAR_SYMLINK,
    TAR_HARDLINK,
    TAR_FIFO,
    TAR_DEVICE, /* of characters or blocks */
};

struct tar_entry {
    enum tar_type type;
    const char *path; /* until the next entry; never empty */
    const char *link; /* of the two links, else "" */
    unsigned mode;    /* permission bits with set-id and sticky ones */
    uint32_t uid, gid;
    uint64_t size; /* bytes that tar_read_data() gives */
    int64_t mtime; /* seconds */
};

struct tar_reader {
    struct tar_source source;
    uint64_t left, padding; /* of the entry's data, and behind it */
    uint64_t position;      /* in the archive, of the next byte */
    bool ended;
    struct buf path, link, extended;
};

void tar_reader_init(struct tar_reader *reader, struct tar_source source);
void tar_reader_release(struct tar_reader *reader);

/* The next entry, over what is left of the data of the last: 1, 0 at the end, or an error. Sparse
 * files and kinds that are not known are ERR_UNSUPPORTED. */
int tar_read_next(struct tar_reader *reader, struct tar_entry *ret, struct err *err);

/* The entry's data: how many bytes were read, 0 at its end, or an error. */
ssize_t tar_read_data(struct tar_reader *reader, void *data, size_t size, struct err *err);

#endif
