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
    struct map listeners;        /* by "address:port", or "address:port/udp" */
    struct list_head live, dead; /* pairs; dead pairs are freed after all events are handled */
    size_t connections;
    struct list_head sessions, dead_sessions; /* sessions of UDP clients */
    size_t session_count;
    int64_t wake_ms; /* the time of the next retry or of the next end of an idle UDP session; 0
                        means none */
    char *piece;     /* a buffer of RELAY_PIECE bytes that all pairs share */
};

struct proxy_listener {
    struct epoll_watch watch;
    struct proxy *proxy;
    struct proxy_place place;
    bool udp;
    char *owner;
    int fd;           /* -1 before it listens */
    int64_t retry_ms; /* the time of the next attempt; 0 means none */
    bool complained;  /* the failure to listen was reported */
    bool wanted;      /* the route is in the new table; used only in proxy_set() */
    struct proxy_place *to;
    size_t count, next;
    bool sticky;
    struct map sessions; /* UDP sessions by "address:port" of the client */
};

/* Returns the index of the backend for this client. If the route is sticky, all connections from
 * one address get the same backend until the list of backends changes. Otherwise each client gets
 * the next backend. */
size_t proxy_listener_choose(struct proxy_listener *listener, const struct sockaddr_in *caller);
/* Makes proxy_run() return a wait that ends at `at_ms` at the latest. */
void proxy_wake_at(struct proxy *proxy, int64_t at_ms);
/* Creates a socket of type SOCK_STREAM or SOCK_DGRAM that can reach the backend for this client.
 * Returns -1 on failure. */
int proxy_make_socket(struct proxy *proxy, struct in_addr caller, const struct proxy_place *to,
                      int type);

struct sockaddr_in proxy_place_address(const struct proxy_place *place);

/* Takes ownership of the client's socket and connects the client to one of the backends, starting
 * with number `first`. */
void proxy_pair_new(struct proxy *proxy, int fd, struct in_addr caller,
                    const struct proxy_place *to, size_t count, size_t first);
void proxy_pairs_init(struct proxy *proxy);
/* Frees dead pairs. */
void proxy_pairs_bury(struct proxy *proxy);
void proxy_pairs_end(struct proxy *proxy); /* ends all pairs */

void proxy_on_datagram(struct epoll_watch *watch, uint32_t events);
/* Ends sessions whose backend is gone. Must be called after the backends have changed. */
void proxy_sessions_check(struct proxy_listener *listener);
void proxy_sessions_expire(struct proxy *proxy, int64_t now_ms);
/* Frees dead sessions. */
void proxy_sessions_bury(struct proxy *proxy);

#endif
