/* The file that `docker save`, `podman save` or skopeo wrote: a tar archive whose members are found
 * by name, without being unpacked. What is compressed as a whole or comes through a pipe is put
 * aside as a plain file first. */
#ifndef TRAINYARD_NODE_IMAGE_ARCHIVE_H
#define TRAINYARD_NODE_IMAGE_ARCHIVE_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/map.h"
#include "node/image/stream.h"

enum { IMAGE_ARCHIVE_MEMBERS_MAX = 100 * 1000, IMAGE_DOCUMENT_MAX = 4 * 1024 * 1024 };

struct image_member {
    uint64_t offset, size;
    const char *link; /* a symbolic or hard link: the name it stands for, from the top; or NULL */
};

struct image_archive {
    struct arena *arena;
    int fd;
    struct map members;
};

/* `path` "-" is standard input. What has to be put aside is put into the file `aside`. */
int image_archive_open(struct arena *arena, const char *path, const char *aside, uint64_t *budget,
                       struct image_archive *ret, struct err *err);
void image_archive_close(struct image_archive *archive);

/* A file of that name, through links; or NULL. */
const struct image_member *image_archive_find(const struct image_archive *archive,
                                              const char *name);

/* A member that is a JSON document, and its digest. */
int image_archive_document(const struct image_archive *archive, const char *name, struct json **ret,
                           char ret_digest[TLS_SHA256_TEXT], struct err *err);

#endif
