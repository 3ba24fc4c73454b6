/* Reads a tar archive as a stream, entry by entry. The formats are ustar, pax and GNU, as in image
 * layers and in the output of `docker save`. Damaged headers, and sizes and owners out of range,
 * are refused. Paths are returned as they are in the archive: they may be absolute or contain
 * `..`. A caller that creates files must keep them inside its target directory. */
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
    /* Reads up to `size` bytes into `data`. Returns the number of bytes, 0 only at the end, or a
     * negative code. */
    ssize_t (*read)(void *context, void *data, size_t size, struct err *err);
    /* Skips `size` bytes. Returns 0 or a negative code. If NULL, the reader reads the bytes and
     * drops them. */
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
    uint64_t size; /* bytes that tar_read_data() returns; 0 if it is no file */
    int64_t mtime; /* seconds since 1970; 0 if the archive has no valid time */
};

struct tar_reader {
    struct tar_source source;
    uint64_t left, padding; /* unread bytes of the entry's data, and of the padding after it */
    uint64_t position;      /* offset of the next byte in the archive */
    bool ended;
    struct buf path, link; /* of the current entry */
    struct buf extended;   /* the content of an extended header */
};

void tar_reader_init(struct tar_reader *reader, struct tar_source source);
void tar_reader_release(struct tar_reader *reader);

/* Skips the unread data of the current entry and reads the next entry. Returns 1 for an
 * entry, 0 at the end of the archive, or a negative code: -ERR_UNSUPPORTED for a sparse file or an
 * unknown type. */
int tar_read_next(struct tar_reader *reader, struct tar_entry *ret, struct err *err);

/* Reads the entry's data. Returns the number of bytes, 0 at the end of the data, or a negative
 * code. */
ssize_t tar_read_data(struct tar_reader *reader, void *data, size_t size, struct err *err);

#endif
