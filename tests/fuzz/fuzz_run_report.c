/* Fuzzes the report of a run. The input is lines of JSON, as in the history file. Any history must
 * give a document and a page, and no text of it may become markup. */
#include "base/mem.h"
#include "train/run/run_report.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_free_ char *text = mem_strndup((const char *)data, size);
    struct json *lines = json_array(arena);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        struct json *object = NULL;
        if (json_parse(arena, line, (size_t)(end - line), NULL, &object, NULL) == 0)
            json_append(lines, object);
    }
    _cleanup_buf_ struct buf html;
    buf_init(&html, 16 << 20);
    run_report_page(run_report_document(arena, lines), &html);
    if (strstr(html.data, "<script"))
        mem_panic("a report with a script in it");
    return 0;
}
