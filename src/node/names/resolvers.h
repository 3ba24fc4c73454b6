/* The machine's resolv.conf: whom to ask for names outside of the cluster, and which domains people
 * leave out there. */
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

/* The name servers of the text, up to RESOLVERS_MAX as the C library does it; returns how many. */
size_t resolvers_parse(const char *text, struct resolver ret[RESOLVERS_MAX]);
/* The value of the last line "search" (or "domain"), not terminated by '\0'; "" with size 0. */
const char *resolvers_search(const char *text, size_t *ret_size);
/* The number N of the last "options … name:N …", at most `max`; `missing` where there is none. */
int resolvers_option(const char *text, const char *name, int missing, int max);

#endif
