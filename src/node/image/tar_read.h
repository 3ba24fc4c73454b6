/* Reads a tar archive as a stream, entry by entry. The formats are ustar, pax and GNU, as in image
 * layers and in the output of `docker save`. No field is trusted. Names are returned unchanged:
 * code that creates files from them must keep them inside its directory. */
#ifndef TRAINYARD_NODE_IMAGE_TAR_READ_H
#define TRAINYARD_NODE_IMAGE_TAR_READ_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    TAR_BLOCK = 512,
    TAR_NAME_MAX = 4095,           /* the longest path that the kernel accepts */
    TAR_EXTENDED_MAX = 256 * 1024, /* bytes of one extended header */
};

struct tar_source {
    /* Returns up to `size` bytes; 0 only at the end. */
    ssize_t (*read)(void *context, void *data, size_t size, struct err *err);
    /* Skips `size` bytes. NULL: the bytes are read and dropped instead. */
    int (*skip)(void *context, uint64_t size, struct err *err);
    void *context;
};

enum tar_type {
    TAR_FILE,
    TAR_DIRECTORY,
    TAR_SYMLINK,
    TAR_HARDLINK,
    TAR_FIFO,
    TAR_DEVICE, /* a character or block device */
};

struct tar_entry {
    enum tar_type type;
    const char *path; /* valid until the next entry; never empty */
    const char *link; /* the target of either kind of link, else "" */
    unsigned mode;    /* permission bits, with set-id and sticky bits */
    uint32_t uid, gid;
    uint64_t size; /* bytes that tar_read_data() returns */
    int64_t mtime; /* seconds since 1970 */
};

struct tar_reader {
    struct tar_source source;
    uint64_t left, padding; /* bytes left of the entry's data, and of the padding after it */
    uint64_t position;      /* offset of the next byte in the archive */
    bool ended;
    struct buf path, link, extended;
};

void tar_reader_init(struct tar_reader *reader, struct tar_source source);
void tar_reader_release(struct tar_reader *reader);

/* Skips the rest of the last entry's data and reads the next entry. Returns 1, 0 at the end, or a
 * negative code. Sparse files and unknown types are -ERR_UNSUPPORTED. */
int tar_read_next(struct tar_reader *reader, struct tar_entry *ret, struct err *err);

/* Reads the entry's data. Returns the number of bytes, 0 at the end of the data, or a negative
 * code. */
ssize_t tar_read_data(struct tar_reader *reader, void *data, size_t size, struct err *err);

#endif
