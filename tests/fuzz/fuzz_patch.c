/* Fuzzes patches. The input is {current, patch}. The result must survive being written and read
 * back, and neither input may change. */
#include "base/mem.h"
#include "kube/patch/patch.h"
#include "kube/types/types.h"

#include <stdint.h>
#include <string.h>

static void check(struct arena *arena, enum kube_patch_type type, const struct json *current,
                  const struct json *patch)
{
    const char *current_before = json_to_string(arena, current);
    const char *patch_before = json_to_string(arena, patch);
    struct json *result = NULL, *back = NULL;
    struct err err = ERR_INIT;
    int code = kube_patch_apply(arena, type, current, patch, &TYPE_POD, &result, &err);
    if (strcmp(json_to_string(arena, current), current_before) != 0 ||
        strcmp(json_to_string(arena, patch), patch_before) != 0)
        mem_panic("an input changed");
    if (code < 0) {
        if (err.message[0] == '\0' || code != -(int)err.code || result)
            mem_panic("refused without a word");
        return;
    }
    const char *text = json_to_string(arena, result);
    if (json_parse(arena, text, strlen(text), NULL, &back, &err) < 0)
        mem_panic("made what cannot be read: %s", err.message);
    if (!json_equal(result, back))
        mem_panic("read back as something else: %s", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const struct json_limits limits = {.depth = 60, .nodes = 5000};
    struct json *json = NULL;
    if (json_parse(arena, (const char *)data, size, &limits, &json, NULL) == 0) {
        const struct json *current = json_get(json, "current"), *patch = json_get(json, "patch");
        if (current && patch && current->type == JSON_OBJECT) {
            check(arena, KUBE_PATCH_JSON, current, patch);
            check(arena, KUBE_PATCH_MERGE, current, patch);
            check(arena, KUBE_PATCH_STRATEGIC, current, patch);
        }
    }
    arena_free(arena);
    return 0;
}
