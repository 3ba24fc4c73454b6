/* UTF-8; see utf8.h. */
#include "base/utf8.h"

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
    /* The second byte alone decides about over-long forms, surrogates and the upper end. */
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

int utf8_width(const char *text, int columns)
{
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) == 0x80;
    return columns;
}
