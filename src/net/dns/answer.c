/* Writes DNS answers; see message.h. */
#include "net/dns/message.h"

#include "net/dns/wire.h"

#include <string.h>

enum {
    TTL_SECONDS = 5,          /* short, because pods are created and deleted often */
    NEGATIVE_TTL_SECONDS = 1, /* for missing names, which are often created soon */
    POINTER_SIZE = 2,
    HEAD_SIZE = 10, /* size of the fixed fields that follow the name in a record */
    SERVICE_SIZE = 6,
    SERVICE_WEIGHT = 100,
    SOA_NUMBERS_SIZE = 20,
};

bool dns_is_name(const char *text)
{
    if (!text[0] || strlen(text) > DNS_NAME_MAX)
        return false;
    for (;;) {
        size_t size = strcspn(text, ".");
        if (size == 0 || size > DNS_LABEL_MAX)
            return false;
        if (!text[size])
            return true;
        text += size + 1;
    }
}

uint8_t *dns_put_name(uint8_t *at, const char *name)
{
    while (*name) {
        size_t size = strcspn(name, ".");
        *at++ = (uint8_t)size;
        memcpy(at, name, size);
        at += size;
        name += size + (name[size] == '.');
    }
    *at++ = 0;
    return at;
}

uint8_t *dns_put_opt(uint8_t *at, unsigned udp_size, unsigned rcode, unsigned flags)
{
    *at++ = 0; /* the name of the root */
    at = dns_put_u16(at, DNS_OPT);
    at = dns_put_u16(at, udp_size);
    at = dns_put_u32(at, (rcode >> 4) << 24 | flags);
    return dns_put_u16(at, 0);
}

static size_t name_size(const char *name)
{
    return strlen(name) + 2;
}

/* Returns the offset of the name in the question, if the question's name is equal to it or ends
 * with it. Otherwise returns 0. */
static size_t find_in_question(const struct dns_answer *answer, const char *name)
{
    const struct dns_query *query = answer->query;
    size_t whole = strlen(query->name), size = strlen(name);
    if (query->is_unusual || size > whole || size == 0)
        return 0;
    const char *at = query->name + whole - size;
    if (strcmp(at, name) != 0 || (at > query->name && at[-1] != '.'))
        return 0;
    return DNS_HEADER_SIZE + (size_t)(at - query->name);
}

/* Writes a record without its data. Returns the position where the caller writes `size` bytes of
 * data, or NULL if the record does not fit. */
static uint8_t *add_record(struct dns_answer *answer, enum dns_section section, const char *owner,
                           enum dns_type type, uint32_t ttl, size_t size)
{
    size_t seen = find_in_question(answer, owner);
    size_t whole = (seen ? POINTER_SIZE : name_size(owner)) + HEAD_SIZE + size;
    if (answer->is_cut || whole > answer->max - answer->size) {
        answer->is_cut = answer->is_cut || section != DNS_ADDITIONAL;
        return NULL;
    }
    uint8_t *at = answer->data + answer->size;
    answer->size += whole;
    answer->counts[section]++;
    at = seen ? dns_put_u16(at, DNS_POINTER << 8 | (unsigned)seen) : dns_put_name(at, owner);
    at = dns_put_u16(at, type);
    at = dns_put_u16(at, DNS_CLASS_IN);
    at = dns_put_u32(at, ttl);
    return dns_put_u16(at, (unsigned)size);
}

void dns_answer_begin(struct dns_answer *answer, const struct dns_query *query, void *data,
                      size_t max)
{
    *answer = (struct dns_answer){.query = query, .data = data, .size = query->end};
    size_t opt_size = query->has_opt ? DNS_OPT_SIZE : 0;
    if (max < query->end + opt_size) {
        answer->size = 0; /* not even the question fits */
        answer->is_cut = true;
        return;
    }
    answer->max = max - opt_size;
    memcpy(answer->data + DNS_HEADER_SIZE, query->data + DNS_HEADER_SIZE,
           query->end - DNS_HEADER_SIZE);
}

void dns_answer_data(struct dns_answer *answer, const char *owner, enum dns_type type, uint32_t ttl,
                     const void *data, size_t size)
{
    uint8_t *at = add_record(answer, DNS_ANSWERS, owner, type, ttl, size);
    if (at)
        memcpy(at, data, size);
}

void dns_answer_address(struct dns_answer *answer, enum dns_section section, const char *owner,
                        struct in_addr address)
{
    uint8_t *at = add_record(answer, section, owner, DNS_A, TTL_SECONDS, sizeof(address.s_addr));
    if (at)
        memcpy(at, &address.s_addr, sizeof(address.s_addr));
}

void dns_answer_name(struct dns_answer *answer, const char *owner, enum dns_type type,
                     const char *name)
{
    uint8_t *at = add_record(answer, DNS_ANSWERS, owner, type, TTL_SECONDS, name_size(name));
    if (at)
        dns_put_name(at, name);
}

void dns_answer_service(struct dns_answer *answer, const char *owner, uint16_t port,
                        const char *target)
{
    uint8_t *at = add_record(answer, DNS_ANSWERS, owner, DNS_SRV, TTL_SECONDS,
                             SERVICE_SIZE + name_size(target));
    if (!at)
        return;
    at = dns_put_u16(at, 0); /* priority */
    at = dns_put_u16(at, SERVICE_WEIGHT);
    at = dns_put_u16(at, port);
    dns_put_name(at, target); /* RFC 2782 forbids compression here */
}

void dns_answer_soa(struct dns_answer *answer, const char *zone)
{
    static const char server[] = "ns.dns.cluster.local", person[] = "hostmaster.cluster.local";
    uint8_t *at = add_record(answer, DNS_AUTHORITY, zone, DNS_SOA, NEGATIVE_TTL_SECONDS,
                             name_size(server) + name_size(person) + SOA_NUMBERS_SIZE);
    if (!at)
        return;
    at = dns_put_name(at, server);
    at = dns_put_name(at, person);
    /* Serial, refresh, retry and expire are for secondary servers, which do not exist here. */
    at = dns_put_u32(at, 1);
    at = dns_put_u32(at, 7200);
    at = dns_put_u32(at, 1800);
    at = dns_put_u32(at, 86400);
    dns_put_u32(at, NEGATIVE_TTL_SECONDS);
}

size_t dns_answer_end(struct dns_answer *answer, enum dns_rcode rcode, bool authoritative)
{
    const struct dns_query *query = answer->query;
    if (answer->size == 0)
        return 0;
    unsigned flags = DNS_FLAG_QR | (query->flags & (DNS_OPCODE_MASK | DNS_FLAG_RD)) | DNS_FLAG_RA |
                     (answer->is_cut ? DNS_FLAG_TC : 0) | (authoritative ? DNS_FLAG_AA : 0) |
                     ((unsigned)rcode & DNS_RCODE_MASK);
    uint8_t *at = dns_put_u16(answer->data, query->id);
    at = dns_put_u16(at, flags);
    at = dns_put_u16(at, query->end > DNS_HEADER_SIZE);
    at = dns_put_u16(at, answer->counts[DNS_ANSWERS]);
    at = dns_put_u16(at, answer->counts[DNS_AUTHORITY]);
    dns_put_u16(at, answer->counts[DNS_ADDITIONAL] + (unsigned)query->has_opt);
    if (query->has_opt) {
        dns_put_opt(answer->data + answer->size, DNS_UDP_MAX, rcode, 0);
        answer->size += DNS_OPT_SIZE;
    }
    return answer->size;
}
