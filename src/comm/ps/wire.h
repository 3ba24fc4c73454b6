/* The messages between a worker and a parameter server. After the handshake (transport/handshake.h)
 * the worker sends frames, and the server answers each frame, in order, with DONE or REFUSED. A
 * frame is a head and a body. The body is padded to 8 bytes, so that ids and values can be used
 * directly in the receive buffer. All numbers are little-endian. ps_frame_decode() checks what can
 * be checked without knowing the variables; ps_handler and ps_store check the rest. Called by
 * client_remote, ps_link, ps_handler, ps_session and snapshot*.c. */
#ifndef TRAINYARD_COMM_PS_WIRE_H
#define TRAINYARD_COMM_PS_WIRE_H

#include "comm/ps/store.h"

enum {
    PS_WIRE_VERSION = 1,
    PS_FRAME_HEAD_SIZE = 32,
    PS_FRAME_MAX = 16 << 20, /* limit of the body in bytes; larger requests are split into frames */
    PS_WIRE_DENSE_SIZE = 32, /* bytes of an encoded struct ps_dense_shape */
    PS_WIRE_TABLE_SIZE = 24, /* bytes of an encoded struct ps_table */
};

/* Each comment lists the fields of struct ps_frame that the type uses besides `size` and
 * `sequence`; all others are 0. The fields after "answer:" belong to the frame PS_FRAME_DONE. In
 * the DENSE types `first` counts from the start of the range of the server. */
enum ps_frame_type {
    /* count: version; first: ps_tally.incarnation of the worker; answer: count: number of open
       tables. */
    PS_FRAME_ATTACH = 1,
    PS_FRAME_DENSE_OPEN, /* body: shape of the range; answer: count: 1 if it has values */
    PS_FRAME_DENSE_SEED, /* body: `count` values from `first` on; applied when all have arrived */
    PS_FRAME_DENSE_PULL, /* asks for `count` values from `first` on; answer: body: `count` values */
    PS_FRAME_DENSE_PUSH, /* body: gradient of `count` values from `first` on; rate: learning rate */
    PS_FRAME_TABLE_OPEN, /* table: number of the table; body: shape of the table */
    /* table: number of the table; body: `count` ids; answer: body: their `count` rows. */
    PS_FRAME_ROWS_PULL,
    /* table: number of the table; body: `count` ids, then their gradients; rate: learning rate. */
    PS_FRAME_ROWS_PUSH,
    /* table: number of the table; first: the number of the row to start from; answer: body: `count`
     * ids, then their rows; first: the number of the row to start the next scan from. After the
     * last row, count is 0. */
    PS_FRAME_ROWS_SCAN,
    /* table: the counter; first: the total of the worker process; answer: first: the value of the
     * counter. */
    PS_FRAME_COUNT,
    /* Asks for a snapshot. Answered when all changes are on disk, or at once if the server writes
     * no snapshots. */
    PS_FRAME_SAVE,
    PS_FRAME_FINISH, /* the worker has finished; answered when the attempt to save this has ended */
    PS_FRAME_DONE,   /* answer: the request was carried out */
    PS_FRAME_REFUSED, /* answer: the request has failed; count: an enum err_code; body: the reason
                         as text */
    PS_FRAME_TYPES,
};

struct ps_frame {
    enum ps_frame_type type;
    uint32_t size;     /* size of the body without padding */
    uint32_t sequence; /* number of the request; the answer has the same number */
    uint32_t table;
    uint32_t count;
    float rate;
    uint64_t first;
};

void ps_frame_encode(const struct ps_frame *frame, uint8_t bytes[PS_FRAME_HEAD_SIZE]);
/* Fails with ERR_BAD_REQUEST if the type is unknown, the size exceeds PS_FRAME_MAX or does not
 * match the type and `count`, or `rate` is not finite. */
int ps_frame_decode(const uint8_t bytes[PS_FRAME_HEAD_SIZE], struct ps_frame *ret, struct err *err);

/* Returns the size of a body with its padding. */
static inline size_t ps_frame_padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* Returns the number of rows that fit into one frame, together with their ids. */
static inline size_t ps_frame_rows_max(size_t dimensions)
{
    return PS_FRAME_MAX / (sizeof(int64_t) + dimensions * sizeof(float));
}
/* The number of dense values that fit into one frame. */
enum { PS_FRAME_VALUES_MAX = PS_FRAME_MAX / sizeof(float) };

/* These functions encode and decode the bodies of PS_FRAME_DENSE_OPEN and PS_FRAME_TABLE_OPEN.
 * Decoding does not check the values. */
void ps_wire_dense_encode(const struct ps_dense_shape *shape, uint8_t bytes[PS_WIRE_DENSE_SIZE]);
void ps_wire_dense_decode(const uint8_t bytes[PS_WIRE_DENSE_SIZE], struct ps_dense_shape *ret);
void ps_wire_table_encode(const struct ps_table *table, uint8_t bytes[PS_WIRE_TABLE_SIZE]);
void ps_wire_table_decode(const uint8_t bytes[PS_WIRE_TABLE_SIZE], struct ps_table *ret);

#endif
