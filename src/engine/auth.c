/* Authentication; see auth.h. */
#include "engine/auth.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>
#include <strings.h>

static const char SCHEME[] = "Bearer ";

static bool same(const char *given, const char *token)
{
    size_t size = strlen(token), given_size = strlen(given);
    unsigned difference = size != given_size;
    for (size_t i = 0; i < size; i++)
        difference |=
            (unsigned char)token[i] ^ (unsigned char)given[given_size ? i % given_size : 0];
    return difference == 0;
}

const char *auth_user(const struct http_request *request, const char *token)
{
    const char *value = http_header_get(request->headers, "Authorization");
    if (!value || strncasecmp(value, SCHEME, sizeof(SCHEME) - 1) != 0)
        return NULL;
    return same(value + sizeof(SCHEME) - 1, token) ? "trainyard-admin" : NULL;
}

bool auth_is_open(const char *path)
{
    static const char *const open[] = {"/healthz", "/livez", "/readyz", "/version"};
    for (size_t i = 0; i < ARRAY_SIZE(open); i++)
        if (str_eq(path, open[i]))
            return true;
    return false;
}
