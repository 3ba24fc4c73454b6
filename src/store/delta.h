/* Bytes told by what they have in common with others: pieces copied from those, and what is new in
 * between. Kept in memory only, by who made it, so nothing here comes from outside. Pods of one job
 * have nearly all in common, and to put one together again costs little more than to copy it. */
#ifndef TRAINYARD_STORE_DELTA_H
#define TRAINYARD_STORE_DELTA_H

#include "base/buf.h"

enum { DELTA_BASE_MAX = 64 * 1024 - 1 }; /* bytes of a base that are looked at */

/* Append to `delta` how the text is made from the base; the buffer overflows where that takes more
 * than its owner would pay. The cost is linear, whatever the bytes. */
void delta_write(const char *base, size_t base_size, const char *text, size_t size,
                 struct buf *delta);

/* The text again: `size` bytes into `ret`. The base and the size are those it was written with. */
void delta_read(const char *base, const char *delta, char *ret, size_t size);

#endif
