/* Reads the metadata of the images in an archive: Docker's manifest.json or an OCI index, and the
 * configuration of each image. Does not unpack the layers. image/import.c calls it. */
#ifndef TRAINYARD_NODE_IMAGE_CONFIG_H
#define TRAINYARD_NODE_IMAGE_CONFIG_H

#include "node/image/archive.h"

enum { IMAGE_LAYERS_MAX = 512, IMAGES_MAX = 64 };

struct image_layer {
    const char *member; /* the layer's file name in the archive */
    const char *digest; /* expected SHA-256 of the stored bytes, in hexadecimal; "" if not stated */
    const char *diff_id; /* expected SHA-256 of the unpacked bytes, in hexadecimal */
};

/* An image in the archive. Its memory belongs to the archive's arena. */
struct image_found {
    const char *names[IMAGES_MAX]; /* the names of the image in the archive, if it has any */
    size_t name_count;
    const char *digest;         /* "sha256:…" of the configuration; identifies the image */
    const char *manifest;       /* "sha256:…" of the manifest, or "" */
    struct image_layer *layers; /* the lowest layer first */
    size_t layer_count;
    struct json *row; /* the row for the image table: command, args, env, … */
};

/* Reads all images in the archive into `ret`, an array of IMAGES_MAX elements, and sets *ret_count
 * to their number, which is at least 1. Checks the digest of each document for which the archive
 * states one. Skips entries of an OCI index that name another platform. Returns -ERR_UNSUPPORTED if
 * only such entries exist, or if the configuration of an image names another platform. */
int image_config_read(const struct image_archive *archive, struct image_found *ret,
                      size_t *ret_count, struct err *err);

#endif
