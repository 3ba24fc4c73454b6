/* Parses forms with files (multipart/form-data, RFC 7578) from a complete body in memory. The
 * upload page calls it. The data of the parts is not copied: it points into the body. */
#ifndef TRAINYARD_SERVE_MULTIPART_H
#define TRAINYARD_SERVE_MULTIPART_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

enum { MULTIPART_PARTS_MAX = 16, MULTIPART_HEADER_MAX = 8192 /* bytes of headers per part */ };

struct multipart_part {
    const char *name;         /* "" if the part has no name */
    const char *filename;     /* "" if the part is not a file */
    const char *content_type; /* "" if the part has no Content-Type */
    const char *data;         /* points into the body, without a terminating zero */
    size_t size;
};

/* Parses the body. `content_type` is the Content-Type header of the request, or NULL. The array and
 * the names of the parts are allocated in `arena`. Returns -ERR_MEDIA_TYPE if the Content-Type is
 * not multipart/form-data, and -ERR_BAD_REQUEST if the body is malformed or exceeds a limit. */
int multipart_parse(struct arena *arena, const char *content_type, const char *body, size_t size,
                    struct multipart_part **ret_parts, size_t *ret_count, struct err *err);

#endif
