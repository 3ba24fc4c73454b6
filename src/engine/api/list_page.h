/* Parses and makes the parameters of one page of a list: the number of objects that a client
 * requests, and the last key of the page before. list.c calls these functions. Every page has the
 * revision of the first page, but the objects of later pages may be newer. A watch from that
 * revision reports all changes since the first page. So a client that lists in pages and then
 * watches gets the correct state, and the server does not need to keep old states. When the store
 * has dropped the changes since the first page, requests for further pages are rejected as expired.
 */
#ifndef TRAINYARD_ENGINE_API_LIST_PAGE_H
#define TRAINYARD_ENGINE_API_LIST_PAGE_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* The requested page. */
struct list_page {
    size_t limit;      /* 0: no limit */
    const char *after; /* the key of the last object of the page before; "": the first page */
    int64_t revision;  /* the revision of the first page; 0: this is the first page */
};

enum { LIST_PAGE_TOKEN_MAX = 4096 }; /* characters */

/* Parses the query parameters: `limit`, and `continue` as `token` (NULL or "": missing). Returns
 * -ERR_BAD_REQUEST if `limit` is not a number or `token` was not made by list_page_token(). */
int list_page_parse(struct arena *arena, const char *limit, const char *token,
                    struct list_page *ret, struct err *err);

/* Returns the token of the page that starts after the key `after`. `revision` is the revision of
 * the first page. */
char *list_page_token(struct arena *arena, const char *after, int64_t revision);

#endif
