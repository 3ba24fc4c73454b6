/* A file that `docker save`, `podman save` or skopeo has written: a tar archive whose members are
 * found by name, without being unpacked. An archive that is compressed as a whole or comes through
 * a pipe is first copied to a plain file. */
#ifndef TRAINYARD_NODE_IMAGE_ARCHIVE_H
#define TRAINYARD_NODE_IMAGE_ARCHIVE_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/map.h"
#include "node/image/stream.h"

enum { IMAGE_ARCHIVE_MEMBERS_MAX = 100 * 1000, IMAGE_DOCUMENT_MAX = 4 * 1024 * 1024 };

struct image_member {
    uint64_t offset, size;
    const char *link; /* of a symbolic or hard link: the target's name from the top of the archive;
                         or NULL */
};

struct image_archive {
    struct arena *arena;
    int fd;
    struct map members;
};

/* `path` "-" is standard input. A copy, if one is needed, goes to the file `aside`. */
int image_archive_open(struct arena *arena, const char *path, const char *aside, uint64_t *budget,
                       struct image_archive *ret, struct err *err);
void image_archive_close(struct image_archive *archive);

/* Finds a file of this name, through links; or returns NULL. */
const struct image_member *image_archive_find(const struct image_archive *archive,
                                              const char *name);

/* Reads a member that is a JSON document, and computes its digest. */
int image_archive_document(const struct image_archive *archive, const char *name, struct json **ret,
                           char ret_digest[TLS_SHA256_TEXT], struct err *err);

#endif
