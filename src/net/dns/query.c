/* Parses DNS queries, and writes queries for other servers; see message.h. */
#include "net/dns/message.h"

#include "net/dns/wire.h"

#include <string.h>

/* Parses the name of the question. It is the first name of the message, so a compression pointer
 * would be invalid. */
static void read_name(struct dns_reader *reader, struct dns_query *query)
{
    size_t length = 0;
    for (;;) {
        unsigned size = dns_read(reader, 1);
        if (reader->failed || size == 0)
            break;
        if (size > DNS_LABEL_MAX || length + (length > 0) + size > DNS_NAME_MAX) {
            reader->failed = true;
            break;
        }
        if (length)
            query->name[length++] = '.';
        while (size--) {
            unsigned c = dns_read(reader, 1);
            if (c >= 'A' && c <= 'Z')
                c += 'a' - 'A';
            if (c <= ' ' || c > '~' || c == '.')
                query->is_unusual = true;
            query->name[length++] = (char)c;
        }
    }
    query->name[length] = '\0';
}

static void read_records(struct dns_reader *reader, unsigned count, struct dns_query *query)
{
    while (count-- && !reader->failed) {
        dns_skip_name(reader);
        uint16_t type = dns_read_u16(reader), class = dns_read_u16(reader);
        unsigned ttl = dns_read(reader, 4);
        dns_skip(reader, dns_read_u16(reader));
        if (type != DNS_OPT || reader->failed)
            continue;
        if (query->has_opt) /* a second OPT record is an error */
            reader->failed = true;
        query->has_opt = true;
        query->udp_size = class;
        query->edns_version = (uint8_t)(ttl >> 16);
        query->wants_dnssec = ttl & DNS_DNSSEC_OK;
    }
}

bool dns_query_read(const void *data, size_t size, struct dns_query *ret, enum dns_rcode *ret_rcode)
{
    struct dns_reader reader = {.data = data, .size = size};
    *ret = (struct dns_query){.data = data, .end = DNS_HEADER_SIZE};
    ret->id = dns_read_u16(&reader);
    ret->flags = dns_read_u16(&reader);
    unsigned questions = dns_read_u16(&reader), answers = dns_read_u16(&reader),
             authorities = dns_read_u16(&reader), additional = dns_read_u16(&reader);
    /* Never answer an answer: two servers could answer each other forever. */
    if (reader.failed || ret->flags & DNS_FLAG_QR)
        return false;
    *ret_rcode = DNS_FORMERR;
    if (ret->flags & DNS_OPCODE_MASK) {
        *ret_rcode = DNS_NOTIMP;
        return true;
    }
    if (questions != 1)
        return true;
    read_name(&reader, ret);
    ret->type = dns_read_u16(&reader);
    ret->class = dns_read_u16(&reader);
    size_t end = reader.at;
    if (!reader.failed)
        read_records(&reader, answers + authorities, &(struct dns_query){0});
    if (!reader.failed)
        read_records(&reader, additional, ret);
    if (reader.failed) {
        ret->has_opt = false;
        ret->udp_size = 0;
        return true;
    }
    ret->end = end;
    *ret_rcode = ret->edns_version > 0                                       ? DNS_BADVERS
                 : ret->class != DNS_CLASS_IN && ret->class != DNS_CLASS_ANY ? DNS_REFUSED
                                                                             : DNS_NOERROR;
    return true;
}

size_t dns_query_udp_max(const struct dns_query *query)
{
    if (query->udp_size < DNS_UDP_PLAIN_MAX)
        return DNS_UDP_PLAIN_MAX;
    return query->udp_size < DNS_UDP_MAX ? query->udp_size : DNS_UDP_MAX;
}

size_t dns_query_pass_on(const struct dns_query *query, const char *name, uint16_t id,
                         uint8_t ret[DNS_QUERY_MAX])
{
    uint8_t *at = dns_put_u16(ret, id);
    at = dns_put_u16(at, DNS_FLAG_RD | (query->flags & DNS_FLAG_CD));
    at = dns_put_u16(at, 1);
    at = dns_put_u32(at, 0);
    at = dns_put_u16(at, query->has_opt);
    if (name) {
        at = dns_put_name(at, name);
        at = dns_put_u16(at, query->type);
        at = dns_put_u16(at, query->class);
    } else { /* copy the bytes unchanged, because names that are unusual here may exist elsewhere */
        size_t size = query->end - DNS_HEADER_SIZE;
        memcpy(at, query->data + DNS_HEADER_SIZE, size);
        at += size;
    }
    /* Forward only the UDP size and the DNSSEC flag. Other EDNS options of a pod are private. */
    if (query->has_opt)
        at = dns_put_opt(at, DNS_UDP_MAX, DNS_NOERROR, query->wants_dnssec ? DNS_DNSSEC_OK : 0);
    return (size_t)(at - ret);
}
