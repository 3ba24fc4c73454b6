/* Fuzzes yaml_parse(). An accepted text must be written as YAML that reads back as the same
 * tree. */
#include "base/json/yaml.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

static void check(const struct json *document, struct arena *arena)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    yaml_write(document, &text);
    struct json *back;
    struct err err = ERR_INIT;
    if (yaml_parse(arena, &(struct source){"written", text.data, text.size, false}, NULL, &back,
                   &err) < 0)
        mem_panic("written but not read: %s:\n%s", err.message, text.data);
    if (json_count(back) != 1 || !json_equal(document, back->first))
        mem_panic("'%s' became '%s':\n%s", json_to_string(arena, document),
                  json_to_string(arena, back), text.data);
}

/* An error message begins with a position. The excerpt of the text is one short line without
 * control characters, followed by a line with a mark. */
static void check_refusal(const char *message)
{
    const char *line = strchr(message, '\n'), *mark = line ? strchr(line + 1, '\n') : NULL;
    if (strncmp(message, "fuzz:", 5) != 0)
        mem_panic("an error without a place: %s", message);
    if (!line)
        return;
    if (!mark || mark[1 + strspn(mark + 1, " ")] != '^' || !str_has_suffix(mark, "^"))
        mem_panic("a line without its mark: %s", message);
    size_t shown = 0;
    for (const char *c = line + 1; c < mark; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            mem_panic("a control character is shown: %s", message);
        shown += (*c & 0xc0) != 0x80;
    }
    if (shown > SOURCE_SHOWN_MAX + 6 || !utf8_is_valid(line, strlen(line)))
        mem_panic("too much is shown, or no UTF-8: %s", message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    const struct json_limits limits = {.depth = 60, .nodes = 20000};
    const struct source source = {"fuzz", (const char *)data, size, size % 2};
    struct json *documents;
    struct err err = ERR_INIT;
    if (yaml_parse(arena, &source, &limits, &documents, &err) == 0)
        JSON_EACH (document, documents)
            check(document, arena);
    else
        check_refusal(err.message);
    arena_free(arena);
    return 0;
}
