/* Reads and writes the bytes of DNS messages. Included by the files of net/dns/ only. After a
 * failure a reader returns only zeroes, so that the caller can check `failed` once at the end. */
#ifndef TRAINYARD_NET_DNS_WIRE_H
#define TRAINYARD_NET_DNS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DNS_HEADER_SIZE = 12,
    DNS_LABEL_MAX = 63,
    DNS_OPT_SIZE = 11,
    /* A length byte with these two bits starts a compression pointer to the rest of the name. */
    DNS_POINTER = 0xC0,
    DNS_CLASS_IN = 1,
    DNS_CLASS_ANY = 255,
    DNS_DNSSEC_OK = 0x8000, /* in the flags of the OPT record */
};

enum {
    DNS_FLAG_QR = 0x8000,
    DNS_FLAG_AA = 0x0400,
    DNS_FLAG_TC = 0x0200,
    DNS_FLAG_RD = 0x0100,
    DNS_FLAG_RA = 0x0080,
    DNS_FLAG_CD = 0x0010,
    DNS_OPCODE_MASK = 0x7800,
    DNS_RCODE_MASK = 0x000F,
};

struct dns_reader {
    const uint8_t *data;
    size_t size, at;
    bool failed; /* the message was too short or malformed */
};

/* Reads a big-endian number of `count` bytes, at most four. */
static inline unsigned dns_read(struct dns_reader *reader, size_t count)
{
    if (reader->failed || reader->size - reader->at < count) {
        reader->failed = true;
        return 0;
    }
    unsigned value = 0;
    while (count--)
        value = value << 8 | reader->data[reader->at++];
    return value;
}

static inline uint16_t dns_read_u16(struct dns_reader *reader)
{
    return (uint16_t)dns_read(reader, 2);
}

static inline void dns_skip(struct dns_reader *reader, size_t count)
{
    if (reader->failed || reader->size - reader->at < count)
        reader->failed = true;
    else
        reader->at += count;
}

/* Skips a name. A compression pointer ends the name. */
static inline void dns_skip_name(struct dns_reader *reader)
{
    for (;;) {
        unsigned size = dns_read(reader, 1);
        if (reader->failed || size == 0)
            return;
        if (size >= DNS_POINTER) {
            dns_skip(reader, 1);
            return;
        }
        if (size > DNS_LABEL_MAX)
            reader->failed = true;
        dns_skip(reader, size);
    }
}

static inline uint8_t *dns_put_u16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
    return at + 2;
}

static inline uint8_t *dns_put_u32(uint8_t *at, unsigned value)
{
    return dns_put_u16(dns_put_u16(at, value >> 16), value & 0xFFFF);
}

/* Writes a name for which dns_is_name() is true. It takes strlen(name) + 2 bytes. Returns the
 * position after the name. */
uint8_t *dns_put_name(uint8_t *at, const char *name);
/* Writes the OPT record of DNS_OPT_SIZE bytes. Returns the position after the record. */
uint8_t *dns_put_opt(uint8_t *at, unsigned udp_size, unsigned rcode, unsigned flags);

#endif
