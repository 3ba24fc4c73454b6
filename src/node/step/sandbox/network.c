/* Implements the network functions of step/step.h. A pod that does not use the machine's network
 * has a network namespace, which a veth pair connects to the cluster's bridge. The kernel removes
 * the pair with the pod's namespace, so nothing has to be cleaned up. */
#include "node/step/step.h"

#include "node/network/netlink.h"
#include "node/network/pod_network.h"
#include "node/network/transparent.h"
#include "node/process/lock.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Moves the caller into the cluster's network, and opens a netlink socket there, by which the veth
 * pair is created. */
static int open_cluster_socket(const char *lock, int *ret_fd, struct err *err)
{
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    int result = process_lock_holder(lock, &pidfd, &pid, err);
    if (result < 0)
        return err_wrap(err, STEP_NETWORK_GONE);
    if (setns(pidfd, CLONE_NEWNET) < 0)
        return err_set_errno(err, errno, "cannot join the pod network");
    return netlink_open(ret_fd, err);
}

static void set_sysctl(const char *path, const char *value)
{
    /* Failures are ignored: the pod also runs where /proc/sys is read-only. */
    (void)file_write_into(path, value, NULL);
}

void step_network_only_ipv4(void)
{
    /* `default` applies to new links only, so lo keeps ::1. The alternative addr_gen_mode is not
     * used: a write to it busy-waits while any process of the machine changes a link. Before Linux
     * 6.9 a write to disable_ipv6 does that too. */
    set_sysctl("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
}

static int network_join_cluster(int cluster_fd, const char *address_text, struct err *err)
{
    struct in_addr address, gateway;
    bool transparent;
    inet_pton(AF_INET, POD_NETWORK_GATEWAY, &gateway);
    if (inet_pton(AF_INET, address_text, &address) != 1)
        return err_set(err, ERR_INVALID, "'%s' is not an IPv4 address", address_text);
    _cleanup_fd_ int netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    _cleanup_fd_ int fd = -1;
    if (netns < 0)
        return err_set_errno(err, errno, "cannot open the network namespace");
    int result = netlink_open(&fd, err);
    if (result == 0)
        result = transparent_is_set_up(cluster_fd, &transparent, err);
    if (result < 0)
        return result;

    const unsigned char *octets = (const unsigned char *)&address.s_addr;
    unsigned char mac[6];
    pod_network_mac(address, mac);
    char name[16];
    snprintf(name, sizeof(name), "ty%02x%02x%02x%02x", octets[0], octets[1], octets[2], octets[3]);
    /* The kernel removes dead namespaces asynchronously, so the link of an earlier pod may still
     * exist. */
    if ((result = netlink_link_delete(cluster_fd, name, err)) < 0 ||
        (result = netlink_veth_add(cluster_fd, name, POD_NETWORK_BRIDGE, "eth0", netns, mac, err)) <
            0 ||
        (result = netlink_link_up(fd, "lo", err)) < 0 ||
        (result = netlink_address_add(fd, "eth0", address, transparent ? 32 : POD_NETWORK_PREFIX,
                                      err)) < 0 ||
        (result = netlink_link_up(fd, "eth0", err)) < 0)
        return result;
    return netlink_default_route_add(fd, "eth0", gateway, err);
}

int step_network_enter(const struct pod_spec *spec, struct err *err)
{
    _cleanup_fd_ int cluster = -1;
    int result = spec->network ? open_cluster_socket(spec->network, &cluster, err) : 0;
    if (result < 0)
        return result;
    if (unshare(CLONE_NEWUTS | (spec->machine_ipc ? 0 : CLONE_NEWIPC) |
                (spec->network ? CLONE_NEWNET : 0)) < 0)
        return err_set_errno(err, errno, "cannot make the pod's namespaces");
    if (sethostname(spec->hostname, strlen(spec->hostname)) < 0)
        return err_set_errno(err, errno, "cannot set hostname '%s'", spec->hostname);
    if (!spec->network)
        return 0;
    /* As in other container runtimes, low ports and ping need no privilege, because the pod has its
     * own port space. */
    set_sysctl("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    set_sysctl("/proc/sys/net/ipv4/ping_group_range", spec->nested ? "0 0" : "0 2147483647");
    step_network_only_ipv4();
    return network_join_cluster(cluster, spec->address, err);
}
