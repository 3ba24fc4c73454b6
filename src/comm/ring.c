/* Walking along the streams of a ring; see ring.h. */
#include "comm/ring.h"

size_t ring_pieces_size(const struct ring_piece *pieces, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += pieces[i].size;
    return size;
}

/* Onto the piece that holds the position; empty pieces are stepped over. */
static void find_piece(struct ring_cursor *cursor)
{
    while (cursor->piece < cursor->count &&
           cursor->position - cursor->start >= cursor->pieces[cursor->piece].size) {
        cursor->start += cursor->pieces[cursor->piece].size;
        cursor->piece++;
    }
}

void ring_cursor_init(struct ring_cursor *cursor, const struct ring_piece *pieces, size_t count,
                      int channel, int channels)
{
    *cursor = (struct ring_cursor){.pieces = pieces,
                                   .count = count,
                                   .total = ring_pieces_size(pieces, count),
                                   .stripe = channels > 1 ? RING_STRIPE : SIZE_MAX,
                                   .channels = channels};
    size_t first = channels > 1 ? (size_t)channel * RING_STRIPE : 0;
    cursor->position = first < cursor->total ? first : cursor->total;
    find_piece(cursor);
}

size_t ring_cursor_run(const struct ring_cursor *cursor)
{
    if (cursor->position >= cursor->total)
        return 0;
    size_t in_turn = cursor->stripe - cursor->position % cursor->stripe;
    size_t in_piece = cursor->pieces[cursor->piece].size - (cursor->position - cursor->start);
    return in_turn < in_piece ? in_turn : in_piece;
}

char *ring_cursor_at(const struct ring_cursor *cursor)
{
    return cursor->pieces[cursor->piece].at + (cursor->position - cursor->start);
}

bool ring_cursor_adds(const struct ring_cursor *cursor)
{
    return cursor->pieces[cursor->piece].add;
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
