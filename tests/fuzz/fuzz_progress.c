/* Fuzzes the reader of a user program's answers at /progress. The result must be the same in one
 * piece and in many, and within its limits. The progress line must be short and printable. The
 * first byte of the input is the size of the pieces. */
#include "base/mem.h"
#include "base/utf8.h"
#include "net/http/response_reader.h"
#include "operator/reconcile/progress_text.h"

#include <stdint.h>
#include <string.h>

enum { BODY_MAX = 4096, TEXT_MAX = 400 };

/* Returns the status of the response, or 0 if it was rejected. */
static int feed(struct http_response_reader *reply, const char *data, size_t size, size_t piece)
{
    struct err err = ERR_INIT;

    http_response_reader_init(reply, BODY_MAX);
    for (size_t at = 0; at < size && !reply->whole; at += piece) {
        size_t part = size - at < piece ? size - at : piece;

        if (http_response_reader_feed(reply, data + at, part, &err) < 0)
            return 0;
    }
    if (!reply->whole && http_response_reader_end(reply, &err) < 0)
        return 0;
    if (reply->status < 200 || reply->body.size > BODY_MAX)
        mem_panic("status %d, %zu bytes", reply->status, reply->body.size);
    return reply->status;
}

static void check_text(const char *document, size_t size)
{
    struct arena *arena = arena_new();
    char *text;

    if (training_progress_text(arena, document, size, &text, NULL) == 0) {
        if (strlen(text) == 0 || strlen(text) > TEXT_MAX)
            mem_panic("a line of %zu bytes", strlen(text));
        for (const char *at = text; *at; at++)
            if ((unsigned char)*at < ' ' || *at == 0x7f)
                mem_panic("byte %d in the line", *at);
        if (!utf8_is_valid(text, strlen(text)))
            mem_panic("a line that is no UTF-8");
    }
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_response_reader whole, pieces;
    const char *text = (const char *)data + 1;

    if (size == 0)
        return 0;
    int status = feed(&whole, text, size - 1, size);
    if (feed(&pieces, text, size - 1, 1 + data[0] % 32) != status ||
        (status &&
         (whole.body.size != pieces.body.size ||
          (whole.body.size && memcmp(whole.body.data, pieces.body.data, whole.body.size) != 0))))
        mem_panic("understood otherwise in pieces");
    if (status)
        check_text(whole.body.size ? whole.body.data : "", whole.body.size);
    check_text(text, size - 1);
    http_response_reader_release(&whole);
    http_response_reader_release(&pieces);
    return 0;
}
