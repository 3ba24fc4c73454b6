/* Opens an image archive, as written by `docker save`, `podman save` or skopeo, and finds members
 * of the tar file by name without unpacking it. An archive that is compressed as a whole or comes
 * through a pipe is first copied to a plain file. */
#ifndef TRAINYARD_NODE_IMAGE_ARCHIVE_H
#define TRAINYARD_NODE_IMAGE_ARCHIVE_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/map.h"
#include "node/image/stream.h"

enum { IMAGE_ARCHIVE_MEMBERS_MAX = 100 * 1000, IMAGE_DOCUMENT_MAX = 4 * 1024 * 1024 };

struct image_member {
    uint64_t offset, size;
    /* For a symbolic or hard link: the name of its target from the top of the archive. Otherwise
     * NULL. */
    const char *link;
};

struct image_archive {
    struct arena *arena;
    int fd;
    struct map members;
};

/* Opens the archive at `path`; "-" means standard input. If a copy is needed, it is written to the
 * file `aside`, and its size is subtracted from `*budget`. */
int image_archive_open(struct arena *arena, const char *path, const char *aside, uint64_t *budget,
                       struct image_archive *ret, struct err *err);
void image_archive_close(struct image_archive *archive);

/* Returns the file of this name, and follows links. Returns NULL if there is no such file or if the
 * chain of links is too long. */
const struct image_member *image_archive_find(const struct image_archive *archive,
                                              const char *name);

/* Parses a member that is a JSON document, and computes its digest. */
int image_archive_document(const struct image_archive *archive, const char *name, struct json **ret,
                           char ret_digest[TLS_SHA256_TEXT], struct err *err);

#endif
