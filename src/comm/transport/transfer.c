/* Walking along the streams of a ring; see ring.h. */
#include "comm/transport/transfer.h"

/* In the stream. */
static size_t piece_size(const struct ring_cursor *cursor, size_t piece)
{
    return cursor->pieces[piece].size >> cursor->narrow;
}

/* Onto the piece that holds the position; empty pieces are stepped over. */
static void find_piece(struct ring_cursor *cursor)
{
    while (cursor->piece < cursor->count &&
           cursor->position - cursor->start >= piece_size(cursor, cursor->piece)) {
        cursor->start += piece_size(cursor, cursor->piece);
        cursor->piece++;
    }
}

void ring_cursor_init(struct ring_cursor *cursor, const struct ring_piece *pieces, size_t count,
                      bool narrow, int channel, int channels)
{
    *cursor = (struct ring_cursor){.pieces = pieces,
                                   .count = count,
                                   .stripe = channels > 1 ? RING_STRIPE : SIZE_MAX,
                                   .channels = channels,
                                   .narrow = narrow};
    for (size_t i = 0; i < count; i++)
        cursor->total += piece_size(cursor, i);
    size_t first = channels > 1 ? (size_t)channel * RING_STRIPE : 0;
    cursor->position = first < cursor->total ? first : cursor->total;
    find_piece(cursor);
}

size_t ring_cursor_run(const struct ring_cursor *cursor)
{
    if (cursor->position >= cursor->total)
        return 0;
    size_t in_turn = cursor->stripe - cursor->position % cursor->stripe;
    size_t in_piece = piece_size(cursor, cursor->piece) - (cursor->position - cursor->start);
    return in_turn < in_piece ? in_turn : in_piece;
}

char *ring_cursor_at(const struct ring_cursor *cursor)
{
    return cursor->pieces[cursor->piece].at +
           ((cursor->position - cursor->start) << cursor->narrow);
}

const struct ring_piece *ring_cursor_piece(const struct ring_cursor *cursor)
{
    return &cursor->pieces[cursor->piece];
}

void ring_cursor_advance(struct ring_cursor *cursor, size_t size)
{
    cursor->position += size;
    if (cursor->channels > 1 && cursor->position % cursor->stripe == 0)
        cursor->position += cursor->stripe * (size_t)(cursor->channels - 1);
    if (cursor->position > cursor->total)
        cursor->position = cursor->total;
    find_piece(cursor);
}
