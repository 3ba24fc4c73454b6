/* Sets up the transparent pod network; see network/transparent.h. */
#include "node/network/transparent.h"

#include "node/network/netlink.h"
#include "node/network/nft.h"
#include "node/network/pod_network.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>

/* The packet mark and the routing table for packets to the proxy. The namespace belongs to the
 * cluster, so no other program uses these numbers in it. */
enum { MARK = 1, ROUTE_TABLE = 100 };

#define NFT_TABLE "trainyard-proxy"
#define NFT_CHAIN "answers"
#define ANY_POD   "10.244.255.254" /* an example: all addresses of pods have the same route */

#define BRIDGE_RULES "/proc/sys/net/bridge/bridge-nf-call-iptables"
#define IPV4         "/proc/sys/net/ipv4/"

/* The settings of the namespace. A new namespace may have other values, some inherited from the
 * machine. */
static const struct {
    const char *path, *value;
} SYSCTLS[] = {
    /* The gateway sends packets back over the bridge on which they came. That is intended, so it
     * must not send ICMP redirects. */
    {IPV4 "conf/all/send_redirects", "0"},
    {IPV4 "conf/" POD_NETWORK_BRIDGE "/send_redirects", "0"},
    /* With the mark, source validation would treat every pod's address as local and drop the
       packet. */
    {IPV4 "conf/all/src_valid_mark", "0"},
    {IPV4 "conf/" POD_NETWORK_BRIDGE "/src_valid_mark", "0"},
    /* The proxy connects from the addresses of pods. Its ports must differ from those of the pods'
     * own connections, which begin at 32768. */
    {IPV4 "ip_local_port_range", "1024 32767"},
};

/* Marks the packets of this protocol that belong to a socket of the proxy. */
static void add_mark_rule(struct nft_batch *batch, uint8_t protocol)
{
    struct nft_rule rule;
    nft_rule_begin(&rule, NFT_TABLE, NFT_CHAIN);
    nft_rule_in_link(&rule, POD_NETWORK_BRIDGE);
    nft_rule_protocol(&rule, protocol);
    if (protocol == IPPROTO_ICMP)
        nft_rule_about_transparent(&rule);
    else
        nft_rule_to_transparent(&rule);
    nft_rule_set_mark(&rule, MARK);
    nft_rule_accept(&rule);
    nft_rule_end(&rule, batch);
}

/* Exempts packets from pod to pod from connection tracking. They need no state, and tracking would
 * fill a table of limited size. */
static void add_untrack_rule(struct nft_batch *batch, struct in_addr pods)
{
    struct nft_rule rule;
    struct in_addr gateway;
    inet_pton(AF_INET, POD_NETWORK_GATEWAY, &gateway);
    nft_rule_begin(&rule, NFT_TABLE, NFT_CHAIN);
    nft_rule_in_link(&rule, POD_NETWORK_BRIDGE);
    nft_rule_to_range(&rule, pods, POD_NETWORK_PREFIX);
    nft_rule_not_to_address(&rule, gateway);
    nft_rule_untrack(&rule);
    nft_rule_end(&rule, batch);
}

static int transparent_write_rules(struct in_addr pods, struct err *err)
{
    static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP};
    _cleanup_fd_ int fd = -1;
    struct nft_batch batch;
    int result = nft_open(&fd, err);
    if (result < 0)
        return result;
    nft_batch_begin(&batch);
    nft_table_replace(&batch, NFT_TABLE);
    nft_chain_add(&batch, NFT_TABLE, NFT_CHAIN, "filter", NF_INET_PRE_ROUTING, NF_IP_PRI_RAW);
    for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
        add_mark_rule(&batch, protocols[i]);
    add_untrack_rule(&batch, pods);
    nft_batch_end(&batch);
    return nft_batch_send(fd, &batch, err);
}

int transparent_set_up(int netlink_fd, struct err *err)
{
    struct in_addr pods;
    int result = 0;
    inet_pton(AF_INET, POD_NETWORK, &pods);
    /* With the module br_netfilter, packets would pass the rules twice, because the bridge applies
     * them too. */
    (void)file_write_into(BRIDGE_RULES, "0", NULL);
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(SYSCTLS); i++)
        result = file_write_into(SYSCTLS[i].path, SYSCTLS[i].value, err);
    if (result == 0)
        result = transparent_write_rules(pods, err);
    if (result == 0)
        result =
            netlink_local_route_add(netlink_fd, "lo", pods, POD_NETWORK_PREFIX, ROUTE_TABLE, err);
    /* This must be the last step, because transparent_is_set_up() depends on this rule. */
    return result < 0 ? result : netlink_mark_rule_add(netlink_fd, MARK, ROUTE_TABLE, err);
}

int transparent_is_set_up(int netlink_fd, bool *ret, struct err *err)
{
    struct in_addr pod;
    inet_pton(AF_INET, ANY_POD, &pod);
    return netlink_mark_is_local(netlink_fd, MARK, pod, ret, err);
}
