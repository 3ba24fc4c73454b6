/* Implements the mode hold. The holder keeps the network namespace of the pod network alive while
 * no pod runs and no control process lives, and creates the bridge to which the pods' links are
 * attached. A holder that replaces a killed holder joins the existing network instead. The holder
 * writes "ready" to stdout when the network exists, and then sleeps until it is killed. */
#include "node/step/step.h"

#include "node/network/netlink.h"
#include "node/network/pod_network.h"
#include "node/network/transparent.h"
#include "node/process/lock.h"

#include "base/cleanup.h"
#include "base/system/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int create_network(struct err *err)
{
    if (unshare(CLONE_NEWNET) < 0)
        return err_set_errno(err, errno, "cannot make a network namespace");
    step_network_only_ipv4();
    int fd;
    int result = netlink_open(&fd, err);
    if (result < 0)
        return result;
    struct in_addr gateway;
    unsigned char mac[6];
    inet_pton(AF_INET, POD_NETWORK_GATEWAY, &gateway);
    /* The bridge gets a fixed MAC address. Otherwise the bridge would have the address of the link
     * of one pod, and would get another address when this pod ends. Pods with the old address in
     * their ARP cache would then not reach the name server for up to a minute. */
    pod_network_mac(gateway, mac);
    if ((result = netlink_link_up(fd, "lo", err)) == 0 &&
        (result = netlink_bridge_add(fd, POD_NETWORK_BRIDGE, mac, err)) == 0 &&
        (result = netlink_address_add(fd, POD_NETWORK_BRIDGE, gateway, POD_NETWORK_PREFIX, err)) ==
            0)
        result = netlink_link_up(fd, POD_NETWORK_BRIDGE, err);
    /* This namespace forwards packets that leave the cluster and, in a transparent network
     * (network/transparent.h), packets from pod to pod. Failures are ignored, because the cluster
     * works without both. */
    if (result == 0 && file_write_into("/proc/sys/net/ipv4/ip_forward", "1\n", NULL) == 0)
        (void)transparent_set_up(fd, NULL);
    close(fd);
    return result;
}

static int join_network(const char *path, struct err *err)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
        return err_set_errno(err, errno, "cannot join the pod network '%s'", path);
    return 0;
}

int step_hold(int argc, char **argv)
{
    struct err err;
    int lock;
    if (argc != 1 && argc != 2) {
        fputs("usage: trainyard-step hold LOCK [NETWORK]\n", stderr);
        return 2;
    }
    if (step_detach(&err) < 0 ||
        (argc == 2 ? join_network(argv[1], &err) : create_network(&err)) < 0 ||
        process_lock_take(argv[0], &lock, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    prctl(PR_SET_NAME, "trainyard-hold");
    step_report_ready();
    for (;;)
        pause();
}
