/* The messages between a worker and a parameter server. After the handshake (transport/handshake.h)
 * the worker sends frames, and the server answers each frame, in order, with DONE or REFUSED. A
 * frame is a head and a body. The body is padded to 8 bytes, so that ids and values can be used
 * directly in the receive buffer. All numbers are little-endian. Decoding checks everything that
 * can be checked without knowing the variables; ps_store checks the rest. Called by ps_link,
 * ps_handler, ps_session and snapshot*.c. */
#ifndef TRAINYARD_COMM_PS_WIRE_H
#define TRAINYARD_COMM_PS_WIRE_H

#include "comm/ps/store.h"

enum {
    PS_WIRE_VERSION = 1,
    PS_FRAME_HEAD_SIZE = 32,
    PS_FRAME_MAX = 16 << 20, /* limit of the body in bytes; larger requests are split into frames */
    PS_WIRE_DENSE_SIZE = 32,
    PS_WIRE_TABLE_SIZE = 24,
};

/* Each comment lists the fields of struct ps_frame that the type uses besides `size` and
 * `sequence`; all others are 0. The fields after "answer:" belong to the DONE frame. */
enum ps_frame_type {
    /* count: version; first: ps_tally.life of the worker; answer: count: number of open tables. */
    PS_FRAME_ATTACH = 1,
    PS_FRAME_DENSE_OPEN, /* body: shape of the range; answer: count: 1 if it has values */
    PS_FRAME_DENSE_SEED, /* body: `count` values from `first` on; applied when all have arrived */
    PS_FRAME_DENSE_PULL, /* asks for `count` values from `first` on; answer: body: the values */
    PS_FRAME_DENSE_PUSH, /* body: gradient of `count` values from `first` on; rate: learning rate */
    PS_FRAME_TABLE_OPEN, /* table: number of the table; body: shape of the table */
    /* table: number of the table; body: `count` ids; answer: body: their rows. */
    PS_FRAME_ROWS_PULL,
    /* table: number of the table; body: `count` ids, then their gradients; rate: learning rate. */
    PS_FRAME_ROWS_PUSH,
    /* table: number of the table; first: the row to start from; answer: body: `count` ids, then
     * their rows; first: the row to start the next scan from. After the last row, count is 0. */
    PS_FRAME_ROWS_SCAN,
    /* table: the counter; first: the total of the worker process; answer: first: the value of the
     * counter. */
    PS_FRAME_COUNT,
    PS_FRAME_SAVE,
    PS_FRAME_FINISH,
    PS_FRAME_DONE,
    PS_FRAME_REFUSED, /* count: an enum err_code; body: the reason as text */
    PS_FRAME_TYPES,
};

struct ps_frame {
    enum ps_frame_type type;
    uint32_t size; /* size of the body without padding */
    uint32_t sequence;
    uint32_t table;
    uint32_t count;
    float rate;
    uint64_t first;
};

void ps_frame_encode(const struct ps_frame *frame, uint8_t bytes[PS_FRAME_HEAD_SIZE]);
int ps_frame_decode(const uint8_t bytes[PS_FRAME_HEAD_SIZE], struct ps_frame *ret, struct err *err);

static inline size_t ps_frame_padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* Returns the number of rows that fit into one frame. */
static inline size_t ps_frame_rows_max(size_t dimensions)
{
    return PS_FRAME_MAX / (sizeof(int64_t) + dimensions * sizeof(float));
}
enum { PS_FRAME_VALUES_MAX = PS_FRAME_MAX / sizeof(float) };

void ps_wire_dense_encode(const struct ps_dense_shape *shape, uint8_t bytes[PS_WIRE_DENSE_SIZE]);
void ps_wire_dense_decode(const uint8_t bytes[PS_WIRE_DENSE_SIZE], struct ps_dense_shape *ret);
void ps_wire_table_encode(const struct ps_table *table, uint8_t bytes[PS_WIRE_TABLE_SIZE]);
void ps_wire_table_decode(const uint8_t bytes[PS_WIRE_TABLE_SIZE], struct ps_table *ret);

#endif
