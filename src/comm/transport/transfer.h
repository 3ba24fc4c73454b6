/* What a member does in a collective, or in one step of it, as data: the pieces of memory it sends
 * to one member (around the ring: the next rank) and those it receives from one (the previous
 * rank), each list in order and as one stream of bytes. An algorithm fills a plan; a transport runs
 * it. Because a plan fixes the order of all additions, its result does not depend on timing. */
#ifndef TRAINYARD_COMM_TRANSFER_H
#define TRAINYARD_COMM_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transfer_piece {
    char *at;
    size_t size; /* a multiple of 4 where `add` */
    bool add;    /* received floats are added to what is there, else they replace it */
    bool settle; /* what is sent rounded is rounded here too: all members end with the same bits */
};

struct transfer_plan {
    struct transfer_piece *send, *recv;
    size_t send_count, recv_count;
    /* The stream's first bytes to send depend on nothing; after them, what is sent at position
     * head + n may leave once n bytes have been received (and added). */
    size_t head;
    /* Floats travel as bfloat16, half as many bytes; they are added as floats. */
    bool narrow;
    /* Not around the ring but over the connections of pairs: `to` whom, `from` whom (ranks). */
    bool pairs;
    int to, from;
};

/* A walk along a stream of pieces that several connections share in turns of `stripe` bytes; the
 * cursor of connection `channel` of `channels` stands on its own share only. */
struct transfer_cursor {
    const struct transfer_piece *pieces;
    size_t count;
    size_t piece;    /* the one it stands in */
    size_t start;    /* position in the stream where that piece begins */
    size_t position; /* in the stream */
    size_t total;
    size_t stripe;
    int channels;
    bool narrow; /* positions and sizes are those of the stream: half of the memory's */
};

enum { TRANSFER_STRIPE = 64 * 1024, TRANSFER_CHANNELS_MAX = 8 };

void transfer_cursor_init(struct transfer_cursor *cursor, const struct transfer_piece *pieces,
                          size_t count, bool narrow, int channel, int channels);
/* How many bytes lie together where it stands, in one piece and one turn; 0 at the end. */
size_t transfer_cursor_run(const struct transfer_cursor *cursor);
char *transfer_cursor_at(const struct transfer_cursor *cursor);
/* The piece it stands in; not at the end. */
const struct transfer_piece *transfer_cursor_piece(const struct transfer_cursor *cursor);
void transfer_cursor_advance(struct transfer_cursor *cursor, size_t size);

#endif
