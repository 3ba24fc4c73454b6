/* Writes the request to the pod and the headers of the response; see http_proxy.h. */
#include "engine/stream/http_proxy.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>
#include <strings.h>

bool http_proxy_is_hop_header(const struct http_header *headers, const char *name)
{
    static const char *const HOPS[] = {
        "Connection",
        "Keep-Alive",
        "Proxy-Authenticate",
        "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
    };
    for (size_t i = 0; i < ARRAY_SIZE(HOPS); i++)
        if (strcasecmp(name, HOPS[i]) == 0)
            return true;
    return http_header_has_word(headers, "Connection", name);
}

const char *http_proxy_upgrade_of(const struct http_request *request)
{
    bool asks = http_header_has_word(request->headers, "Connection", "Upgrade");
    return asks ? http_header_get(request->headers, "Upgrade") : NULL;
}

/* Returns whether the header is not forwarded as it is. The credentials are only for this server.
 * Host, Content-Length, X-Forwarded-For and X-Forwarded-Uri are written separately. Expect is not
 * needed, because the body has arrived completely. */
static bool is_header_dropped(const char *name)
{
    static const char *const NAMES[] = {
        "Authorization", "Host", "Content-Length", "Expect", "X-Forwarded-For", "X-Forwarded-Uri"};
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++)
        if (strcasecmp(name, NAMES[i]) == 0)
            return true;
    return strncasecmp(name, "Impersonate-", strlen("Impersonate-")) == 0;
}

/* Returns the length of the address without the port: 9 for "127.0.0.1:40112". */
static size_t host_size(const char *peer)
{
    const char *colon = strrchr(peer, ':');
    return colon ? (size_t)(colon - peer) : strlen(peer);
}

void http_proxy_write_request(struct arena *arena, const struct http_request *request,
                              const char *path, const char *host, struct buf *ret)
{
    const char *upgrade = http_proxy_upgrade_of(request);
    const char *peer = request->peer ? request->peer : "";
    buf_printf(ret, "%s %s%s%s HTTP/1.1\r\nHost: %s\r\n", request->method,
               http_path_encode(arena, path), request->query[0] ? "?" : "", request->query, host);
    for (const struct http_header *line = request->headers; line; line = line->next)
        if (!is_header_dropped(line->name) &&
            !http_proxy_is_hop_header(request->headers, line->name))
            buf_printf(ret, "%s: %s\r\n", line->name, line->value);
    buf_printf(ret, "X-Forwarded-For: %.*s\r\nX-Forwarded-Uri: %s\r\n", (int)host_size(peer), peer,
               http_path_encode(arena, request->path));
    if (upgrade)
        buf_printf(ret, "Connection: Upgrade\r\nUpgrade: %s\r\n", upgrade);
    else
        buf_append_str(ret, "Connection: close\r\n");
    if (request->body_size || !(str_eq(request->method, "GET") || str_eq(request->method, "HEAD")))
        buf_printf(ret, "Content-Length: %zu\r\n", request->body_size);
    buf_append_str(ret, "\r\n");
    buf_append(ret, request->body, request->body_size);
}

struct http_header *http_proxy_answer_headers(struct arena *arena, const struct http_header *from,
                                              const char *prefix)
{
    struct http_header *headers = NULL;
    for (const struct http_header *line = from; line; line = line->next) {
        const char *value = line->value;
        /* This server writes its own Date and Content-Length. */
        if (http_proxy_is_hop_header(from, line->name) || strcasecmp(line->name, "Date") == 0 ||
            strcasecmp(line->name, "Content-Length") == 0)
            continue;
        if (strcasecmp(line->name, "Location") == 0 && value[0] == '/' && value[1] != '/')
            value = arena_printf(arena, "%s%s", prefix, value);
        http_header_add(arena, &headers, line->name, value);
    }
    return headers;
}
