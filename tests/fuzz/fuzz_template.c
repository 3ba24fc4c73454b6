/* Fuzzes templates. A template is either rejected with a message, or filled in to a list of as many
 * objects as it had. A text to generate from is either rejected, or gives a result within the
 * limit. */
#include "base/mem.h"
#include "kube/template.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct err err = ERR_INIT;
    struct json *template_, *list;
    const struct json *wrong;
    const char *text = arena_strndup(arena, (const char *)data, size), *generated;
    if (kube_template_generate(arena, text, &generated, &err) == 0 &&
        strlen(generated) > KUBE_TEMPLATE_GENERATED_MAX)
        mem_panic("generated too much");
    if (json_parse(arena, (const char *)data, size, NULL, &template_, NULL) == 0) {
        err = (struct err)ERR_INIT;
        if (kube_template_process(arena, template_, json_object(arena), &list, &wrong, &err) < 0) {
            if (err.message[0] == '\0')
                mem_panic("refused without a word");
        } else if (json_count(json_get(list, "items")) !=
                   json_count(json_get(template_, "objects"))) {
            mem_panic("an object was lost");
        }
    }
    arena_free(arena);
    return 0;
}
