/* A transfer plan: the pieces of memory that a member sends to one member and receives from one
 * member, in a whole collective or in one step. The pieces to send form one stream of bytes, and
 * the pieces to receive another. An algorithm fills a plan; a stream transport runs it. A plan
 * fixes the order of all additions, so that the result does not depend on timing. */
#ifndef TRAINYARD_COMM_TRANSPORT_TRANSFER_H
#define TRAINYARD_COMM_TRANSPORT_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transfer_piece {
    char *at;
    size_t size; /* in bytes; a multiple of 4 if the piece has floats to add or convert */
    bool add;    /* a piece to receive: floats are added to the memory; otherwise they replace it */
    /* A piece to send, only with `narrow`: the floats are also rounded to bfloat16 in the memory of
     * the sender, so that all members have the same bits. */
    bool round_in_place;
};

struct transfer_plan {
    struct transfer_piece *send, *recv; /* the pieces of the two streams, in order */
    size_t send_count, recv_count;
    /* Counted in bytes of memory, also if `narrow` is set. The first `head` bytes of `send` can be
     * sent immediately. When the first n bytes of `recv` have been received and added, the first
     * head + n bytes of `send` can be sent. */
    size_t head;
    /* Floats are sent as bfloat16, in half the bytes, and converted back before they are added or
     * stored. */
    bool narrow;
    /* If true, the plan sends to rank `to` and receives from rank `from`, over the connections of
     * pairs. If false, it sends to the next rank in the ring and receives from the previous
     * rank. */
    bool pairs;
    int to, from;
};

/* A position in a stream of pieces. If several connections carry a stream, each connection takes
 * every n-th stripe of `stripe` bytes, and its cursor visits only these stripes. */
struct transfer_cursor {
    const struct transfer_piece *pieces;
    size_t count;
    size_t piece;    /* index of the current piece */
    size_t start;    /* position in the stream where the current piece begins */
    size_t position; /* position in the stream */
    size_t total;    /* size of the stream */
    size_t stripe;   /* SIZE_MAX if one connection carries the whole stream */
    int channels;    /* number of connections that carry the stream */
    bool narrow;     /* positions and sizes count stream bytes: half of the bytes in memory */
};

enum { TRANSFER_STRIPE = 64 * 1024, TRANSFER_CHANNELS_MAX = 8 };

/* Sets the cursor to the first stripe of connection `channel`, counted from 0. */
void transfer_cursor_init(struct transfer_cursor *cursor, const struct transfer_piece *pieces,
                          size_t count, bool narrow, int channel, int channels);
/* Returns the number of contiguous bytes from the position on, within one piece and one stripe, or
 * 0 at the end. */
size_t transfer_cursor_run(const struct transfer_cursor *cursor);
/* Returns the place in memory of the position. Must not be called at the end. */
char *transfer_cursor_at(const struct transfer_cursor *cursor);
/* Returns the current piece. Must not be called at the end. */
const struct transfer_piece *transfer_cursor_piece(const struct transfer_cursor *cursor);
/* Moves `size` bytes forward, at most transfer_cursor_run(), and to the next stripe of the
 * connection at the end of a stripe. */
void transfer_cursor_advance(struct transfer_cursor *cursor, size_t size);

#endif
