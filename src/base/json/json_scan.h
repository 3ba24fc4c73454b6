/* Tests eight bytes of a JSON string at once for special bytes: a quote, a backslash, a control
 * character or a byte that is not ASCII. Included by the parser and the writer only. */
#ifndef TRAINYARD_BASE_JSON_JSON_SCAN_H
#define TRAINYARD_BASE_JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the top bit of every special byte of the word. Because a subtraction borrows, a plain byte
 * above the lowest special byte may be marked too. The lowest set bit always marks a special byte,
 * and 0 means that no byte is special. */
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
