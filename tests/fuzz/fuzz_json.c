/* Fuzzes json_parse(). An accepted text must be written as JSON that reads back as the same
 * tree. */
#include "base/json/json.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

static void check(const struct json *json, struct arena *arena, bool pretty)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    if (pretty)
        json_write_pretty(json, &text);
    else
        json_write(json, &text);
    struct json *back;
    struct err err = ERR_INIT;
    if (json_parse(arena, text.data, text.size, NULL, &back, &err) < 0)
        mem_panic("written but not read: %s: %s", err.message, text.data);
    if (!json_equal(json, back) || !json_equal(back, json))
        mem_panic("read back as something else: %s", text.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const struct json_limits limits = {.depth = 64, .nodes = 20000};
    struct json *json;
    struct err err = ERR_INIT;
    if (json_parse(arena, (const char *)data, size, &limits, &json, &err) == 0) {
        check(json, arena, false);
        check(json, arena, true);
        if (!json_equal(json, json_clone(arena, json)))
            mem_panic("a clone differs");
    } else if (err.message[0] == '\0') {
        mem_panic("refused without a word");
    }
    arena_free(arena);
    return 0;
}
