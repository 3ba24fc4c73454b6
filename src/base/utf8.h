/* Checks, encodes and measures UTF-8. As in the Unicode standard, overlong forms, surrogates and
 * values above U+10FFFF are invalid. */
#ifndef TRAINYARD_BASE_UTF8_H
#define TRAINYARD_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of bytes of the character at `text` (1 to 4), or 0 if the first bytes are not
 * a valid character. Reads at most `size` bytes. */
size_t utf8_size(const char *text, size_t size);

/* Writes one character up to U+10FFFF and returns the number of bytes. */
size_t utf8_encode(uint32_t character, char text[4]);

bool utf8_is_valid(const char *text, size_t size);

/* Returns the number of terminal columns of the character of `size` bytes at `text`: 0 for
 * combining marks and zero-width characters, 2 for wide East Asian characters and emoji, else 1.
 * Knows only the common ranges of these characters. */
size_t utf8_columns(const char *text, size_t size);

/* Returns the field width with which "%-*s" pads this text to `columns` columns. printf() counts
 * bytes, not columns. Here every character counts as one column, even a wide one. */
int utf8_width(const char *text, int columns);

#endif
