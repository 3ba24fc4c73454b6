/* Encodes and decodes messages between workers and parameter servers; see wire.h. */
#include "comm/ps/wire.h"

#include <endian.h>
#include <math.h>
#include <string.h>

/* Ids and values are sent in their memory format. */
_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN && sizeof(float) == 4,
               "rows are sent without a copy: this needs a little-endian machine");

/* The head of a frame, in little-endian byte order. */
struct head {
    uint32_t type, size, sequence, table, count;
    float rate;
    uint64_t first;
};
_Static_assert(sizeof(struct head) == PS_FRAME_HEAD_SIZE, "a head has no holes");

struct dense {
    uint64_t total, first, count;
    uint32_t rule;
    float accumulator;
};
_Static_assert(sizeof(struct dense) == PS_WIRE_DENSE_SIZE, "a dense range has no holes");

struct table {
    uint32_t dimensions;
    float range;
    uint64_t seed;
    uint32_t rule;
    float accumulator;
};
_Static_assert(sizeof(struct table) == PS_WIRE_TABLE_SIZE, "a table has no holes");

void ps_frame_encode(const struct ps_frame *frame, uint8_t bytes[PS_FRAME_HEAD_SIZE])
{
    const struct head head = {.type = frame->type,
                              .size = frame->size,
                              .sequence = frame->sequence,
                              .table = frame->table,
                              .count = frame->count,
                              .rate = frame->rate,
                              .first = frame->first};
    memcpy(bytes, &head, sizeof(head));
}

/* Returns whether the size of the body is valid for the type and count of the head. Does not check
 * the size of the gradients of rows, which depends on the table. */
static bool body_fits(const struct head *head)
{
    switch ((enum ps_frame_type)head->type) {
    case PS_FRAME_DENSE_OPEN:
        return head->size == PS_WIRE_DENSE_SIZE;
    case PS_FRAME_TABLE_OPEN:
        return head->size == PS_WIRE_TABLE_SIZE;
    case PS_FRAME_DENSE_SEED:
    case PS_FRAME_DENSE_PUSH:
        return head->size == head->count * sizeof(float);
    case PS_FRAME_DENSE_PULL:
        return head->size == 0 && head->count <= PS_FRAME_VALUES_MAX;
    case PS_FRAME_ROWS_PULL:
        return head->size == head->count * sizeof(int64_t);
    case PS_FRAME_ROWS_PUSH:
        return head->size >= head->count * sizeof(int64_t);
    case PS_FRAME_DONE:
    case PS_FRAME_REFUSED:
        return true;
    default:
        return head->size == 0;
    }
}

int ps_frame_decode(const uint8_t bytes[PS_FRAME_HEAD_SIZE], struct ps_frame *ret, struct err *err)
{
    struct head head;
    memcpy(&head, bytes, sizeof(head));
    if (head.type == 0 || head.type >= PS_FRAME_TYPES || head.size > PS_FRAME_MAX ||
        !body_fits(&head))
        return err_set(err, ERR_BAD_REQUEST, "invalid message: type %u, %u bytes, count %u",
                       head.type, head.size, head.count);
    if (!isfinite(head.rate))
        return err_set(err, ERR_BAD_REQUEST,
                       "invalid message: the learning rate is %g, but it must be a finite number",
                       (double)head.rate);
    *ret = (struct ps_frame){.type = (enum ps_frame_type)head.type,
                             .size = head.size,
                             .sequence = head.sequence,
                             .table = head.table,
                             .count = head.count,
                             .rate = head.rate,
                             .first = head.first};
    return 0;
}

void ps_wire_dense_encode(const struct ps_dense_shape *shape, uint8_t bytes[PS_WIRE_DENSE_SIZE])
{
    const struct dense dense = {.total = shape->total,
                                .first = shape->first,
                                .count = shape->count,
                                .rule = shape->update.rule,
                                .accumulator = shape->update.accumulator};
    memcpy(bytes, &dense, sizeof(dense));
}

void ps_wire_dense_decode(const uint8_t bytes[PS_WIRE_DENSE_SIZE], struct ps_dense_shape *ret)
{
    struct dense dense;
    memcpy(&dense, bytes, sizeof(dense));
    *ret = (struct ps_dense_shape){
        .total = dense.total,
        .first = dense.first,
        .count = dense.count,
        .update = {.rule = (enum ps_rule)dense.rule, .accumulator = dense.accumulator}};
}

void ps_wire_table_encode(const struct ps_table *shape, uint8_t bytes[PS_WIRE_TABLE_SIZE])
{
    const struct table table = {.dimensions = (uint32_t)shape->dimensions,
                                .range = shape->range,
                                .seed = shape->seed,
                                .rule = shape->update.rule,
                                .accumulator = shape->update.accumulator};
    memcpy(bytes, &table, sizeof(table));
}

void ps_wire_table_decode(const uint8_t bytes[PS_WIRE_TABLE_SIZE], struct ps_table *ret)
{
    struct table table;
    memcpy(&table, bytes, sizeof(table));
    *ret = (struct ps_table){
        .dimensions = (int)table.dimensions,
        .range = table.range,
        .seed = table.seed,
        .update = {.rule = (enum ps_rule)table.rule, .accumulator = table.accumulator}};
}
