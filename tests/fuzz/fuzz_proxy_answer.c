/* Fuzzes the responses of servers behind a proxy. The result must not depend on how a response is
 * split, and no header that belongs to a single connection may be passed on. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/stream/http_proxy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct heard {
    int status, heads;
    size_t size;
};

static void on_head(void *context, int status, const struct http_header *headers, int64_t length)
{
    struct heard *heard = context;
    struct arena *arena = arena_new();
    const struct http_header *passed = http_proxy_answer_headers(arena, headers, "/proxy");
    if (status < 101 || length < -1)
        mem_panic("an answer that is none");
    for (const struct http_header *line = passed; line; line = line->next)
        if (http_proxy_is_hop_header(headers, line->name))
            mem_panic("'%s' is passed on", line->name);
    heard->status = status;
    heard->heads++;
    arena_free(arena);
}

static void on_body(void *context, const char *data, size_t size)
{
    struct heard *heard = context;
    if (heard->heads != 1)
        mem_panic("a body without its head");
    heard->size += size;
}

static int read_answer(const char *data, size_t size, size_t piece, struct heard *ret)
{
    static const struct http_proxy_answer_handler handler = {on_head, on_body};
    struct http_proxy_answer answer;
    struct err err = ERR_INIT;
    int result = 0;
    *ret = (struct heard){0};
    http_proxy_answer_init(&answer, false, &handler, ret);
    for (size_t at = 0, used; result == 0 && at < size && !answer.whole; at += used) {
        size_t next = size - at < piece ? size - at : piece;
        result = http_proxy_answer_feed(&answer, data + at, next, &used, &err);
        if (used > next)
            mem_panic("more was used than there is");
        if (result == 0 && used < next && !answer.whole)
            mem_panic("bytes are left over within an answer");
    }
    if (result == 0)
        result = http_proxy_answer_end(&answer, &err);
    if (result < 0 && !err.message[0])
        mem_panic("refused without a word");
    http_proxy_answer_release(&answer);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct heard whole, cut;
    int result = read_answer((const char *)data, size, size ? size : 1, &whole);
    int again = read_answer((const char *)data, size, 7, &cut);
    if (result != again || (result == 0 && (whole.status != cut.status || whole.size != cut.size)))
        mem_panic("an answer in pieces is another one");
    return 0;
}
