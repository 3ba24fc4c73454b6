/* DNS messages (RFC 1035, EDNS of RFC 6891): parses queries, writes answers record by record within
 * a size limit, and checks the replies of other servers against the query that was sent. Uses no
 * sockets, and checks every length in a message. */
#ifndef TRAINYARD_NET_DNS_MESSAGE_H
#define TRAINYARD_NET_DNS_MESSAGE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DNS_NAME_MAX = 253,
    DNS_UDP_PLAIN_MAX = 512,
    DNS_UDP_MAX = 1232, /* largest message over UDP; small enough to avoid fragmentation */
    DNS_TCP_MAX = 65535,
    /* The largest query that dns_query_pass_on() writes: header, name, type and class, OPT record.
     */
    DNS_QUERY_MAX = 12 + DNS_NAME_MAX + 2 + 4 + 11,
};

enum dns_type {
    DNS_A = 1,
    DNS_CNAME = 5,
    DNS_SOA = 6,
    DNS_PTR = 12,
    DNS_AAAA = 28,
    DNS_SRV = 33,
    DNS_OPT = 41,
    DNS_ANY = 255,
};

enum dns_rcode {
    DNS_NOERROR = 0,
    DNS_FORMERR = 1,
    DNS_SERVFAIL = 2,
    DNS_NXDOMAIN = 3,
    DNS_NOTIMP = 4,
    DNS_REFUSED = 5,
    DNS_BADVERS = 16, /* more than 4 bits; the upper bits are in the OPT record */
};

/* ---- queries ---- */

struct dns_query {
    const uint8_t *data; /* the message, which must outlive this struct */
    uint16_t id, flags;
    char name[DNS_NAME_MAX + 1]; /* lower case, without the final dot */
    bool is_unusual; /* a label has a dot, a space, a control character or a byte that is not ASCII
                      */
    uint16_t type, class;
    /* Offset of the end of the question. If the answer cannot repeat the question, the offset of
     * the end of the header. */
    size_t end;
    bool has_opt, wants_dnssec;
    uint16_t udp_size; /* size in the OPT record; 0 if there is none */
    uint8_t edns_version;
};

/* Parses a query. Returns false if no answer may be sent, because the message is not a query or is
 * shorter than a header. Otherwise sets *ret_rcode to DNS_NOERROR or to the error code of the
 * answer. */
bool dns_query_read(const void *data, size_t size, struct dns_query *ret,
                    enum dns_rcode *ret_rcode);

/* Returns the size of the largest answer over UDP: the size in the query's OPT record, limited to
 * 512 … DNS_UDP_MAX bytes. Without an OPT record it is 512 bytes. */
size_t dns_query_udp_max(const struct dns_query *query);

/* Writes a query for another server with the same question. `query` must have been parsed with the
 * result DNS_NOERROR. If `name` is not NULL, it replaces the name in the question; dns_is_name()
 * must be true for it. Returns the size of the new query. */
size_t dns_query_pass_on(const struct dns_query *query, const char *name, uint16_t id,
                         uint8_t ret[DNS_QUERY_MAX]);

/* Returns whether the text is a name that a message may contain, without the final dot. */
bool dns_is_name(const char *text);

/* ---- answers ---- */

enum dns_section { DNS_ANSWERS, DNS_AUTHORITY, DNS_ADDITIONAL, DNS_SECTIONS };

/* An answer under construction. The caller must add the records section by section, in the order of
 * enum dns_section. If a record of the answer or authority section does not fit, this record and
 * all later records are omitted, and the answer gets the TC flag. A record of the additional
 * section that does not fit is omitted without the TC flag. */
struct dns_answer {
    const struct dns_query *query;
    uint8_t *data;
    size_t max, size; /* maximum and current size of the answer without its OPT record */
    uint16_t counts[DNS_SECTIONS]; /* number of records per section */
    bool is_cut;                   /* the answer gets the TC flag */
};

/* Starts an answer to `query` in `data`, which has room for `max` bytes. Both must outlive the
 * answer. */
void dns_answer_begin(struct dns_answer *answer, const struct dns_query *query, void *data,
                      size_t max);
/* Adds an A record. */
void dns_answer_address(struct dns_answer *answer, enum dns_section section, const char *owner,
                        struct in_addr address);
/* Adds a record whose data is copied as it is, for example an address that another server returned.
 */
void dns_answer_data(struct dns_answer *answer, const char *owner, enum dns_type type, uint32_t ttl,
                     const void *data, size_t size);
/* Adds a CNAME or PTR record. */
void dns_answer_name(struct dns_answer *answer, const char *owner, enum dns_type type,
                     const char *name);
/* Adds an SRV record. */
void dns_answer_service(struct dns_answer *answer, const char *owner, uint16_t port,
                        const char *target);
/* Adds the SOA record of a negative answer, which limits how long the answer may be cached. */
void dns_answer_soa(struct dns_answer *answer, const char *zone);
/* Completes the answer. Returns its size, or 0 if even the question does not fit. */
size_t dns_answer_end(struct dns_answer *answer, enum dns_rcode rcode, bool authoritative);

/* ---- replies of other servers ---- */

struct dns_reply {
    const uint8_t *data;
    size_t size;
    enum dns_rcode rcode; /* the lower four bits, without the bits in the OPT record */
    bool is_cut;          /* the reply has the TC flag */
    size_t at;            /* offset of the next record of the answer section */
    size_t left;          /* number of records of the answer section that are not read yet */
};

/* Parses the header and the question of a reply. `query` is the message that was sent. Returns
 * false if the message is not a reply, is too short, or has another id or another question. */
bool dns_reply_read(const void *data, size_t size, const void *query, size_t query_size,
                    struct dns_reply *ret);

struct dns_record {
    uint16_t type, class;
    uint32_t ttl;
    const uint8_t *data;
    size_t size;
};

/* Gets the next record of the answer section. Returns false if there is no further record or the
 * record is malformed. */
bool dns_reply_next(struct dns_reply *reply, struct dns_record *ret);
/* Gets the IPv4 address of the first A record of the answer section that is not read yet. Does not
 * check the name of the record. Returns false if there is no address or the reply has an error
 * code. */
bool dns_reply_address(struct dns_reply *reply, struct in_addr *ret);

#endif
