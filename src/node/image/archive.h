/* Opens an image archive, as written by `docker save`, `podman save` or skopeo, and finds the
 * members of this tar file by name without unpacking it. An archive that is compressed as a whole
 * or comes through a pipe is first copied to a plain file. The archive is untrusted. `trainyard
 * image import` uses it (image/import.c). */
#ifndef TRAINYARD_NODE_IMAGE_ARCHIVE_H
#define TRAINYARD_NODE_IMAGE_ARCHIVE_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/map.h"
#include "node/image/stream.h"

enum {
    IMAGE_ARCHIVE_MEMBERS_MAX = 100 * 1000,
    IMAGE_DOCUMENT_MAX = 4 * 1024 * 1024, /* bytes of a member that is a JSON document */
};

/* A file or link in the archive. */
struct image_member {
    uint64_t offset, size; /* of its data in image_archive.fd */
    /* For a symbolic or hard link: the name of its target from the top of the archive. Otherwise
     * NULL. */
    const char *link;
};

struct image_archive {
    struct arena *arena; /* the caller's; members and documents are allocated in it */
    int fd;              /* a plain tar file */
    struct map members;  /* struct image_member by name */
};

/* Opens the archive at `path`; "-" means standard input. If a copy is needed, it is written to the
 * new file `aside`, which is removed again at once, and its size is subtracted from `*budget`.
 * After success, the caller closes `*ret`. */
int image_archive_open(struct arena *arena, const char *path, const char *aside, uint64_t *budget,
                       struct image_archive *ret, struct err *err);
void image_archive_close(struct image_archive *archive);

/* Returns the file of this name. Follows links. Returns NULL if there is no such file or if the
 * chain of links is too long. */
const struct image_member *image_archive_find(const struct image_archive *archive,
                                              const char *name);

/* Parses a member that is a JSON document, and computes its SHA-256 digest. Returns -ERR_NOT_FOUND
 * if there is no such member. */
int image_archive_document(const struct image_archive *archive, const char *name, struct json **ret,
                           char ret_digest[TLS_SHA256_TEXT], struct err *err);

#endif
