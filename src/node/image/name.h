/* Parses and compares names of images as Docker does: "docker.io/library/x", "library/x" and "x"
 * are the same, a missing tag means "latest", and a digest is more specific than a tag. The grammar
 * is that of container runtimes and the kubelet, so "../x" is not a name. In addition, capital
 * letters are allowed. Pure. */
#ifndef TRAINYARD_NODE_IMAGE_NAME_H
#define TRAINYARD_NODE_IMAGE_NAME_H

#include "base/arena.h"
#include "base/err.h"

enum { IMAGE_NAME_MAX = 512 };

struct image_name {
    const char *name;   /* without the default prefix: "x", "registry:5000/x/y" */
    const char *tag;    /* "" if there is none */
    const char *digest; /* "sha256:…", or "" */
};

/* Parses a name. Returns -ERR_INVALID if it does not match the grammar. */
int image_name_parse(struct arena *arena, const char *text, struct image_name *ret,
                     struct err *err);
/* Returns the name and, if it has a tag, the tag, as in "x:1". Leaves out the digest. */
const char *image_name_text(struct arena *arena, const struct image_name *name);

/* Returns a score for how well the name `have` of an entry of the image table matches the wanted
 * name: higher is better, and 0 means no match. An entry without a tag matches every tag.
 * `have_digest` is the digest of the entry's manifest, or "". */
int image_name_match(const struct image_name *wanted, const struct image_name *have,
                     const char *have_digest);

#endif
