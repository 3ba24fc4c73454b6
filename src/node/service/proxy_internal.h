/* What the files of the proxy share: service/proxy.c listens and turns, service/proxy_pair.c serves
 * a caller over TCP, service/proxy_udp.c one over UDP. */
#ifndef TRAINYARD_NODE_SERVICE_PROXY_INTERNAL_H
#define TRAINYARD_NODE_SERVICE_PROXY_INTERNAL_H

#include "base/map.h"
#include "base/ring.h"
#include "node/service/proxy.h"
#include "node/step/helper/epoll_watch.h"

#include <stdbool.h>

struct proxy {
    struct proxy_options options;
    int epoll_fd;
    struct map listeners;   /* by "address:port", or "address:port/udp" */
    struct ring live, dead; /* pairs; the dead are freed after the turn */
    size_t connections;
    struct ring sessions, dead_sessions; /* of callers over UDP */
    size_t session_count;
    int64_t wake_ms; /* when something is to be tried again; 0: nothing */
    char *piece;     /* RELAY_PIECE bytes for whoever moves */
};

struct proxy_listener {
    struct epoll_watch watch;
    struct proxy *proxy;
    struct proxy_place place;
    bool udp;
    char *owner;
    int fd;           /* -1: not listening yet */
    int64_t retry_ms; /* when to try again; 0: no need */
    bool complained;  /* that it cannot listen was told */
    bool wanted;      /* while a table is taken over */
    struct proxy_place *to;
    size_t count, next;
    bool sticky;
    struct map sessions; /* over UDP, by "address:port" of the caller */
};

/* Which place is this caller's: the next in turn, or for all callers of one address the same. */
size_t proxy_listener_choose(struct proxy_listener *listener, const struct sockaddr_in *caller);
/* Call again then, at the latest. */
void proxy_wake_at(struct proxy *proxy, int64_t at_ms);
/* A socket that can reach the place for this caller, SOCK_STREAM or SOCK_DGRAM; -1: there is none.
 */
int proxy_make_socket(struct proxy *proxy, struct in_addr caller, const struct proxy_place *to,
                      int type);

struct sockaddr_in proxy_place_address(const struct proxy_place *place);

/* A caller, whose socket is taken over: connect it to one of the places, from number `first` on. */
void proxy_pair_new(struct proxy *proxy, int fd, struct in_addr caller,
                    const struct proxy_place *to, size_t count, size_t first);
void proxy_pairs_init(struct proxy *proxy);
void proxy_pairs_bury(struct proxy *proxy);
void proxy_pairs_end(struct proxy *proxy); /* all of them */

void proxy_on_datagram(struct epoll_watch *watch, uint32_t events);
/* The places behind have changed. */
void proxy_sessions_check(struct proxy_listener *listener);
void proxy_sessions_expire(struct proxy *proxy, int64_t now_ms);
void proxy_sessions_bury(struct proxy *proxy);

#endif
