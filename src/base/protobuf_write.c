/* Writes protobuf fields; see protobuf_write.h. */
#include "base/protobuf_write.h"

#include <string.h>

/* The wire types. */
enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

static void put_varint(struct buf *buf, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        buf_append_char(buf, (char)(value | 0x80));
    buf_append_char(buf, (char)value);
}

static void put_tag(struct buf *buf, uint32_t field, enum wire wire)
{
    put_varint(buf, (uint64_t)field << 3 | wire);
}

static void put_little_endian(struct buf *buf, uint64_t bits, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buf_append_char(buf, (char)(bits >> 8 * i));
}

void protobuf_put_int(struct buf *buf, uint32_t field, int64_t value)
{
    put_tag(buf, field, WIRE_VARINT);
    put_varint(buf, (uint64_t)value);
}

void protobuf_put_float(struct buf *buf, uint32_t field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    put_tag(buf, field, WIRE_FIXED32);
    put_little_endian(buf, bits, sizeof(bits));
}

void protobuf_put_double(struct buf *buf, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    put_tag(buf, field, WIRE_FIXED64);
    put_little_endian(buf, bits, sizeof(bits));
}

void protobuf_put_bytes(struct buf *buf, uint32_t field, const void *data, size_t size)
{
    put_tag(buf, field, WIRE_BYTES);
    put_varint(buf, size);
    buf_append(buf, data, size);
}

void protobuf_put_string(struct buf *buf, uint32_t field, const char *text)
{
    protobuf_put_bytes(buf, field, text, strlen(text));
}

void protobuf_put_message(struct buf *buf, uint32_t field, const struct buf *message)
{
    protobuf_put_bytes(buf, field, message->data, message->size);
    buf->overflowed |= message->overflowed;
}
