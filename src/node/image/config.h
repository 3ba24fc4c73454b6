/* What an image's archive says of the images in it: Docker's manifest.json or an OCI index, and the
 * configuration that either leads to. Nothing is unpacked here. */
#ifndef TRAINYARD_NODE_IMAGE_CONFIG_H
#define TRAINYARD_NODE_IMAGE_CONFIG_H

#include "node/image/archive.h"

enum { IMAGE_LAYERS_MAX = 512, IMAGES_MAX = 64 };

struct image_layer {
    const char *member;  /* in the archive */
    const char *digest;  /* of what is stored there, in hexadecimal letters; "" where not stated */
    const char *diff_id; /* of what it unpacks to */
};

struct image_found {
    const char *names[IMAGES_MAX]; /* may be none */
    size_t name_count;
    const char *digest;   /* "sha256:…" of its configuration: its identity */
    const char *manifest; /* digest of its manifest, or "" */
    struct image_layer *layers;
    size_t layer_count;
    struct json *row; /* for the table: command, args, env, … */
};

/* All images of the archive that are for this machine; digests of what is read are checked. An
 * image for another kind of machine is ERR_UNSUPPORTED. */
int image_config_read(const struct image_archive *archive, struct image_found *ret,
                      size_t *ret_count, struct err *err);

#endif
