/* What the DNS server needs of messages beside dns_answer(). */
#ifndef TRAINYARD_NET_DNS_MESSAGE_H
#define TRAINYARD_NET_DNS_MESSAGE_H

#include <stddef.h>

enum {
    DNS_UDP_MAX = 1232, /* what crosses every line unbroken, and more than we say without EDNS */
    DNS_TCP_MAX = 65535,
};

/* How long an answer over UDP may be: 512 bytes, or what the query's EDNS record allows, up to
 * DNS_UDP_MAX. */
size_t dns_udp_answer_max(const void *query, size_t query_size);

#endif
