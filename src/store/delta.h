/* A text as a difference to a similar text: pieces copied from the base, and the new bytes between
 * them. Deltas are kept in memory only, so delta_read() never sees input from outside. Pods of one
 * job are nearly equal, and restoring one costs little more than a copy. */
#ifndef TRAINYARD_STORE_DELTA_H
#define TRAINYARD_STORE_DELTA_H

#include "base/buf.h"

enum { DELTA_BASE_MAX = 64 * 1024 - 1 }; /* only this many bytes of the base are used */

/* Appends the difference to `delta`. The buffer overflows if the difference is larger than its
 * maximum. Takes linear time for any input. */
void delta_write(const char *base, size_t base_size, const char *text, size_t size,
                 struct buf *delta);

/* Restores the text: writes `size` bytes to `ret`. The base and the size must be those passed to
 * delta_write(). */
void delta_read(const char *base, const char *delta, char *ret, size_t size);

#endif
