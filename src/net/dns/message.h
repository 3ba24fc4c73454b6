/* DNS messages (RFC 1035, EDNS of RFC 6891): a query is read, an answer is written record by record
 * within a limit, and what another server said is held against what it was asked. Pure: no sockets,
 * and no length that was read is trusted. */
#ifndef TRAINYARD_NET_DNS_MESSAGE_H
#define TRAINYARD_NET_DNS_MESSAGE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DNS_NAME_MAX = 253,
    DNS_UDP_PLAIN_MAX = 512,
    DNS_UDP_MAX = 1232, /* what crosses every line unbroken, and more than we say without EDNS */
    DNS_TCP_MAX = 65535,
    DNS_ASK_MAX = 12 + DNS_NAME_MAX + 2 + 4 + 11, /* header, name, type and class, OPT */
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
    DNS_BADVERS = 16, /* its upper bits go into the OPT record */
};

/* ---- queries ---- */

struct dns_query {
    const uint8_t *data; /* the packet */
    uint16_t id, flags;
    char name[DNS_NAME_MAX + 1]; /* lower case, no final dot */
    bool is_unusual;             /* bytes in it that no name of a cluster has */
    uint16_t type, class;
    size_t end; /* behind the question; of a header alone where there is none to repeat */
    bool has_opt, wants_dnssec;
    uint16_t udp_size;
    uint8_t edns_version;
};

/* False: say nothing. Else NOERROR, or the code to answer with. */
bool dns_query_read(const void *data, size_t size, struct dns_query *ret,
                    enum dns_rcode *ret_rcode);

/* How long an answer over UDP may be: 512 bytes, or what the query's EDNS record allows, up to
 * DNS_UDP_MAX. */
size_t dns_query_udp_max(const struct dns_query *query);

/* Ask somebody else the same, or the same of another name (NULL: its own). Returns the size. */
size_t dns_query_pass_on(const struct dns_query *query, const char *name, uint16_t id,
                         uint8_t ret[DNS_ASK_MAX]);

/* Labels that can be written down: what an answer may name. */
bool dns_is_name(const char *text);

/* ---- answers ---- */

enum dns_section { DNS_ANSWERS, DNS_AUTHORITY, DNS_ADDITIONAL, DNS_SECTIONS };

/* Records are added section by section. The first that does not fit cuts the answer, which says so;
 * in the additional section it is only left out. */
struct dns_answer {
    const struct dns_query *query;
    uint8_t *data;
    size_t max, size;
    uint16_t counts[DNS_SECTIONS];
    bool is_cut;
};

void dns_answer_begin(struct dns_answer *answer, const struct dns_query *query, void *data,
                      size_t max);
void dns_answer_address(struct dns_answer *answer, enum dns_section section, const char *owner,
                        struct in_addr address);
/* A record whose data needs no change: addresses, of either kind, that others know. */
void dns_answer_data(struct dns_answer *answer, const char *owner, enum dns_type type, uint32_t ttl,
                     const void *data, size_t size);
/* CNAME and PTR. */
void dns_answer_name(struct dns_answer *answer, const char *owner, enum dns_type type,
                     const char *name);
void dns_answer_service(struct dns_answer *answer, const char *owner, uint16_t port,
                        const char *target);
/* That there is nothing, and for how short a time this may be remembered. */
void dns_answer_nothing(struct dns_answer *answer, const char *zone);
/* The size of the whole; 0 if not even the question fits. */
size_t dns_answer_end(struct dns_answer *answer, enum dns_rcode rcode, bool authoritative);

/* ---- what others answered ---- */

struct dns_reply {
    const uint8_t *data;
    size_t size;
    enum dns_rcode rcode;
    bool is_cut;
    size_t at, left; /* the records of its answer section that were not taken yet */
};

/* Whether the packet answers what was asked: same number, same question. */
bool dns_reply_read(const void *data, size_t size, const void *asked, size_t asked_size,
                    struct dns_reply *ret);

struct dns_record {
    uint16_t type, class;
    uint32_t ttl;
    const uint8_t *data;
    size_t size;
};

/* Take the next record of the answer section; false behind the last, or at one that is broken. */
bool dns_reply_next(struct dns_reply *reply, struct dns_record *ret);
/* The first address of version 4 among them, whichever alias it stands behind; false: none, or the
 * server says that something is wrong. */
bool dns_reply_address(struct dns_reply *reply, struct in_addr *ret);

#endif
