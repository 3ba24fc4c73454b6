/* Answers the requests of one worker; see handler.h. */
#include "comm/ps/handler.h"

#include "base/mem.h"

#include <string.h>

enum { PART_SIZE = 128 << 10 }; /* bytes per part of a long answer */

void ps_handler_init(struct ps_handler *handler, struct ps_store *store, uint32_t worker)
{
    *handler = (struct ps_handler){.store = store, .worker = worker};
}

void ps_handler_release(struct ps_handler *handler)
{
    free(handler->seed);
    *handler = (struct ps_handler){0};
}

/* Appends the head of an answer and returns room for its body. */
static void *handler_answer(struct buf *out, struct ps_frame frame)
{
    size_t size = PS_FRAME_HEAD_SIZE + ps_frame_padded(frame.size);
    uint8_t *room = (uint8_t *)buf_reserve(out, size);
    if (!room)
        mem_panic("an answer of %u bytes has no room", frame.size);
    ps_frame_encode(&frame, room);
    if (frame.size)
        memset(room + size - 8, 0, 8); /* the padding */
    buf_commit(out, size);
    return room + PS_FRAME_HEAD_SIZE;
}

void ps_handler_done(uint32_t sequence, struct buf *out)
{
    handler_answer(out, (struct ps_frame){.type = PS_FRAME_DONE, .sequence = sequence});
}

void ps_handler_refuse(uint32_t sequence, const struct err *err, struct buf *out)
{
    size_t size = strlen(err->message);
    memcpy(handler_answer(out, (struct ps_frame){.type = PS_FRAME_REFUSED,
                                                 .sequence = sequence,
                                                 .count = err->code,
                                                 .size = (uint32_t)size}),
           err->message, size);
}

/* A worker that attaches again may train again, so it does not count as finished any more. */
static int handler_attach(struct ps_handler *handler, const struct ps_frame *frame,
                          const uint8_t *body, struct buf *out, struct err *err)
{
    if (frame->count != PS_WIRE_VERSION)
        return err_set(err, ERR_FORBIDDEN,
                       "it speaks version %d of the protocol and this task version %u: run the "
                       "same version of the program in all tasks",
                       PS_WIRE_VERSION, frame->count);
    handler->attached = true;
    handler->incarnation = frame->first;
    ps_store_set_finished(handler->store, handler->worker, false);
    handler_answer(out, (struct ps_frame){.type = PS_FRAME_DONE,
                                          .sequence = frame->sequence,
                                          .count = (uint32_t)ps_store_table_count(handler->store)});
    return 0;
}

static int handler_dense_open(struct ps_handler *handler, const struct ps_frame *frame,
                              const uint8_t *body, struct buf *out, struct err *err)
{
    struct ps_dense_shape shape;
    ps_wire_dense_decode(body, &shape);
    bool seeded;
    int result = ps_store_dense_open(handler->store, &shape, &seeded, err);
    if (result == 0)
        handler_answer(
            out,
            (struct ps_frame){.type = PS_FRAME_DONE, .sequence = frame->sequence, .count = seeded});
    return result;
}

/* The initial values are applied only when all of them have arrived, so that values of two workers
 * are never mixed. */
static int handler_dense_seed(struct ps_handler *handler, const struct ps_frame *frame,
                              const uint8_t *body, struct buf *out, struct err *err)
{
    struct ps_store_view view = ps_store_view(handler->store);
    if (view.seeded) { /* seeded by another worker, or by this worker on an earlier connection */
        ps_handler_done(frame->sequence, out);
        return 0;
    }
    if (!view.dense.total)
        return err_set(err, ERR_BAD_REQUEST, "the dense vector has not been opened");
    size_t range = view.dense.count;
    if (frame->first != handler->seed_count || frame->count > range - handler->seed_count)
        return err_set(err, ERR_BAD_REQUEST,
                       "the initial values of the dense vector arrived out of order, or are too "
                       "many");
    if (!handler->seed)
        handler->seed = mem_calloc(range ? range : 1, sizeof(float));
    memcpy(handler->seed + handler->seed_count, body, frame->size);
    handler->seed_count += frame->count;
    if (handler->seed_count == range) {
        int result = ps_store_dense_seed(handler->store, handler->seed, range, err);
        free(handler->seed);
        handler->seed = NULL;
        handler->seed_count = 0;
        if (result < 0)
            return result;
    }
    ps_handler_done(frame->sequence, out);
    return 0;
}

static int handler_dense_pull(struct ps_handler *handler, const struct ps_frame *frame,
                              const uint8_t *body, struct buf *out, struct err *err)
{
    const float *values;
    int result = ps_store_dense_pull(handler->store, frame->first, frame->count, &values, err);
    if (result == 0) {
        size_t size = frame->count * sizeof(float);
        memcpy(handler_answer(out, (struct ps_frame){.type = PS_FRAME_DONE,
                                                     .sequence = frame->sequence,
                                                     .count = frame->count,
                                                     .size = (uint32_t)size}),
               values, size);
    }
    return result;
}

static int handler_dense_push(struct ps_handler *handler, const struct ps_frame *frame,
                              const uint8_t *body, struct buf *out, struct err *err)
{
    const void *gradients = body;
    int result = ps_store_dense_push(handler->store, frame->first, frame->count, gradients,
                                     frame->rate, err);
    if (result == 0)
        ps_handler_done(frame->sequence, out);
    return result;
}

static int handler_table_open(struct ps_handler *handler, const struct ps_frame *frame,
                              const uint8_t *body, struct buf *out, struct err *err)
{
    struct ps_table table;
    ps_wire_table_decode(body, &table);
    int result = ps_store_table_open(handler->store, frame->table, &table, err);
    if (result == 0)
        ps_handler_done(frame->sequence, out);
    return result;
}

/* Finds the table of a request, and checks that frame->count rows fit into one frame. */
static int handler_find_table(const struct ps_handler *handler, const struct ps_frame *frame,
                              struct embedding_table **ret, size_t *ret_dimensions, struct err *err)
{
    struct embedding_table *table = ps_store_table(handler->store, frame->table);
    if (!table)
        return err_set(err, ERR_INVALID, "table %u has not been opened", frame->table);
    size_t dimensions = (size_t)embedding_table_shape(table)->dimensions;
    if (frame->count > ps_frame_rows_max(dimensions))
        return err_set(err, ERR_TOO_LARGE,
                       "a message has %u rows of %zu values, but the limit is %zu rows",
                       frame->count, dimensions, ps_frame_rows_max(dimensions));
    *ret = table;
    *ret_dimensions = dimensions;
    return 0;
}

static int handler_rows_pull(struct ps_handler *handler, const struct ps_frame *frame,
                             const uint8_t *body, struct buf *out, struct err *err)
{
    struct embedding_table *table;
    size_t dimensions;
    int result = handler_find_table(handler, frame, &table, &dimensions, err);
    if (result < 0)
        return result;
    size_t row_size = dimensions * sizeof(float), part_rows = 1 + PART_SIZE / row_size;
    void *room =
        handler_answer(out, (struct ps_frame){.type = PS_FRAME_DONE,
                                              .sequence = frame->sequence,
                                              .count = frame->count,
                                              .size = (uint32_t)(frame->count * row_size)});
    float *rows = room;
    size_t body_offset = (size_t)((char *)room - out->data);
    /* The worker receives one part while the server looks up the next part. No push of another
     * worker is applied between the parts, because the server has one thread. */
    for (size_t at = 0; at < frame->count; at += part_rows) {
        size_t left = frame->count - at;
        if (at && handler->on_part)
            handler->on_part(handler->context, body_offset + at * row_size);
        embedding_table_pull(table, (const int64_t *)body + at, left < part_rows ? left : part_rows,
                             rows + at * dimensions);
    }
    return 0;
}

static int handler_rows_push(struct ps_handler *handler, const struct ps_frame *frame,
                             const uint8_t *body, struct buf *out, struct err *err)
{
    struct embedding_table *table;
    size_t dimensions;
    int result = handler_find_table(handler, frame, &table, &dimensions, err);
    if (result < 0)
        return result;
    size_t ids = frame->count * sizeof(int64_t);
    if (frame->size != ids + frame->count * dimensions * sizeof(float))
        return err_set(err, ERR_BAD_REQUEST,
                       "%u gradients of %zu values do not match a message of %u bytes",
                       frame->count, dimensions, frame->size);
    const void *gradients = body + ids;
    result = ps_store_rows_push(handler->store, frame->table, (const int64_t *)body, frame->count,
                                gradients, frame->rate, err);
    if (result == 0)
        ps_handler_done(frame->sequence, out);
    return result;
}

static int handler_rows_scan(struct ps_handler *handler, const struct ps_frame *frame,
                             const uint8_t *body, struct buf *out, struct err *err)
{
    struct embedding_table *table;
    size_t dimensions;
    int result = handler_find_table(handler, frame, &table, &dimensions, err);
    if (result < 0)
        return result;
    const int64_t *ids;
    const float *rows;
    size_t count = embedding_table_span(table, frame->first, &ids, &rows);
    size_t stride = embedding_table_stride(table), most = ps_frame_rows_max(dimensions);
    count = count < most ? count : most;
    size_t size = count * (sizeof(int64_t) + dimensions * sizeof(float));
    uint8_t *at = handler_answer(out, (struct ps_frame){.type = PS_FRAME_DONE,
                                                        .sequence = frame->sequence,
                                                        .count = (uint32_t)count,
                                                        .first = frame->first + count,
                                                        .size = (uint32_t)size});
    if (count)
        at = mempcpy(at, ids, count * sizeof(*ids));
    for (size_t i = 0; i < count; i++)
        at = mempcpy(at, rows + i * stride, dimensions * sizeof(float));
    return 0;
}

static int handler_count(struct ps_handler *handler, const struct ps_frame *frame,
                         const uint8_t *body, struct buf *out, struct err *err)
{
    uint64_t sum;
    int result = ps_store_count(handler->store, handler->worker, handler->incarnation, frame->table,
                                frame->first, &sum, err);
    if (result == 0)
        handler_answer(out, (struct ps_frame){
                                .type = PS_FRAME_DONE, .sequence = frame->sequence, .first = sum});
    return result;
}

enum ps_handler_result ps_handler_request(struct ps_handler *handler, const struct ps_frame *frame,
                                          const uint8_t *body, struct buf *out)
{
    static int (*const HANDLERS[PS_FRAME_TYPES])(struct ps_handler *, const struct ps_frame *,
                                                 const uint8_t *, struct buf *, struct err *) = {
        [PS_FRAME_ATTACH] = handler_attach,         [PS_FRAME_DENSE_OPEN] = handler_dense_open,
        [PS_FRAME_DENSE_SEED] = handler_dense_seed, [PS_FRAME_DENSE_PULL] = handler_dense_pull,
        [PS_FRAME_DENSE_PUSH] = handler_dense_push, [PS_FRAME_TABLE_OPEN] = handler_table_open,
        [PS_FRAME_ROWS_PULL] = handler_rows_pull,   [PS_FRAME_ROWS_PUSH] = handler_rows_push,
        [PS_FRAME_ROWS_SCAN] = handler_rows_scan,   [PS_FRAME_COUNT] = handler_count,
    };
    struct err err = ERR_INIT;
    int result;
    if (!handler->attached && frame->type != PS_FRAME_ATTACH) {
        result =
            err_set(&err, ERR_BAD_REQUEST, "the first message must contain the protocol version");
    } else if (frame->type == PS_FRAME_SAVE) {
        return PS_HANDLER_SAVE;
    } else if (frame->type == PS_FRAME_FINISH) {
        ps_store_set_finished(handler->store, handler->worker, true);
        return PS_HANDLER_FINISH;
    } else if (HANDLERS[frame->type]) {
        result = HANDLERS[frame->type](handler, frame, body, out, &err);
    } else {
        result = err_set(&err, ERR_BAD_REQUEST, "a worker must not send a message of type %d",
                         (int)frame->type);
    }
    if (result < 0)
        ps_handler_refuse(frame->sequence, &err, out);
    return PS_HANDLER_ANSWERED;
}
