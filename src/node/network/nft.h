/* Writes tables of nf_tables over netlink, as far as the pod network and egress need it. A table
 * with base chains and rules is sent as one batch, which the kernel applies as a whole or not at
 * all. This code needs no program and no library, because the static trainyard-step uses it. Tables
 * have the family ip (IPv4). */
#ifndef TRAINYARD_NODE_NETWORK_NFT_H
#define TRAINYARD_NODE_NETWORK_NFT_H

#include "base/err.h"
#include "node/network/netlink.h"

enum { NFT_BATCH_MAX = 8192, NFT_NAME_MAX = 64 };

struct nft_batch {
    unsigned char data[NFT_BATCH_MAX];
    size_t size;
    uint32_t sequence; /* the sequence number of the latest message */
    bool overflowed;   /* a message did not fit; nft_batch_send() fails */
};

/* Opens a NETLINK_NETFILTER socket in the network namespace of the calling thread. The caller
 * closes it. */
int nft_open(int *ret_fd, struct err *err);

void nft_batch_begin(struct nft_batch *batch);
void nft_batch_end(struct nft_batch *batch);

/* Creates an empty table in place of an existing one. */
void nft_table_replace(struct nft_batch *batch, const char *table);
/* Removes the table, if it exists. */
void nft_table_remove(struct nft_batch *batch, const char *table);

/* Adds a base chain. `type` is "nat" or "filter", and `hook` is NF_INET_POST_ROUTING and so on. */
void nft_chain_add(struct nft_batch *batch, const char *table, const char *chain, const char *type,
                   uint32_t hook, int32_t priority);

/* A rule that is being built. The order of calls is: nft_rule_begin(), conditions, actions,
 * nft_rule_end(). The rule acts on packets that match all conditions. */
struct nft_rule {
    struct netlink_message message;
    size_t expressions; /* the nested attribute that contains the conditions and the action */
};

void nft_rule_begin(struct nft_rule *rule, const char *table, const char *chain);
void nft_rule_from_address(struct nft_rule *rule, struct in_addr address);
void nft_rule_not_to_address(struct nft_rule *rule, struct in_addr address);
/* Matches a destination whose first `prefix` bits (1 to 32) are those of `range`. */
void nft_rule_to_range(struct nft_rule *rule, struct in_addr range, int prefix);
void nft_rule_protocol(struct nft_rule *rule, uint8_t protocol); /* IPPROTO_TCP and so on */
void nft_rule_in_link(struct nft_rule *rule, const char *name);
/* Matches packets that leave by this link, or by any other link if `is_this` is false. */
void nft_rule_out_link(struct nft_rule *rule, const char *name, bool is_this);
/* Matches packets that neither belong nor relate to an established connection. */
void nft_rule_not_established(struct nft_rule *rule);
/* Matches TCP or UDP packets of a connected socket with IP_TRANSPARENT in this namespace. The
 * kernel delivers such packets to that socket if they are routed to this namespace. With this
 * condition the kernel reassembles fragments before any rule sees them. Allowed only in chains of
 * NF_INET_PRE_ROUTING. */
void nft_rule_to_transparent(struct nft_rule *rule);
/* Matches ICMP errors about packets that a socket with IP_TRANSPARENT has sent. */
void nft_rule_about_transparent(struct nft_rule *rule);
void nft_rule_set_mark(struct nft_rule *rule, uint32_t mark);
/* Exempts the packet from connection tracking. */
void nft_rule_untrack(struct nft_rule *rule);
void nft_rule_masquerade(struct nft_rule *rule);
void nft_rule_accept(struct nft_rule *rule);
void nft_rule_drop(struct nft_rule *rule);
void nft_rule_end(struct nft_rule *rule, struct nft_batch *batch);

/* Sends the batch, and waits until the kernel has applied it to the network namespace of `fd`, a
 * NETLINK_NETFILTER socket. Returns -ERR_UNSUPPORTED if the kernel lacks nf_tables or a needed part
 * of it. */
int nft_batch_send(int fd, const struct nft_batch *batch, struct err *err);

/* Finds a chain whose policy drops forwarded packets. The chain may belong to any program. Writes
 * the name of the chain's table and the name of the chain to `ret`, as in "filter FORWARD". Returns
 * false if there is no such chain or the kernel does not answer. */
bool nft_find_forward_drop(int fd, char ret[2 * NFT_NAME_MAX]);
/* Like nft_find_forward_drop(), but for one message of the kernel's answer. For tests. */
bool nft_chain_drops_forward(const struct nlmsghdr *message, char ret[2 * NFT_NAME_MAX]);

#endif
