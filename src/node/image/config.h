/* What an archive says about its images: Docker's manifest.json or an OCI index, and the
 * configuration that it refers to. Nothing is unpacked here. */
#ifndef TRAINYARD_NODE_IMAGE_CONFIG_H
#define TRAINYARD_NODE_IMAGE_CONFIG_H

#include "node/image/archive.h"

enum { IMAGE_LAYERS_MAX = 512, IMAGES_MAX = 64 };

struct image_layer {
    const char *member;  /* its name in the archive */
    const char *digest;  /* of the stored bytes, in hexadecimal; "" if not stated */
    const char *diff_id; /* of the unpacked bytes */
};

struct image_found {
    const char *names[IMAGES_MAX]; /* may be empty */
    size_t name_count;
    const char *digest;   /* "sha256:…" of its configuration, which identifies the image */
    const char *manifest; /* the digest of its manifest, or "" */
    struct image_layer *layers;
    size_t layer_count;
    struct json *row; /* the row for the image table: command, args, env, … */
};

/* Reads all images in the archive that are for this machine, and checks the digests of what it
 * reads. Returns -ERR_UNSUPPORTED for an image of another architecture. */
int image_config_read(const struct image_archive *archive, struct image_found *ret,
                      size_t *ret_count, struct err *err);

#endif
