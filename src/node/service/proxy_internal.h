/* Shared by the files of the proxy: service/proxy.c listens and handles events,
 * service/proxy_pair.c serves TCP clients, and service/proxy_udp.c serves UDP clients. */
#ifndef TRAINYARD_NODE_SERVICE_PROXY_INTERNAL_H
#define TRAINYARD_NODE_SERVICE_PROXY_INTERNAL_H

#include "base/list.h"
#include "base/map.h"
#include "node/service/proxy.h"
#include "node/step/helper/epoll_watch.h"

#include <stdbool.h>

struct proxy {
    struct proxy_options options;
    int epoll_fd;
    struct map listeners; /* by "address:port", or "address:port/udp" */
    /* Pairs of a TCP client and its backend. Dead pairs are freed after all events are handled. */
    struct list_head live, dead;
    size_t connections; /* the number of live pairs */
    /* Sessions of UDP clients, sorted by deadline. Dead sessions are freed after all events are
     * handled. */
    struct list_head sessions, dead_sessions;
    size_t session_count; /* without dead sessions */
    /* The time at which the next listener is retried or the next idle UDP session ends; 0 means
     * none. */
    int64_t wake_ms;
    char *piece; /* a buffer of RELAY_PIECE bytes that all pairs and sessions share */
};

struct proxy_listener {
    struct epoll_watch watch;
    struct proxy *proxy;
    struct proxy_place place; /* where it listens */
    bool udp;
    char *owner;            /* proxy_route.owner, or "" */
    int fd;                 /* -1 before it listens */
    int64_t retry_ms;       /* the time of the next attempt to listen or accept; 0 means none */
    bool failure_reported;  /* the failure to listen was reported */
    bool wanted;            /* the new table has the route, with backends; only for proxy_set() */
    struct proxy_place *to; /* the backends */
    size_t count;           /* of backends */
    size_t next;            /* the index of the backend for the next client, unless sticky */
    bool sticky;
    struct map sessions; /* UDP sessions by "address:port" of the client */
};

/* Returns the index of the backend for a new client. If the route is sticky, all clients with one
 * address get the same backend until the list of backends changes. Otherwise each client gets the
 * next backend. */
size_t proxy_listener_choose(struct proxy_listener *listener, const struct sockaddr_in *client);
/* Asks for a call of proxy_run() at `at_ms` at the latest. */
void proxy_wake_at(struct proxy *proxy, int64_t at_ms);
/* Creates a socket of type SOCK_STREAM or SOCK_DGRAM that can reach the backend `to`. If the proxy
 * is transparent and proxy_keeps_client_address() returns true, binds the socket to the client's
 * address. Returns the socket, or -1 on failure. */
int proxy_make_socket(struct proxy *proxy, struct in_addr client, const struct proxy_place *to,
                      int type);

struct sockaddr_in proxy_place_address(const struct proxy_place *place);

/* Takes ownership of the client's socket `fd`, and connects the client to one of the `count`
 * backends `to`. Tries the backend with index `first` first. */
void proxy_pair_new(struct proxy *proxy, int fd, struct in_addr client,
                    const struct proxy_place *to, size_t count, size_t first);
void proxy_pairs_init(struct proxy *proxy);
void proxy_pairs_free_dead(struct proxy *proxy);
void proxy_pairs_end(struct proxy *proxy); /* ends all pairs */

/* Handles datagrams that clients have sent to a listener. */
void proxy_on_datagram(struct epoll_watch *watch, uint32_t events);
/* Ends the sessions whose backend is not in listener->to any more. */
void proxy_sessions_check(struct proxy_listener *listener);
/* Ends the sessions whose deadline has passed. */
void proxy_sessions_expire(struct proxy *proxy, int64_t now_ms);
void proxy_sessions_free_dead(struct proxy *proxy);

#endif
