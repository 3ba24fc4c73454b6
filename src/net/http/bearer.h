/* The token that an HTTP client shows. In a cluster it is a file that the node renews under us (a
 * service account's token lives for an hour), so it is read again when the file has changed. Who
 * asks is on the loop's thread: at most one stat() in some seconds, and a read of a small file only
 * where it tells of a change. */
#ifndef TRAINYARD_NET_HTTP_BEARER_H
#define TRAINYARD_NET_HTTP_BEARER_H

#include "base/system/file.h"

#include <stdint.h>

struct http_bearer {
    char *token; /* NULL: none */
    char *path;  /* NULL: the token never changes */
    int64_t checked_ms;
    struct file_stamp stamp; /* of what was read last */
};

/* Either may be NULL. The token is shown until the file can be read. */
void http_bearer_init(struct http_bearer *bearer, const char *token, const char *path);
void http_bearer_release(struct http_bearer *bearer);

/* The token to show now; NULL: none. A file that is away, empty or half written changes nothing:
 * the token that was good last is the best there is. */
const char *http_bearer_get(struct http_bearer *bearer, int64_t now_ms);

/* The server did not accept it: look at the file the next time, however soon that is. */
void http_bearer_mark_rejected(struct http_bearer *bearer);

#endif
