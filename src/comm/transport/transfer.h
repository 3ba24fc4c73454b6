/* A transfer plan: the pieces of memory that a member sends to one member and receives from one
 * member, in a collective or in one step of it. Each list of pieces is one stream of bytes. An
 * algorithm fills a plan; a stream transport runs it. A plan fixes the order of all additions, so
 * that the result does not depend on timing. */
#ifndef TRAINYARD_COMM_TRANSPORT_TRANSFER_H
#define TRAINYARD_COMM_TRANSPORT_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transfer_piece {
    char *at;
    size_t size; /* a multiple of 4 where `add` */
    bool add;    /* received floats are added to the memory; otherwise they replace it */
    bool settle; /* sent floats are rounded here too, so that all members end with the same bits */
};

struct transfer_plan {
    struct transfer_piece *send, *recv;
    size_t send_count, recv_count;
    /* The first `head` bytes to send depend on nothing. The byte at position head + n may be sent
     * once n bytes have been received and added. */
    size_t head;
    /* Floats travel as bfloat16, in half as many bytes, and are added as floats. */
    bool narrow;
    /* Sends to rank `to` and receives from rank `from`, over the connections of pairs. Otherwise
     * the plan sends to the next rank and receives from the previous one, around the ring. */
    bool pairs;
    int to, from;
};

/* A position in a stream of pieces. Several connections share a stream in turns of `stripe` bytes;
 * the cursor of one connection visits only its own share. */
struct transfer_cursor {
    const struct transfer_piece *pieces;
    size_t count;
    size_t piece;    /* index of the current piece */
    size_t start;    /* position in the stream where the current piece begins */
    size_t position; /* in the stream */
    size_t total;
    size_t stripe;
    int channels;
    bool narrow; /* positions and sizes count bytes of the stream, half of those in memory */
};

enum { TRANSFER_STRIPE = 64 * 1024, TRANSFER_CHANNELS_MAX = 8 };

void transfer_cursor_init(struct transfer_cursor *cursor, const struct transfer_piece *pieces,
                          size_t count, bool narrow, int channel, int channels);
/* The number of contiguous bytes from here, within one piece and one turn; 0 at the end. */
size_t transfer_cursor_run(const struct transfer_cursor *cursor);
char *transfer_cursor_at(const struct transfer_cursor *cursor);
/* The current piece. Must not be called at the end. */
const struct transfer_piece *transfer_cursor_piece(const struct transfer_cursor *cursor);
void transfer_cursor_advance(struct transfer_cursor *cursor, size_t size);

#endif
