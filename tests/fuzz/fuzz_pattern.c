/* Fuzzes regular expressions. The first line of the input is an expression, the rest a text. There
 * must be an answer or an error within a bounded time. */
#include "base/pattern/pattern.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    char *expression = arena_strndup(arena, (const char *)data, size > 4096 ? 4096 : size);
    char *text = strchr(expression, '\n');
    const struct pattern *pattern;
    struct err err;
    bool found;
    if (text)
        *text++ = '\0';
    if (pattern_compile(arena, expression, &pattern, &err) == 0)
        (void)pattern_find(pattern, text ? text : "", text ? strlen(text) : 0, &found, &err);
    arena_free(arena);
    return 0;
}
