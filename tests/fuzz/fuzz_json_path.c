/* Fuzzes JSON paths. The first line of the input is a path, the rest an object. A path must not
 * find more values than the limit. A path that names one value must find the first value that the
 * general search finds. */
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
    bool has_object = text && json_parse(arena, text, strlen(text), NULL, &object, NULL) == 0;
    if (json_path_parse(arena, line, &path, &err) == 0 && has_object) {
        const struct json *const *found = json_path_find(arena, path, object), *one;
        size_t count = 0;
        while (found[count])
            count++;
        if (count > JSON_PATH_FOUND_MAX)
            __builtin_trap();
        if (json_path_find_one(arena, line, object, &one, &err) == 0 && count > 0 &&
            one != found[0])
            __builtin_trap();
    }
    if (has_object) {
        const struct json *one;
        (void)json_path_find_one(arena, line, object, &one, &err);
        (void)json_path_print(arena, json_path_find_dotted(arena, line, object));
    }
    arena_free(arena);
    return 0;
}
