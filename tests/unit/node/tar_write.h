/* Writes tar archives in memory entry by entry for tests, including malformed ones. */
#ifndef TRAINYARD_TESTS_UNIT_NODE_TAR_WRITE_H
#define TRAINYARD_TESTS_UNIT_NODE_TAR_WRITE_H

#include "base/buf.h"
#include "node/image/tar_read.h"

#include <stdio.h>
#include <string.h>

struct tar_memory {
    struct buf buf;
    size_t at, chunk; /* `chunk`: the most bytes that one read returns; 0: all */
};

static inline void tar_number(char *field, size_t size, unsigned long long value)
{
    for (size_t i = size - 1; i > 0; i--, value >>= 3)
        field[i - 1] = (char)('0' + (value & 7));
}

/* Appends a header with its checksum, and the data in whole blocks. */
static inline void tar_put_data(struct buf *tar, char type, const char *name, const char *link,
                                unsigned mode, const void *data, size_t size)
{
    char header[TAR_BLOCK] = {0};
    memcpy(header, name, strnlen(name, 100));
    tar_number(header + 100, 8, mode);
    tar_number(header + 108, 8, 0);
    tar_number(header + 116, 8, 0);
    tar_number(header + 124, 12, size);
    tar_number(header + 136, 12, 1000000000);
    header[156] = type;
    memcpy(header + 157, link, strnlen(link, 100));
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
    memset(header + 148, ' ', 8);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof(header); i++)
        sum += (unsigned char)header[i];
    tar_number(header + 148, 7, sum);
    buf_append(tar, header, sizeof(header));
    buf_append(tar, data, size);
    while (tar->size % TAR_BLOCK)
        buf_append_char(tar, '\0');
}

static inline void tar_put(struct buf *tar, char type, const char *name, const char *text)
{
    bool is_link = type == '1' || type == '2';
    tar_put_data(tar, type, name, is_link ? text : "", type == '5' ? 0755 : 0644, text,
                 is_link ? 0 : strlen(text));
}

static inline void tar_end(struct buf *tar)
{
    for (int i = 0; i < 2 * TAR_BLOCK; i++)
        buf_append_char(tar, '\0');
}

static inline ssize_t tar_memory_read(void *context, void *data, size_t size, struct err *err)
{
    struct tar_memory *memory = context;
    size_t left = memory->buf.size - memory->at;
    size = size < left ? size : left;
    if (memory->chunk && size > memory->chunk)
        size = memory->chunk;
    memcpy(data, memory->buf.data + memory->at, size);
    memory->at += size;
    return (ssize_t)size;
}

static inline struct tar_source tar_memory_source(struct tar_memory *memory)
{
    memory->at = 0;
    return (struct tar_source){.read = tar_memory_read, .context = memory};
}

#endif
