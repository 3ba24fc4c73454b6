/* Fuzzes the reader of protobuf bodies. An accepted body must become JSON that can be read back. */
#include "base/arena.h"
#include "kube/kinds/kinds.h"
#include "kube/schema/protobuf.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct json *json, *again;
    struct err err;
    if (schema_protobuf_read_body(arena, kube_kind_find_type, NULL, data, size, &json, &err) == 0) {
        const char *text = json_to_string(arena, json);
        if (json_parse(arena, text, strlen(text), NULL, &again, &err) < 0 ||
            !json_equal(json, again))
            __builtin_trap();
    }
    arena_free(arena);
    return 0;
}
