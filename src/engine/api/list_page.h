/* A page of a list: how many objects a client wants at once, and where the page before ended. Every
 * page carries the revision of the first one. Objects of later pages may be newer. A watch from
 * that revision reports everything that changed since, so a client that lists in pages and then
 * watches ends with a correct state, and the server need not keep old states. When the store no
 * longer has the changes since the first page, further pages are rejected as expired. */
#ifndef TRAINYARD_ENGINE_API_LIST_PAGE_H
#define TRAINYARD_ENGINE_API_LIST_PAGE_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct list_page {
    size_t limit;      /* 0: all */
    const char *after; /* the key of the last object of the page before; "": the first page */
    int64_t revision;  /* the revision of the first page; 0: this is the first page */
};

enum { LIST_PAGE_TOKEN_MAX = 4096 };

/* Reads `limit` and `continue` of a query (NULL if missing). Returns -ERR_BAD_REQUEST if this
 * server has not written the token. */
int list_page_parse(struct arena *arena, const char *limit, const char *token,
                    struct list_page *ret, struct err *err);

/* The token of the page that starts after key `after`. */
char *list_page_token(struct arena *arena, const char *after, int64_t revision);

#endif
