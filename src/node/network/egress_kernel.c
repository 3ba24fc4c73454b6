/* Writes the rules, links and routes of egress to the kernel; see network/egress.h. The names of
 * links and tables on the machine are derived from the state directory. So each cluster has its own
 * names, and the links and tables of a killed server are found again. */
#include "node/network/egress_internal.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/network/namespace_socket.h"
#include "node/network/nft.h"
#include "node/state_number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUTES_MAX = 4 * 1024 * 1024, RANGE_PREFIX = 30, RANGES = 65536 / 4 };

#define LINK_PREFIX    "tyo" /* of the names of links on the machine */
#define TABLE_INSIDE   "trainyard"
#define FORWARD_SWITCH "/proc/sys/net/ipv4/ip_forward"
/* This file exists if IP forwarding was off before the machine's first cluster started. A reboot
 * removes the file, and also turns forwarding off. */
#define FORWARD_WAS_OFF "/run/trainyard-ip-forward"
/* Locked while a link and the forwarding switch are changed. Without the lock, a starting cluster
 * could find the switch on just before the last stopping cluster turns it off. All clusters of the
 * machine share the file, which is never removed. */
#define FORWARD_LOCK "/run/trainyard-ip-forward.lock"

static uint32_t number_of(const char *state_dir)
{
    return (uint32_t)node_state_number(state_dir);
}

static void egress_link_name(const char *state_dir, char ret[IFNAMSIZ])
{
    snprintf(ret, IFNAMSIZ, LINK_PREFIX "%08x", number_of(state_dir));
}

/* ---- in the pod network ---------------------------------------------------------------------- */

int egress_masquerade_inside(int network_fd, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    struct nft_batch batch;
    struct nft_rule rule;
    int result = namespace_socket(network_fd, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, &fd, err);
    if (result < 0)
        return result;
    nft_batch_begin(&batch);
    nft_table_replace(&batch, TABLE_INSIDE);
    nft_chain_add(&batch, TABLE_INSIDE, "out", "nat", NF_INET_POST_ROUTING, NF_IP_PRI_NAT_SRC);
    nft_rule_begin(&rule, TABLE_INSIDE, "out");
    nft_rule_out_link(&rule, EGRESS_LINK, true);
    nft_rule_masquerade(&rule);
    nft_rule_end(&rule, &batch);
    nft_batch_end(&batch);
    return nft_batch_send(fd, &batch, err);
}

int egress_forbid_machine(int network_fd, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    struct ifaddrs *list = NULL;
    int result = namespace_socket(network_fd, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &fd, err);
    if (result < 0)
        return result;
    if (getifaddrs(&list) < 0)
        return err_set_errno(err, errno, "cannot list the addresses of the machine");
    for (const struct ifaddrs *each = list; each && result == 0; each = each->ifa_next) {
        const struct sockaddr_in *address = (const void *)each->ifa_addr;
        if (address && address->sin_family == AF_INET && !(each->ifa_flags & IFF_LOOPBACK) &&
            !str_has_prefix(each->ifa_name, LINK_PREFIX))
            result = netlink_prohibit_add(fd, address->sin_addr, err);
    }
    freeifaddrs(list);
    return result;
}

/* ---- on the machine -------------------------------------------------------------------------- */

bool egress_choose(const char *routes, uint32_t seed, struct in_addr *ret)
{
    struct in_addr base;
    inet_pton(AF_INET, EGRESS_RANGE, &base);
    for (uint32_t i = 1; i < RANGES; i++) {
        /* Skips the first four addresses, two of which pasta uses. */
        uint32_t first = ntohl(base.s_addr) + 4 * (1 + (seed + i) % (RANGES - 1));
        bool taken = false;
        for (const char *line = strchr(routes, '\n'); line && !taken; line = strchr(line, '\n')) {
            uint32_t destination, mask;
            line++;
            if (sscanf(line, "%*s %x %*x %*x %*d %*d %*d %x", &destination, &mask) != 2)
                continue;
            uint32_t from = ntohl(destination), bits = ntohl(mask);
            taken = bits != 0 && ((first & bits) == from || (from & 0xFFFFFFFC) == first);
        }
        if (!taken) {
            ret->s_addr = htonl(first);
            return true;
        }
    }
    return false;
}

static struct in_addr egress_address_plus(struct in_addr address, uint32_t more)
{
    return (struct in_addr){htonl(ntohl(address.s_addr) + more)};
}

/* Creates the veth pair `name` and EGRESS_LINK, an address for each end, and the default route of
 * the pod network. Replaces existing links. `machine` and `inside` are netlink sockets. */
static int make_egress_link(int machine, int inside, int network_fd, const char *name,
                            uint32_t seed, struct in_addr *ret_address, struct err *err)
{
    _cleanup_buf_ struct buf routes;
    struct in_addr first;
    buf_init(&routes, ROUTES_MAX);
    int result = file_read("/proc/net/route", &routes, err);
    if (result < 0)
        return result;
    if (!egress_choose(routes.data, seed, &first))
        return err_set(err, ERR_TOO_MANY, "no addresses are free in " EGRESS_RANGE "/16");
    const struct in_addr outer = egress_address_plus(first, 1),
                         inner = egress_address_plus(first, 2);
    if ((result = netlink_link_delete(machine, name, err)) < 0 ||
        (result = netlink_link_delete(inside, EGRESS_LINK, err)) < 0 ||
        (result = netlink_veth_add(machine, name, NULL, EGRESS_LINK, network_fd, NULL, err)) < 0 ||
        (result = netlink_address_add(machine, name, outer, RANGE_PREFIX, err)) < 0 ||
        (result = netlink_address_add(inside, EGRESS_LINK, inner, RANGE_PREFIX, err)) < 0 ||
        (result = netlink_link_up(inside, EGRESS_LINK, err)) < 0 ||
        (result = netlink_default_route_add(inside, EGRESS_LINK, outer, err)) < 0)
        return result;
    *ret_address = inner;
    return 0;
}

/* Writes three rules for this cluster's link. Packets of pods that leave by another link get the
 * machine's address. Packets into the link are dropped unless they belong to an open connection.
 * Packets from the link to the machine itself are dropped. */
static int egress_kernel_write_rules(int fd, const char *name, struct in_addr inner,
                                     struct err *err)
{
    struct nft_batch batch;
    struct nft_rule rule;
    nft_batch_begin(&batch);
    nft_table_replace(&batch, name);
    nft_chain_add(&batch, name, "out", "nat", NF_INET_POST_ROUTING, NF_IP_PRI_NAT_SRC);
    nft_chain_add(&batch, name, "forward", "filter", NF_INET_FORWARD, NF_IP_PRI_FILTER);
    nft_chain_add(&batch, name, "machine", "filter", NF_INET_LOCAL_IN, NF_IP_PRI_FILTER);
    nft_rule_begin(&rule, name, "out");
    nft_rule_from_address(&rule, inner);
    nft_rule_out_link(&rule, name, false);
    nft_rule_masquerade(&rule);
    nft_rule_end(&rule, &batch);
    nft_rule_begin(&rule, name, "forward");
    nft_rule_out_link(&rule, name, true);
    nft_rule_not_established(&rule);
    nft_rule_drop(&rule);
    nft_rule_end(&rule, &batch);
    nft_rule_begin(&rule, name, "machine");
    nft_rule_in_link(&rule, name);
    nft_rule_drop(&rule);
    nft_rule_end(&rule, &batch);
    nft_batch_end(&batch);
    return nft_batch_send(fd, &batch, err);
}

/* Returns a descriptor that holds the lock until it is closed, or -1. If /run is not writable,
 * locking fails, but then FORWARD_WAS_OFF cannot be written, and forwarding is not changed. */
static int lock_switch(void)
{
    int fd = open(FORWARD_LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR)
        ;
    return fd;
}

static bool egress_kernel_forwards(void)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 64);
    return file_read(FORWARD_SWITCH, &text, NULL) == 0 && text.data[0] != '0';
}

/* Turns forwarding on. Fails if another cluster has turned it on and this cluster could not turn it
 * off, because the last cluster to stop must do that. */
static int begin_to_forward(struct err *err)
{
    bool forwards = egress_kernel_forwards();
    if ((!forwards || file_exists(FORWARD_WAS_OFF)) && access(FORWARD_SWITCH, W_OK) < 0)
        return err_set_errno(err, errno, "cannot open '%s'", FORWARD_SWITCH);
    if (forwards)
        return 0;
    int result = file_write_atomic(FORWARD_WAS_OFF, "0\n", 2, 0644, err);
    return result < 0 ? result : file_write_into(FORWARD_SWITCH, "1\n", err);
}

/* Returns true if a cluster has a link on the machine. */
static bool has_links(void)
{
    bool found = false;
    struct if_nameindex *links = if_nameindex();
    for (const struct if_nameindex *each = links; each && each->if_name; each++)
        found = found || str_has_prefix(each->if_name, LINK_PREFIX);
    if (links)
        if_freenameindex(links);
    return found;
}

/* Turns forwarding off if no cluster of the machine has a link, and forwarding was off before the
 * first cluster. */
static int end_forwarding(struct err *err)
{
    if (!file_exists(FORWARD_WAS_OFF) || has_links())
        return 0;
    int result = file_write_into(FORWARD_SWITCH, "0\n", err);
    if (result == 0)
        (void)unlink(FORWARD_WAS_OFF);
    return result;
}

/* Sets the complaint if the machine's firewall drops forwarded packets. */
static void egress_kernel_check_firewall(int fd, const char *name, struct egress *egress)
{
    char chain[2 * NFT_NAME_MAX];
    if (nft_find_forward_drop(fd, chain))
        egress->complaint = mem_printf(
            "pods may be unable to connect to addresses outside the cluster: the machine's "
            "firewall ('%s') drops forwarded packets by default; allow them with: iptables -I "
            "FORWARD -i %s -j ACCEPT; iptables -I FORWARD -o %s -j ACCEPT",
            chain, name, name);
}

int egress_make_kernel(const char *state_dir, int network_fd, struct egress *egress,
                       struct err *err)
{
    _cleanup_fd_ int machine = -1, inside = -1, filter = -1;
    char name[IFNAMSIZ];
    egress_link_name(state_dir, name);
    int result;
    if ((result = netlink_open(&machine, err)) < 0 ||
        (result = namespace_socket(network_fd, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &inside, err)) <
            0 ||
        (result = nft_open(&filter, err)) < 0)
        return result;
    _cleanup_fd_ int lock = lock_switch();
    (void)lock; /* held until the function returns */
    bool exists = egress->kind == EGRESS_KERNEL && netlink_link_exists(machine, name) &&
                  netlink_link_exists(inside, EGRESS_LINK);
    if ((result = begin_to_forward(err)) < 0 ||
        (!exists && (result = make_egress_link(machine, inside, network_fd, name,
                                               number_of(state_dir), &egress->address, err)) < 0) ||
        (result = egress_kernel_write_rules(filter, name, egress->address, err)) < 0)
        return result;
    egress->kind = EGRESS_KERNEL;
    egress_kernel_check_firewall(filter, name, egress);
    return 0;
}

int egress_remove_kernel(const char *state_dir, struct err *err)
{
    _cleanup_fd_ int machine = -1, filter = -1;
    struct nft_batch batch;
    char name[IFNAMSIZ];
    egress_link_name(state_dir, name);
    int result;
    _cleanup_fd_ int lock = lock_switch();
    (void)lock; /* held until the function returns */
    if ((result = netlink_open(&machine, err)) < 0 ||
        (result = netlink_link_delete(machine, name, err)) < 0)
        return result;
    nft_batch_begin(&batch);
    nft_table_remove(&batch, name);
    nft_batch_end(&batch);
    /* Failures are ignored: without nf_tables there is no table to remove. */
    if (nft_open(&filter, NULL) == 0)
        (void)nft_batch_send(filter, &batch, NULL);
    return end_forwarding(err);
}
