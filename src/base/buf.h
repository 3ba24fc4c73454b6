/* A growing byte buffer made with a maximum size. An append that would pass the maximum changes
 * nothing and marks the buffer as overflowed; so a writer may append without checking each time and
 * ask once at the end. The data is always NUL-terminated behind its last byte. */
#ifndef TRAINYARD_BASE_BUF_H
#define TRAINYARD_BASE_BUF_H

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* never NULL after init; "" when empty */
    size_t size;
    size_t capacity;
    size_t max;
    bool overflowed;
};

void buf_init(struct buf *buf, size_t max);
void buf_release(struct buf *buf); /* safe on zeroed memory and twice */
void buf_clear(struct buf *buf);   /* empty again, memory kept, overflow forgotten */

void buf_append(struct buf *buf, const void *data, size_t size);
void buf_append_str(struct buf *buf, const char *text);
void buf_append_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Room for `size` more bytes at buf->data + buf->size, or NULL past the maximum; buf_commit() what
 * was written there. */
char *buf_reserve(struct buf *buf, size_t size);
void buf_commit(struct buf *buf, size_t size);

/* Drop the first `size` bytes. */
void buf_consume(struct buf *buf, size_t size);

/* The data as a malloc'ed string; the buffer is empty afterwards. */
char *buf_take(struct buf *buf);

#define _cleanup_buf_ _cleanup_(buf_release)

#endif
