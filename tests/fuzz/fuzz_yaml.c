/* Whatever yaml_parse() accepts must be written as YAML that reads back as the same tree. */
#include "base/yaml.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

static void check(const struct json *document, struct arena *arena)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    yaml_write(document, &text);
    struct json *back;
    struct err err = ERR_INIT;
    if (yaml_parse(arena, "written", text.data, text.size, NULL, &back, &err) < 0)
        mem_panic("written but not read: %s:\n%s", err.message, text.data);
    if (json_count(back) != 1 || !json_equal(document, back->first))
        mem_panic("'%s' became '%s':\n%s", json_to_string(arena, document),
                  json_to_string(arena, back), text.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const struct json_limits limits = {.depth = 60, .nodes = 20000};
    struct json *documents;
    struct err err = ERR_INIT;
    if (yaml_parse(arena, "fuzz", (const char *)data, size, &limits, &documents, &err) == 0)
        JSON_EACH (document, documents)
            check(document, arena);
    else if (strncmp(err.message, "fuzz:", 5) != 0)
        mem_panic("an error without a place: %s", err.message);
    arena_free(arena);
    return 0;
}
