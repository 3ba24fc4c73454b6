/* Eight bytes of a JSON string at once: which of them are special, that is a quote, a backslash, a
 * control character or not ASCII. Shared by the reader and the writer alone. */
#ifndef TRAINYARD_BASE_JSON_SCAN_H
#define TRAINYARD_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/* The top bit of every special byte of the word is set in the result. Above the lowest special byte
 * a plain one may be marked too, since a subtraction borrows; the lowest mark is exact, and so is
 * zero. */
static inline uint64_t json_scan_special(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');
    return (((word - ones * 0x20) | (quote - ones) | (backslash - ones)) & ~word & tops) |
           (word & tops);
}

static inline bool json_scan_is_special(unsigned char c)
{
    return c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
}

#endif
