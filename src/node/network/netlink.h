/* Configures links, addresses and routes of the pod network over rtnetlink: a message builder with
 * a buffer of fixed size, and the requests that the network needs. In each request `fd` is a
 * NETLINK_ROUTE socket, and the request applies to the network namespace of that socket. A request
 * waits for the kernel's answer, and returns 0 or a negative code. The static trainyard-step uses
 * this code, so it depends on no library. network/nft.c uses the message builder too. */
#ifndef TRAINYARD_NODE_NETWORK_NETLINK_H
#define TRAINYARD_NODE_NETWORK_NETLINK_H

#include "base/err.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NETLINK_MESSAGE_MAX = 512 };

struct netlink_message {
    union {
        struct nlmsghdr header;
        unsigned char data[NETLINK_MESSAGE_MAX];
    };
    bool overflowed; /* an attribute did not fit; the message must not be sent */
};

/* Begins a request with its fixed part, such as struct ifinfomsg. */
void netlink_begin(struct netlink_message *message, uint16_t type, uint16_t flags,
                   const void *fixed, size_t size);
/* Appends an attribute, or sets `overflowed` if it does not fit. */
void netlink_attr(struct netlink_message *message, uint16_t type, const void *data, size_t size);
void netlink_attr_str(struct netlink_message *message, uint16_t type, const char *text);
void netlink_attr_u32(struct netlink_message *message, uint16_t type, uint32_t value);
/* Begins a nested attribute. It contains all attributes that are added before netlink_nest_end(),
 * which gets the returned offset. */
size_t netlink_nest(struct netlink_message *message, uint16_t type);
void netlink_nest_end(struct netlink_message *message, size_t nest);

/* Opens a socket in the network namespace of the calling thread. The caller closes it. */
int netlink_open(int *ret_fd, struct err *err);

int netlink_link_up(int fd, const char *name, struct err *err);
/* Returns 0 also if the link does not exist. */
int netlink_link_delete(int fd, const char *name, struct err *err);
int netlink_bridge_add(int fd, const char *name, const unsigned char mac[6], struct err *err);
/* Creates a veth pair. The end `name` is in the socket's namespace. It is brought up, and attached
 * to `bridge` unless that is NULL. The end `peer` is in the namespace of the descriptor
 * `peer_netns`. It is not brought up. If `peer_mac` is NULL, the kernel chooses the MAC address of
 * `peer`. */
int netlink_veth_add(int fd, const char *name, const char *bridge, const char *peer, int peer_netns,
                     const unsigned char peer_mac[6], struct err *err);
int netlink_address_add(int fd, const char *name, struct in_addr address, int prefix,
                        struct err *err);
/* Makes a range of addresses local to this namespace for packets that are routed by routing table
 * `table`. Returns 0 also if the route exists already. */
int netlink_local_route_add(int fd, const char *name, struct in_addr range, int prefix, int table,
                            struct err *err);
/* Adds a default route. The gateway need not be in the link's range of addresses. */
int netlink_default_route_add(int fd, const char *name, struct in_addr gateway, struct err *err);
/* Routes packets with this mark by routing table `table`. The kernel looks up this table after its
 * table of local addresses and before the main table. */
int netlink_mark_rule_add(int fd, uint32_t mark, int table, struct err *err);
/* Sets *ret to whether this address is local to the namespace for packets with this mark. */
int netlink_mark_is_local(int fd, uint32_t mark, struct in_addr address, bool *ret,
                          struct err *err);
/* Makes the address unreachable from this namespace. Returns 0 also if the route exists already. */
int netlink_prohibit_add(int fd, struct in_addr address, struct err *err);
bool netlink_link_exists(int fd, const char *name);

#endif
