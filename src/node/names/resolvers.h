/* Parses the text of a resolv.conf: name servers, search domains and options. Used by the DNS
 * responder to forward queries, by the planner for the resolv.conf of pods, and by probes. Opens no
 * file. */
#ifndef TRAINYARD_NODE_NAMES_RESOLVERS_H
#define TRAINYARD_NODE_NAMES_RESOLVERS_H

#include <netinet/in.h>
#include <stddef.h>

enum {
    RESOLVERS_MAX = 3, /* name servers, as in the C library */
    RESOLVERS_PORT = 53,
    RESOLVERS_FILE_MAX = 64 * 1024, /* bytes of resolv.conf that callers read */
};

/* The address of a name server. */
struct resolver {
    union {
        struct sockaddr any;
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    };
    socklen_t size;
};

/* Finds the first name servers, at most RESOLVERS_MAX. Returns their number. */
size_t resolvers_parse(const char *text, struct resolver ret[RESOLVERS_MAX]);
/* Returns the value of the last "search" or "domain" line, `*ret_size` bytes in `text`. The size is
 * 0 if there is no such line. */
const char *resolvers_search(const char *text, size_t *ret_size);
/* Returns the number N of the last option `name:N` in the lines "options …", or `max` if N is
 * larger. Returns `missing` if there is no such option. */
int resolvers_option(const char *text, const char *name, int missing, int max);

#endif
