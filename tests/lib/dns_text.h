/* DNS messages for tests: makes a query from a name, and writes an answer as one line of text, such
 * as "NXDOMAIN aa | | SOA cluster.local | ", with the sections separated by "|". */
#ifndef TRAINYARD_TESTS_LIB_DNS_TEXT_H
#define TRAINYARD_TESTS_LIB_DNS_TEXT_H

#include "base/buf.h"
#include "base/mem.h"
#include "net/dns/message.h"

#include <arpa/inet.h>
#include <string.h>

struct dns_text_message {
    uint8_t bytes[DNS_TCP_MAX];
    size_t size;
};

static inline void dns_text_put(struct dns_text_message *message, const void *data, size_t size)
{
    memcpy(message->bytes + message->size, data, size);
    message->size += size;
}

static inline void dns_text_put_u16(struct dns_text_message *message, unsigned value)
{
    dns_text_put(message, (uint8_t[]){(uint8_t)(value >> 8), (uint8_t)value}, 2);
}

static inline void dns_text_query(struct dns_text_message *query, const char *name, unsigned type)
{
    const unsigned header[] = {0x1234, 0x0100, 1, 0, 0, 0};
    query->size = 0;
    for (size_t i = 0; i < ARRAY_SIZE(header); i++)
        dns_text_put_u16(query, header[i]);
    while (*name) {
        size_t size = strcspn(name, ".");
        dns_text_put(query, &(uint8_t){(uint8_t)size}, 1);
        dns_text_put(query, name, size);
        name += size + (name[size] == '.');
    }
    dns_text_put(query, "", 1);
    dns_text_put_u16(query, type);
    dns_text_put_u16(query, 1);
}

static inline void dns_text_add_opt(struct dns_text_message *query, unsigned udp_size,
                                    unsigned version)
{
    query->bytes[11]++;
    dns_text_put(query, "", 1);
    dns_text_put_u16(query, DNS_OPT);
    dns_text_put_u16(query, udp_size);
    dns_text_put_u16(query, version);
    dns_text_put_u16(query, 0);
    dns_text_put_u16(query, 0);
}

/* ---- reading, trusting that what is read was written well ---- */

static inline unsigned dns_text_u16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* Appends the name to `text`. Returns the byte after the name. */
static inline const uint8_t *dns_text_name(const uint8_t *message, const uint8_t *at,
                                           struct buf *text)
{
    const uint8_t *end = NULL;
    size_t start = text->size;
    while (*at) {
        if (*at >= 0xC0) {
            end = end ? end : at + 2;
            at = message + (dns_text_u16(at) & 0x3FFF);
            continue;
        }
        if (text->size > start)
            buf_append_char(text, '.');
        buf_append(text, at + 1, *at);
        at += 1 + *at;
    }
    if (text->size == start)
        buf_append_char(text, '.');
    return end ? end : at + 1;
}

static inline const uint8_t *dns_text_record(const uint8_t *message, const uint8_t *at,
                                             struct buf *text)
{
    char address[INET6_ADDRSTRLEN];
    at = dns_text_name(message, at, text);
    unsigned type = dns_text_u16(at), size = dns_text_u16(at + 8);
    const uint8_t *data = at + 10;
    switch (type) {
    case DNS_A:
        buf_printf(text, " A %s", inet_ntop(AF_INET, data, address, sizeof(address)));
        break;
    case DNS_AAAA:
        buf_printf(text, " AAAA %s", inet_ntop(AF_INET6, data, address, sizeof(address)));
        break;
    case DNS_CNAME:
    case DNS_PTR:
        buf_append_str(text, type == DNS_PTR ? " PTR " : " CNAME ");
        dns_text_name(message, data, text);
        break;
    case DNS_SRV:
        buf_printf(text, " SRV %u ", dns_text_u16(data + 4));
        dns_text_name(message, data + 6, text);
        break;
    case DNS_SOA:
        buf_printf(text, " SOA for %u s", dns_text_u16(data + size - 2));
        break;
    default:
        buf_printf(text, " TYPE%u", type);
    }
    return data + size;
}

/* Returns the message as text. The caller frees it. */
static inline char *dns_text_of(const uint8_t *message, size_t size)
{
    static const char *const codes[] = {"NOERROR",  "FORMERR", "SERVFAIL",
                                        "NXDOMAIN", "NOTIMP",  "REFUSED"};
    struct buf text;
    buf_init(&text, 1024 * 1024);
    if (size < 12) {
        buf_append_str(&text, "nothing");
        return buf_take(&text);
    }
    unsigned flags = dns_text_u16(message + 2), code = flags & 15;
    buf_append_str(&text, code < ARRAY_SIZE(codes) ? codes[code] : "?");
    buf_printf(&text, "%s%s", flags & 0x0400 ? " aa" : "", flags & 0x0200 ? " tc" : "");
    struct buf name;
    buf_init(&name, 1024);
    const uint8_t *at = message + 12;
    if (dns_text_u16(message + 4))
        at = dns_text_name(message, at, &name) + 4;
    buf_release(&name);
    for (size_t section = 0; section < 3; section++) {
        unsigned count = dns_text_u16(message + 6 + 2 * section);
        if (count)
            buf_append_str(&text, section == 0 ? ":" : section == 1 ? "; authority" : "; also");
        for (unsigned i = 0; i < count; i++) {
            buf_append_str(&text, i ? ", " : " ");
            at = dns_text_record(message, at, &text);
        }
    }
    if (at != message + size)
        buf_append_str(&text, " and more bytes");
    return buf_take(&text);
}

#endif
