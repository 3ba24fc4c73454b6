/* A growing byte buffer with a maximum size. An append beyond the maximum changes nothing and sets
 * `overflowed`, so a writer may append without checks and test `overflowed` once at the end. A NUL
 * always follows the last byte. */
#ifndef TRAINYARD_BASE_BUF_H
#define TRAINYARD_BASE_BUF_H

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* never NULL after buf_init(); "" when empty */
    size_t size;
    size_t capacity;
    size_t max;
    bool overflowed;
};

void buf_init(struct buf *buf, size_t max);
void buf_release(struct buf *buf); /* may be called on zeroed memory and twice */
void buf_clear(struct buf *buf);   /* removes the data and clears `overflowed`; keeps the memory */

void buf_append(struct buf *buf, const void *data, size_t size);
void buf_append_str(struct buf *buf, const char *text);
void buf_append_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Returns room for `size` more bytes at buf->data + buf->size, or NULL if the buffer would exceed
 * its maximum; then `overflowed` is set. The caller writes there and calls buf_commit() with the
 * number of bytes written. */
char *buf_reserve(struct buf *buf, size_t size);
void buf_commit(struct buf *buf, size_t size);

/* Removes the first `size` bytes, or all bytes if the buffer has fewer. */
void buf_consume(struct buf *buf, size_t size);

/* Returns the data as a string, which the caller frees. The buffer is empty afterwards. */
char *buf_take(struct buf *buf);

#define _cleanup_buf_ _cleanup_(buf_release)

#endif
