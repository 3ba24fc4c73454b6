/* The first line is a path, the rest an object: all that is found is a part of it. */
#include "kube/json_path.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    char *line = arena_strndup(arena, (const char *)data, size > 65536 ? 65536 : size);
    char *text = strchr(line, '\n');
    const struct json_path *path;
    struct json *object;
    struct err err;
    if (text)
        *text++ = '\0';
    if (json_path_parse(arena, line, &path, &err) == 0 && text &&
        json_parse(arena, text, strlen(text), NULL, &object, NULL) == 0) {
        size_t count = 0;
        for (const struct json *const *found = json_path_find(arena, path, object); *found; found++)
            count++;
        if (count > JSON_PATH_FOUND_MAX)
            __builtin_trap();
    }
    arena_free(arena);
    return 0;
}
