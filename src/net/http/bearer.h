/* The bearer token of an HTTP client. In a cluster the token is in a file that the kubelet renews,
 * because the token of a service account is valid for an hour. So the file is read again after it
 * has changed. The loop thread calls stat() at most once per 5 s (the check interval), or earlier
 * after a rejection of the token, and reads the small file after a change. */
#ifndef TRAINYARD_NET_HTTP_BEARER_H
#define TRAINYARD_NET_HTTP_BEARER_H

#include "base/system/file.h"

#include <stdint.h>

struct http_bearer {
    char *token;             /* NULL: no token */
    char *path;              /* NULL: the token does not come from a file */
    int64_t checked_ms;      /* time of the last check of the file */
    struct file_stamp stamp; /* version of the file that was read last */
};

/* Both `token` and `path` may be NULL. `token` is used until the file can be read. */
void http_bearer_init(struct http_bearer *bearer, const char *token, const char *path);
void http_bearer_release(struct http_bearer *bearer);

/* Returns the current token, or NULL. If the file cannot be read or is empty, returns the previous
 * token. The pointer is valid until the next call. */
const char *http_bearer_get(struct http_bearer *bearer, int64_t now_ms);

/* To be called when the server has rejected the token. The next http_bearer_get() then checks the
 * file even if the check interval has not passed. */
void http_bearer_mark_rejected(struct http_bearer *bearer);

#endif
