/* Fuzzes the references and conditions in the texts of workflows. The answer must be a text or an
 * error. */
#include "pipeline/spec/condition.h"
#include "pipeline/spec/text.h"

#include <stdint.h>
#include <string.h>

static const char *resolve(void *context, const char *reference, struct err *err)
{
    /* A reference must be well-formed and short. */
    if (strlen(reference) == 0 || strlen(reference) >= WORKFLOW_REFERENCE_MAX ||
        strpbrk(reference, "{} \t\n"))
        __builtin_trap();
    return reference[0] == 'u' ? NULL : "{{value}}";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char object_text[] = "{\"a\":{\"b\":[{\"c\":1}],\"d\":\"x\"}}";
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *text = arena_strndup(arena, (const char *)data, size), *got;
    struct err err = ERR_INIT;
    struct json *object;
    bool holds;

    if (workflow_text_expand(arena, text, resolve, NULL, &got, &err) == 0 && !got)
        __builtin_trap();
    if (json_parse(arena, object_text, sizeof(object_text) - 1, NULL, &object, NULL) < 0)
        __builtin_trap();
    (void)workflow_condition_eval(arena, text, &holds, &err);
    (void)workflow_condition_eval_object(arena, text, object, &holds, &err);
    return 0;
}
