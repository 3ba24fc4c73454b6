/* Implements the growing byte buffer; see buf.h. */
#include "base/buf.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static char empty[1] = "";

void buf_init(struct buf *buf, size_t max)
{
    *buf = (struct buf){.data = empty, .max = max};
}

void buf_release(struct buf *buf)
{
    if (buf->capacity)
        free(buf->data);
    *buf = (struct buf){.data = empty, .max = buf->max};
}

void buf_clear(struct buf *buf)
{
    buf->size = 0;
    buf->overflowed = false;
    if (buf->capacity)
        buf->data[0] = '\0';
}

char *buf_reserve(struct buf *buf, size_t size)
{
    if (size > buf->max || buf->size > buf->max - size) {
        buf->overflowed = true;
        return NULL;
    }
    size_t needed = buf->size + size + 1;
    if (needed > buf->capacity) {
        size_t capacity = buf->capacity ? buf->capacity : 64;
        while (capacity < needed)
            capacity *= 2;
        buf->data = mem_realloc(buf->capacity ? buf->data : NULL, capacity);
        buf->capacity = capacity;
        /* A NUL must follow the data even if the caller writes nothing to the reserved bytes. */
        buf->data[buf->size] = '\0';
    }
    return buf->data + buf->size;
}

void buf_commit(struct buf *buf, size_t size)
{
    buf->size += size;
    if (buf->capacity)
        buf->data[buf->size] = '\0';
}

void buf_append(struct buf *buf, const void *data, size_t size)
{
    if (size == 0)
        return;
    char *room = buf_reserve(buf, size);
    if (!room)
        return;
    memcpy(room, data, size);
    buf_commit(buf, size);
}

void buf_append_str(struct buf *buf, const char *text)
{
    buf_append(buf, text, strlen(text));
}

void buf_append_char(struct buf *buf, char c)
{
    buf_append(buf, &c, 1);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size < 0)
        mem_panic("buf: bad format '%s'", format);
    char *room = buf_reserve(buf, (size_t)size);
    if (!room)
        return;
    vsnprintf(room, (size_t)size + 1, format, args);
    buf_commit(buf, (size_t)size);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}

void buf_consume(struct buf *buf, size_t size)
{
    if (size >= buf->size) {
        buf->size = 0;
    } else if (size) {
        memmove(buf->data, buf->data + size, buf->size - size);
        buf->size -= size;
    }
    if (buf->capacity)
        buf->data[buf->size] = '\0';
}

char *buf_take(struct buf *buf)
{
    char *data = buf->capacity ? buf->data : mem_strdup("");
    *buf = (struct buf){.data = empty, .max = buf->max};
    return data;
}
