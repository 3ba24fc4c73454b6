/* What the files of the proxy share: proxy.c listens and turns, proxy_pair.c serves a caller. */
#ifndef TRAINYARD_NODE_PROXY_INTERNAL_H
#define TRAINYARD_NODE_PROXY_INTERNAL_H

#include "base/map.h"
#include "base/ring.h"
#include "node/proxy.h"
#include "node/watched.h"

#include <stdbool.h>

struct proxy {
    struct proxy_options options;
    int epoll_fd;
    struct map listeners;   /* by "address:port" */
    struct ring live, dead; /* pairs; the dead are freed after the turn */
    size_t connections;
    int64_t wake_ms; /* when something is to be tried again; 0: nothing */
    char *piece;     /* RELAY_PIECE bytes for whoever moves */
};

struct sockaddr_in proxy_place_address(const struct proxy_place *place);

/* A caller, whose socket is taken over: connect it to one of the places, from number `first` on. */
void proxy_pair_new(struct proxy *proxy, int fd, const struct proxy_place *to, size_t count,
                    size_t first);
void proxy_pairs_init(struct proxy *proxy);
void proxy_pairs_bury(struct proxy *proxy);
void proxy_pairs_end(struct proxy *proxy); /* all of them */

#endif
