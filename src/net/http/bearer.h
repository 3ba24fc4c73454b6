/* The bearer token of an HTTP client. In a cluster the token is in a file that the kubelet renews
 * (a service account's token lives for an hour), so the file is read again when it has changed.
 * This happens on the loop thread, but seldom blocks: at most one stat() per interval, and one read
 * of a small file after a change. */
#ifndef TRAINYARD_NET_HTTP_BEARER_H
#define TRAINYARD_NET_HTTP_BEARER_H

#include "base/system/file.h"

#include <stdint.h>

struct http_bearer {
    char *token; /* NULL: no token */
    char *path;  /* NULL: the token never changes */
    int64_t checked_ms;
    struct file_stamp stamp; /* version of the file that was read last */
};

/* Either may be NULL. `token` is used until the file can be read. */
void http_bearer_init(struct http_bearer *bearer, const char *token, const char *path);
void http_bearer_release(struct http_bearer *bearer);

/* The current token, or NULL. If the file is missing, empty or incomplete, the last good token
 * stays. */
const char *http_bearer_get(struct http_bearer *bearer, int64_t now_ms);

/* The server rejected the token: the next http_bearer_get() checks the file, however short ago the
 * last check was. */
void http_bearer_mark_rejected(struct http_bearer *bearer);

#endif
