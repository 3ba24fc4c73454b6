/* Fuzzes the history of a run and its report. The input is a history file. Any history must give a
 * document and a page, and no text of it may become markup. */
#include "base/mem.h"
#include "train/run/run_history.h"
#include "train/run/run_report.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    size_t unread;
    struct json *lines = run_history_parse(arena, (const char *)data, size, &unread);
    _cleanup_buf_ struct buf html;
    buf_init(&html, 16 << 20);
    run_report_page(run_report_document(arena, lines), &html);
    if (strstr(html.data, "<script"))
        mem_panic("a report with a script in it");
    return 0;
}
