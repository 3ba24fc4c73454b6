/* Encodes a text as its difference to a similar text; see delta.h. A delta is a sequence of
 * entries. Each entry is the number of new bytes, the new bytes, and the position and length of a
 * piece of the base. The last entry has no piece if the text ends with new bytes. Numbers are
 * written with seven bits per byte, lowest bits first.
 *
 * A hash table finds positions of the base by the hash of the eight bytes there. Only every fourth
 * position is entered and, of several positions with the same hash, only the first. The piece at a
 * position that is found is extended in both directions. At each position of the text only one
 * candidate is compared, and each byte is compared a bounded number of times, so the time is linear
 * for any input. */
#include "store/delta.h"

#include <stdint.h>
#include <string.h>

enum {
    WINDOW = 8, /* bytes that are hashed together */
    STEP = 4,   /* distance of the positions of the base that are in the table */
    TABLE_BITS = 12,
};

static size_t slot_of(const char *window)
{
    uint64_t bytes;
    memcpy(&bytes, window, sizeof(bytes));
    return (size_t)(bytes * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TABLE_BITS));
}

static void put_number(struct buf *delta, size_t number)
{
    for (; number >= 0x80; number >>= 7)
        buf_append_char(delta, (char)(number | 0x80));
    buf_append_char(delta, (char)number);
}

static size_t take_number(const char **at)
{
    size_t number = 0;
    unsigned shift = 0;
    for (; **at & 0x80; (*at)++, shift += 7)
        number |= (size_t)(**at & 0x7f) << shift;
    return number | (size_t)(unsigned char)*(*at)++ << shift;
}

static void put_new(struct buf *delta, const char *text, size_t size)
{
    put_number(delta, size);
    buf_append(delta, text, size);
}

static size_t common_size(const char *a, const char *b, size_t max)
{
    size_t size = 0;
    for (; max - size >= WINDOW && memcmp(a + size, b + size, WINDOW) == 0; size += WINDOW)
        ;
    while (size < max && a[size] == b[size])
        size++;
    return size;
}

void delta_write(const char *base, size_t base_size, const char *text, size_t size,
                 struct buf *delta)
{
    uint16_t table[1 << TABLE_BITS] = {0}; /* hash of a window to its position in the base */
    size_t done = 0, at = 0;
    if (base_size > DELTA_BASE_MAX)
        base_size = DELTA_BASE_MAX;
    /* Go backwards, so that the first of several equal windows stays in the table. */
    for (size_t i = base_size / STEP + 1; i-- > 0;)
        if (i * STEP + WINDOW <= base_size)
            table[slot_of(base + i * STEP)] = (uint16_t)(i * STEP);
    while (at + WINDOW <= size && base_size >= WINDOW && !delta->overflowed) {
        size_t from = table[slot_of(text + at)];
        if (memcmp(base + from, text + at, WINDOW) != 0) {
            at++;
            continue;
        }
        size_t left = size - at < base_size - from ? size - at : base_size - from;
        size_t end = at + common_size(base + from, text + at, left);
        for (; at > done && from > 0 && base[from - 1] == text[at - 1]; at--)
            from--;
        put_new(delta, text + done, at - done);
        put_number(delta, from);
        put_number(delta, end - at);
        done = at = end;
    }
    if (done < size)
        put_new(delta, text + done, size - done);
}

void delta_read(const char *base, const char *delta, char *ret, size_t size)
{
    for (size_t done = 0; done < size;) {
        size_t new_size = take_number(&delta);
        memcpy(ret + done, delta, new_size);
        delta += new_size;
        done += new_size;
        if (done == size)
            break;
        size_t from = take_number(&delta), piece = take_number(&delta);
        memcpy(ret + done, base + from, piece);
        done += piece;
    }
}
