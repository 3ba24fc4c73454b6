/* A part of a list: how many objects a client wants at once, and where it left off. Every part
 * carries the revision of the first one. Objects of a later part may be newer than that; a watch
 * from that revision tells of everything that changed since, so whoever lists in parts and then
 * watches sees the same in the end, and nobody has to keep old states for him. Once the changes
 * since the first part are not kept any more, the rest is refused as expired. */
#ifndef TRAINYARD_ENGINE_LIST_PAGE_H
#define TRAINYARD_ENGINE_LIST_PAGE_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct list_page {
    size_t limit;      /* 0: all */
    const char *after; /* the key of the last object of the part before; "": from the start */
    int64_t revision;  /* of the first part; 0: this is it */
};

enum { LIST_PAGE_TOKEN_MAX = 4096 };

/* From `limit` and `continue` of a query; NULL where absent. A token that we did not write is
 * ERR_BAD_REQUEST. */
int list_page_parse(struct arena *arena, const char *limit, const char *token,
                    struct list_page *ret, struct err *err);

/* The token for what comes after `after`. */
char *list_page_token(struct arena *arena, const char *after, int64_t revision);

#endif
