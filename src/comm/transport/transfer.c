/* Implements the cursor of a stream of pieces; see transfer.h. */
#include "comm/transport/transfer.h"

/* Returns the size of a piece in bytes of the stream. */
static size_t cursor_piece_size(const struct transfer_cursor *cursor, size_t piece)
{
    return cursor->pieces[piece].size >> cursor->narrow;
}

/* Moves to the piece that contains the position, and skips empty pieces. */
static void cursor_find_piece(struct transfer_cursor *cursor)
{
    while (cursor->piece < cursor->count &&
           cursor->position - cursor->start >= cursor_piece_size(cursor, cursor->piece)) {
        cursor->start += cursor_piece_size(cursor, cursor->piece);
        cursor->piece++;
    }
}

void transfer_cursor_init(struct transfer_cursor *cursor, const struct transfer_piece *pieces,
                          size_t count, bool narrow, int channel, int channels)
{
    *cursor = (struct transfer_cursor){.pieces = pieces,
                                       .count = count,
                                       .stripe = channels > 1 ? TRANSFER_STRIPE : SIZE_MAX,
                                       .channels = channels,
                                       .narrow = narrow};
    for (size_t i = 0; i < count; i++)
        cursor->total += cursor_piece_size(cursor, i);
    size_t first = channels > 1 ? (size_t)channel * TRANSFER_STRIPE : 0;
    cursor->position = first < cursor->total ? first : cursor->total;
    cursor_find_piece(cursor);
}

size_t transfer_cursor_run(const struct transfer_cursor *cursor)
{
    if (cursor->position >= cursor->total)
        return 0;
    size_t in_stripe = cursor->stripe - cursor->position % cursor->stripe;
    size_t in_piece = cursor_piece_size(cursor, cursor->piece) - (cursor->position - cursor->start);
    return in_stripe < in_piece ? in_stripe : in_piece;
}

char *transfer_cursor_at(const struct transfer_cursor *cursor)
{
    return cursor->pieces[cursor->piece].at +
           ((cursor->position - cursor->start) << cursor->narrow);
}

const struct transfer_piece *transfer_cursor_piece(const struct transfer_cursor *cursor)
{
    return &cursor->pieces[cursor->piece];
}

void transfer_cursor_advance(struct transfer_cursor *cursor, size_t size)
{
    cursor->position += size;
    if (cursor->channels > 1 && cursor->position % cursor->stripe == 0)
        cursor->position += cursor->stripe * (size_t)(cursor->channels - 1);
    if (cursor->position > cursor->total)
        cursor->position = cursor->total;
    cursor_find_piece(cursor);
}
