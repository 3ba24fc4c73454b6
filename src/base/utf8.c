/* Checks, encodes and measures UTF-8; see utf8.h. */
#include "base/utf8.h"

#include "base/mem.h"

size_t utf8_size(const char *text, size_t size)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (size == 0)
        return 0;
    if (byte[0] < 0x80)
        return 1;
    size_t wanted = byte[0] < 0xc2 ? 0 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    if (wanted == 0 || byte[0] > 0xf4 || size < wanted)
        return 0;
    /* The limits of the second byte exclude overlong forms, surrogates and values above
     * U+10FFFF. */
    unsigned char low = byte[0] == 0xe0 ? 0xa0 : byte[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = byte[0] == 0xed ? 0x9f : byte[0] == 0xf4 ? 0x8f : 0xbf;
    if (byte[1] < low || byte[1] > high)
        return 0;
    for (size_t i = 2; i < wanted; i++)
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
    return wanted;
}

size_t utf8_encode(uint32_t character, char text[4])
{
    if (character < 0x80) {
        text[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        text[0] = (char)(0xc0 | character >> 6);
        text[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        text[0] = (char)(0xe0 | character >> 12);
        text[1] = (char)(0x80 | (character >> 6 & 0x3f));
        text[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    text[0] = (char)(0xf0 | character >> 18);
    text[1] = (char)(0x80 | (character >> 12 & 0x3f));
    text[2] = (char)(0x80 | (character >> 6 & 0x3f));
    text[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

bool utf8_is_valid(const char *text, size_t size)
{
    for (size_t at = 0, step; at < size; at += step)
        if ((step = utf8_size(text + at, size - at)) == 0)
            return false;
    return true;
}

/* Decodes a valid character of `size` bytes. */
static uint32_t utf8_decode(const char *text, size_t size)
{
    uint32_t character = (unsigned char)*text & (size == 1 ? 0x7fu : 0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++)
        character = character << 6 | ((unsigned char)text[i] & 0x3f);
    return character;
}

size_t utf8_columns(const char *text, size_t size)
{
    static const struct {
        uint32_t first, last;
        size_t columns;
    } RANGES[] = {
        {0x0300, 0x036f, 0},   /* combining marks */
        {0x1100, 0x115f, 2},   /* Hangul */
        {0x200b, 0x200f, 0},   /* zero width */
        {0x2e80, 0xa4cf, 2},   /* Han, kana and related scripts */
        {0xac00, 0xd7a3, 2},   /* Hangul syllables */
        {0xf900, 0xfaff, 2},   /* compatibility ideographs */
        {0xfe00, 0xfe0f, 0},   /* variation selectors */
        {0xfe30, 0xfe6f, 2},   /* compatibility forms */
        {0xff00, 0xff60, 2},   /* full width */
        {0xffe0, 0xffe6, 2},   /* full width */
        {0x1f300, 0x1f64f, 2}, /* emoji */
        {0x1f680, 0x1f6ff, 2}, /* emoji */
        {0x1f900, 0x1f9ff, 2}, /* emoji */
        {0x20000, 0x3fffd, 2}, /* Han of planes 2 and 3 */
    };
    uint32_t character = utf8_decode(text, size);
    for (size_t i = 0; i < ARRAY_SIZE(RANGES); i++)
        if (character >= RANGES[i].first && character <= RANGES[i].last)
            return RANGES[i].columns;
    return 1;
}

int utf8_width(const char *text, int columns)
{
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) == 0x80;
    return columns;
}
