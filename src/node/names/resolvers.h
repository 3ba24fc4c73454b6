/* Parses the machine's resolv.conf: the name servers for names outside of the cluster, and the
 * search domains. */
#ifndef TRAINYARD_NODE_NAMES_RESOLVERS_H
#define TRAINYARD_NODE_NAMES_RESOLVERS_H

#include <netinet/in.h>
#include <stddef.h>

enum { RESOLVERS_MAX = 3, RESOLVERS_PORT = 53, RESOLVERS_FILE_MAX = 64 * 1024 };

struct resolver {
    union {
        struct sockaddr any;
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    };
    socklen_t size;
};

/* Reads the name servers, at most RESOLVERS_MAX as in the C library. Returns their number. */
size_t resolvers_parse(const char *text, struct resolver ret[RESOLVERS_MAX]);
/* Returns the value of the last "search" or "domain" line, without a NUL byte at its end; size 0
 * if there is none. */
const char *resolvers_search(const char *text, size_t *ret_size);
/* Returns N of the last "options … name:N …", at most `max`. Returns `missing` if there is no such
 * option. */
int resolvers_option(const char *text, const char *name, int missing, int max);

#endif
