/* Fuzzes the parser of multipart forms. The first line of the input is the Content-Type, the rest
 * the body. The parts must lie in the body. */
#include "serve/multipart.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line_end = memchr(data, '\n', size);
    if (!line_end)
        return 0;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *type = arena_strndup(arena, (const char *)data, (size_t)(line_end - data));
    /* A copy of the exact size, so that a sanitizer sees a read past the end. */
    size_t body_size = size - (size_t)(line_end - data) - 1;
    _cleanup_free_ char *body = malloc(body_size ? body_size : 1);
    memcpy(body, line_end + 1, body_size);
    struct multipart_part *parts;
    size_t count;
    struct err err;
    if (multipart_parse(arena, type, body, body_size, &parts, &count, &err) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i].data < body || parts[i].data + parts[i].size > body + body_size)
            abort();
    return 0;
}
