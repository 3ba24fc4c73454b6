/* The bearer token of an HTTP client, read again when its file changes; see bearer.h. */
#include "net/http/bearer.h"

#include "base/mem.h"

#include <string.h>

enum { CHECK_MS = 5000, TOKEN_MAX = 64 * 1024 };

static const int64_t NEVER = INT64_MIN / 2;

void http_bearer_init(struct http_bearer *bearer, const char *token, const char *path)
{
    *bearer = (struct http_bearer){
        .token = token ? mem_strdup(token) : NULL,
        .path = path ? mem_strdup(path) : NULL,
        .checked_ms = NEVER,
    };
}

void http_bearer_release(struct http_bearer *bearer)
{
    free(bearer->token);
    free(bearer->path);
    *bearer = (struct http_bearer){0};
}

static bool read_token(struct http_bearer *bearer)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, TOKEN_MAX);
    if (file_read(bearer->path, &text, NULL) < 0)
        return false;
    const char *start = text.data + strspn(text.data, " \t\r\n");
    size_t size = strcspn(start, " \t\r\n");
    if (size == 0)
        return false;
    free(bearer->token);
    bearer->token = mem_strndup(start, size);
    return true;
}

const char *http_bearer_get(struct http_bearer *bearer, int64_t now_ms)
{
    struct file_stamp stamp;
    if (!bearer->path || now_ms - bearer->checked_ms < CHECK_MS)
        return bearer->token;
    bearer->checked_ms = now_ms;
    if (file_stamp_get(bearer->path, &stamp) && !file_stamp_eq(&stamp, &bearer->stamp) &&
        read_token(bearer))
        bearer->stamp = stamp;
    return bearer->token;
}

void http_bearer_mark_rejected(struct http_bearer *bearer)
{
    bearer->checked_ms = NEVER;
}
