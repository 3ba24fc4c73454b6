/* Go complains of no text that json_parse() accepts; and where names may be repeated, what is read
 * is written as JSON in which none is. */
#include "kube/json_complaint.h"
#include "kube/json_repeats.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const char *text = (const char *)data;
    struct schema_complaints repeats = {0};
    struct json *json, *back;
    const char *complaint = kube_json_complaint(arena, text, size);
    if (json_parse(arena, text, size, NULL, &json, NULL) == 0 && complaint)
        mem_panic("accepted, and complained of: %s", complaint);
    if (kube_json_repeats_parse(arena, text, size, &json, &repeats, NULL) == 0) {
        const char *written = json_to_string(arena, json);
        if (json_parse(arena, written, strlen(written), NULL, &back, NULL) < 0 ||
            !json_equal(json, back))
            mem_panic("repeated names were left: %s", written);
    }
    arena_free(arena);
    return 0;
}
