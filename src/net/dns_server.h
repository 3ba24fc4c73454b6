/* A DNS responder over UDP and TCP for the names of a cluster. It answers A and CNAME queries from
 * a function and everything else with an empty answer or NXDOMAIN; it asks nobody. */
#ifndef TRAINYARD_NET_DNS_SERVER_H
#define TRAINYARD_NET_DNS_SERVER_H

#include "loop/loop.h"

#include <netinet/in.h>

enum { DNS_ADDRESSES_MAX = 64, DNS_NAME_MAX = 253 };

struct dns_found {
    char alias[DNS_NAME_MAX + 1];                /* the name that this one stands for; "": none */
    struct in_addr addresses[DNS_ADDRESSES_MAX]; /* of the name, or of its alias */
};

/* Fill in what is known of the name (lower case, no final dot), which is all zero before, and
 * return the number of addresses; -1: there is no such name. */
typedef int dns_lookup(void *context, const char *name, struct dns_found *ret);

/* The pure part: one query packet to one answer packet. Returns the answer's size, 0: say nothing.
 */
size_t dns_answer(const void *query, size_t query_size, void *answer, size_t answer_max,
                  dns_lookup *lookup, void *context);

struct dns_server;

/* Serves on already bound sockets (UDP bound; TCP listening, or -1), which are its own once it is
 * made, and the caller's if it fails. */
int dns_server_new(struct loop *loop, int udp_fd, int tcp_fd, dns_lookup *lookup, void *context,
                   struct dns_server **ret, struct err *err);
/* No lookup comes any more; the memory goes in a later turn of the loop. */
void dns_server_close(struct dns_server *server);

#endif
