/* UTF-8 as the Unicode standard defines it: no over-long forms, no surrogates, nothing above
 * U+10FFFF. */
#ifndef TRAINYARD_BASE_UTF8_H
#define TRAINYARD_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `text` (1 to 4), or 0 if the bytes up to `size` do not form one. */
size_t utf8_size(const char *text, size_t size);

/* Write one character of at most U+10FFFF; returns the bytes written. */
size_t utf8_encode(uint32_t character, char text[4]);

bool utf8_is_valid(const char *text, size_t size);

/* The columns of a terminal that the character of `size` bytes at `text` takes: none if it only
 * adorns the one before it, two for those of East Asia and for pictures. */
size_t utf8_columns(const char *text, size_t size);

/* The width that "%-*s" needs for this text to take so many columns: printf counts bytes. */
int utf8_width(const char *text, int columns);

#endif
