/* Names of images as Docker compares them: "docker.io/library/x", "library/x" and "x" are one, a
 * missing tag is "latest", a digest says more than a tag. The grammar is the one that container
 * runtimes and the kubelet have, so "../x" is no name; but capital letters are allowed. Pure. */
#ifndef TRAINYARD_NODE_IMAGE_NAME_H
#define TRAINYARD_NODE_IMAGE_NAME_H

#include "base/arena.h"
#include "base/err.h"

enum { IMAGE_NAME_MAX = 512 };

struct image_name {
    const char *name;   /* without what every name begins with: "x", "registry:5000/x/y" */
    const char *tag;    /* or "" */
    const char *digest; /* "sha256:…", or "" */
};

int image_name_parse(struct arena *arena, const char *text, struct image_name *ret,
                     struct err *err);
/* "x:1", or "x" where there is no tag; the digest is left out. */
const char *image_name_text(struct arena *arena, const struct image_name *name);

/* How well an entry of the table fits what is asked for, the higher the better; 0: not at all. An
 * entry without a tag stands for every tag. `have_digest` is the entry's own, or "". */
int image_name_match(const struct image_name *wanted, const struct image_name *have,
                     const char *have_digest);

#endif
