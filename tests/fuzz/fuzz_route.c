/* Fuzzes the paths and queries of requests: routing, flags and both kinds of selectors. */
#include "base/arena.h"
#include "engine/api/call.h"
#include "engine/api/route.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
    if (size > 64 * 1024)
        return 0;
    struct arena *arena = arena_new();
    struct registry *registry = registry_new(NULL, NULL);
    char *path = arena_strndup(arena, (const char *)data, size);
    char *query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        struct route route;
        struct api_filter filter;
        struct err err;
        if (route_parse(arena, registry, methods[i], path, query ? query : "", &route, &err) < 0)
            continue;
        if (!route.resource || (route.verb == VERB_GET && !route.name))
            __builtin_trap();
        if (!route.rest || (route.rest[0] && route.sub != SUB_PROXY))
            __builtin_trap();
        (void)api_filter_parse(
            arena, route.resource, http_query_get(arena, query ? query : "", "labelSelector"),
            http_query_get(arena, query ? query : "", "fieldSelector"), &filter, &err);
    }
    registry_free(registry);
    arena_free(arena);
    return 0;
}
