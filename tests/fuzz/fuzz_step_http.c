/* Fuzzes the reader of HTTP and gRPC responses to probes. The target of a redirect must be a URL
 * whose text leads to the same target. */
#include "base/mem.h"
#include "base/str.h"
#include "node/step/probe/grpc.h"
#include "node/step/probe/http.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_location(const char *location)
{
    const struct step_url from = {.host = "10.0.0.1", .port = 80, .path = "/a/b"};
    struct step_url url, again;
    struct buf text;
    if (step_url_follow(&from, location, &url, NULL) < 0)
        return;
    buf_init(&text, 3 * STEP_PATH_MAX);
    step_url_write(&url, &text);
    if (text.size < STEP_PATH_MAX && !strchr(url.path, '#') && !strpbrk(url.host, "[]/?#:") &&
        (step_url_follow(&from, text.data, &again, NULL) < 0 || !str_eq(url.path, again.path) ||
         !str_eq(url.host, again.host) || url.port != again.port || url.tls != again.tls))
        mem_panic("a URL is read back as something else: %s", text.data);
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = memcpy(mem_zalloc(size + 1), data, size);
    struct step_answer answer;
    struct step_grpc_answer called = {0};
    struct err err = ERR_INIT;
    int result = size <= STEP_ANSWER_MAX ? step_http_parse(text, size, &answer, &err) : 0;
    if (result < 0 && !err.message[0])
        mem_panic("refused without a word");
    if (result > 0 && (answer.body > size || answer.status < 200))
        mem_panic("an answer that is none");
    if (result > 0)
        check_location(answer.location);
    check_location(text);
    if (step_grpc_read(text, size, &called, &err) > (int64_t)size)
        mem_panic("more was read than there is");
    free(text);
    return 0;
}
