/* Encodes a text as a delta, which is its difference to a similar text, the base: references to
 * pieces of the base, and the new bytes between them. Deltas are stored only in memory, so
 * delta_read() never reads untrusted input. They save memory because the pods of a job are nearly
 * equal. Restoring a text costs little more than a copy. */
#ifndef TRAINYARD_STORE_DELTA_H
#define TRAINYARD_STORE_DELTA_H

#include "base/buf.h"

/* Only this many bytes at the start of the base are used. */
enum { DELTA_BASE_MAX = 64 * 1024 - 1 };

/* Appends the delta of `text` to the buffer `delta`. If the buffer would exceed its maximum, it
 * overflows (buf.h) and its content is useless. Takes time linear in both sizes for any input. */
void delta_write(const char *base, size_t base_size, const char *text, size_t size,
                 struct buf *delta);

/* Restores the text: writes `size` bytes to `ret`. The base and the size of the text must be the
 * same as in delta_write(). */
void delta_read(const char *base, const char *delta, char *ret, size_t size);

#endif
