/* Fuzzes the messages for JSON syntax errors. There must be no message for a text that json_parse()
 * accepts. A text with repeated names, read as JSON or YAML, must be written as JSON without
 * repeated names. */
#include "kube/schema/json_duplicates.h"
#include "kube/schema/json_syntax_error.h"

#include "base/json/yaml.h"
#include "base/mem.h"

#include <stdint.h>
#include <string.h>

static void check(struct arena *arena, const struct json *json)
{
    struct json *back;
    const char *written = json_to_string(arena, json);
    if (json_parse(arena, written, strlen(written), NULL, &back, NULL) < 0 ||
        !json_equal(json, back))
        mem_panic("repeated names were left: %s", written);
}

static void read_yaml(struct arena *arena, const char *text, size_t size)
{
    static const struct json_limits limits = {.depth = 60, .nodes = 20000, .repeats = true};
    const struct source source = {"fuzz", text, size, false};
    struct schema_messages repeats = {0};
    struct json *documents;
    if (yaml_parse(arena, &source, &limits, &documents, NULL) < 0)
        return;
    for (struct json *document = documents->first; document; document = document->next) {
        kube_yaml_duplicates_remove(arena, document, &repeats);
        check(arena, document);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const char *text = (const char *)data;
    struct schema_messages repeats = {0};
    struct json *json;
    const char *complaint = kube_json_syntax_error(arena, text, size);
    if (json_parse(arena, text, size, NULL, &json, NULL) == 0 && complaint)
        mem_panic("accepted, and complained of: %s", complaint);
    if (kube_json_duplicates_parse(arena, text, size, &json, &repeats, NULL) == 0)
        check(arena, json);
    read_yaml(arena, text, size);
    arena_free(arena);
    return 0;
}
