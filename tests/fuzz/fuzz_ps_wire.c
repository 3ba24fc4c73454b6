/* Fuzzes a parameter server with any messages of a worker. The input is the byte stream of a
 * connection, which is answered from a store. Each message must get one well-formed answer. A
 * message that is read must be written as the same bytes. */
#include "base/mem.h"
#include "comm/ps/handler.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A worker that has the secret may ask for memory of any size. Here that would only be slow. */
static bool is_modest(const struct ps_frame *frame, const uint8_t *body)
{
    struct ps_dense_shape shape;
    if (frame->type != PS_FRAME_DENSE_OPEN)
        return true;
    ps_wire_dense_decode(body, &shape);
    return shape.total < 1 << 16;
}

static void check_answer(const struct buf *out, const struct ps_frame *request)
{
    struct ps_frame answer;
    struct err err = ERR_INIT;
    if (out->size < PS_FRAME_HEAD_SIZE ||
        ps_frame_decode((const uint8_t *)out->data, &answer, &err) < 0 ||
        out->size != PS_FRAME_HEAD_SIZE + ps_frame_padded(answer.size))
        mem_panic("fuzz: an answer is malformed");
    if (answer.sequence != request->sequence)
        mem_panic("fuzz: an answer to something else");
}

static void check_rewrite(const struct ps_frame *frame, const uint8_t *head)
{
    uint8_t again[PS_FRAME_HEAD_SIZE];
    ps_frame_encode(frame, again);
    if (memcmp(again, head, sizeof(again)) != 0)
        mem_panic("fuzz: a head changes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ps_handler serve;
    struct ps_frame frame;
    struct err err = ERR_INIT;
    _cleanup_(cleanup_ps_store) struct ps_store *store = ps_store_new(64 << 20);
    _cleanup_buf_ struct buf out;
    buf_init(&out, PS_FRAME_HEAD_SIZE + PS_FRAME_MAX);
    ps_handler_init(&serve, store, 0);
    while (size >= PS_FRAME_HEAD_SIZE && ps_frame_decode(data, &frame, &err) == 0) {
        check_rewrite(&frame, data);
        size_t whole = PS_FRAME_HEAD_SIZE + ps_frame_padded(frame.size);
        if (size < whole)
            break;
        _cleanup_free_ uint8_t *body = mem_alloc(whole); /* aligned, and of the exact size */
        memcpy(body, data + PS_FRAME_HEAD_SIZE, frame.size);
        if (is_modest(&frame, body)) {
            buf_clear(&out);
            if (ps_handler_request(&serve, &frame, body, &out) != PS_HANDLER_ANSWERED)
                ps_handler_done(frame.sequence, &out);
            check_answer(&out, &frame);
        }
        data += whole;
        size -= whole;
    }
    ps_handler_release(&serve);
    return 0;
}
