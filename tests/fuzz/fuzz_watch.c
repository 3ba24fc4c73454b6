/* Fuzzes the decoder of watch streams. The events must not depend on how the stream is split. */
#include "base/mem.h"
#include "kube/client/watch_decoder.h"

#include <stdint.h>
#include <string.h>

struct outcome {
    struct buf events; /* as text */
    enum err_code code;
};

static bool on_event(void *context, const char *type, struct json *object)
{
    struct outcome *outcome = context;
    buf_append_str(&outcome->events, type);
    json_write(object, &outcome->events);
    buf_append_char(&outcome->events, '\n');
    return true;
}

static void decode(const uint8_t *data, size_t size, size_t piece, struct outcome *ret)
{
    struct watch_decoder decoder;
    struct err err = ERR_INIT;
    int result = 0;
    buf_init(&ret->events, SIZE_MAX / 2);
    watch_decoder_init(&decoder);
    for (size_t at = 0; at < size && result == 0; at += piece)
        result = watch_decoder_feed(&decoder, data + at, size - at < piece ? size - at : piece,
                                    on_event, ret, &err);
    if (result == 0)
        result = watch_decoder_end(&decoder, &err);
    if (result != -(int)err.code)
        mem_panic("the code and the error differ");
    ret->code = err.code;
    watch_decoder_release(&decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t PIECES[] = {1, 7};
    struct outcome whole = {0};
    decode(data, size, size + 1, &whole);
    for (size_t i = 0; i < ARRAY_SIZE(PIECES); i++) {
        struct outcome pieces = {0};
        decode(data, size, PIECES[i], &pieces);
        if (pieces.code != whole.code || strcmp(pieces.events.data, whole.events.data) != 0)
            mem_panic("in pieces of %zu it is another stream", PIECES[i]);
        buf_release(&pieces.events);
    }
    buf_release(&whole.events);
    return 0;
}
