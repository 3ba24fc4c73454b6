/* Implements the mode proxy: the service proxy, which accepts the connections to the addresses of
 * services. It runs in the pod network, where the whole range of these addresses is local, and
 * relays connections to the pods in its table. The control process starts it and sends SIGHUP after
 * a change of the table. It keeps running without the control process. */
#include "node/step/step.h"

#include "node/network/netlink.h"
#include "node/network/pod_network.h"
#include "node/network/transparent.h"
#include "node/process/lock.h"
#include "node/service/proxy.h"

#include "base/cleanup.h"
#include "base/system/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static int enter_network(const char *holder, bool *ret_transparent, struct err *err)
{
    _cleanup_fd_ int pidfd = -1, fd = -1;
    pid_t pid;
    struct in_addr range;
    int result = process_lock_holder(holder, &pidfd, &pid, err);
    if (result < 0)
        return err_wrap(err, STEP_NETWORK_GONE);
    if (setns(pidfd, CLONE_NEWNET) < 0)
        return err_set_errno(err, errno, "cannot join the pod network");
    inet_pton(AF_INET, POD_NETWORK_SERVICES, &range);
    if ((result = netlink_open(&fd, err)) < 0 ||
        (result = netlink_local_route_add(fd, "lo", range, POD_NETWORK_SERVICES_PREFIX,
                                          RT_TABLE_LOCAL, err)) < 0)
        return result;
    return transparent_is_set_up(fd, ret_transparent, err);
}

/* If the table is missing or cannot be read, the proxy keeps its current table. At the start that
 * is an empty table. */
static void read_table(struct proxy *proxy, const char *path)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    struct proxy_table table = {0};
    buf_init(&text, PROXY_TABLE_MAX);
    if (file_read(path, &text, NULL) == 0 &&
        proxy_table_parse(arena, text.data, text.size, &table, NULL) == 0)
        proxy_set(proxy, &table);
}

static void step_proxy_serve(struct proxy *proxy, const char *table, const sigset_t *mask)
{
    for (;;) {
        proxy_run(proxy, -1, mask);
        if (step_sighup_take())
            read_table(proxy, table);
    }
}

int step_proxy(int argc, char **argv)
{
    struct err err;
    struct proxy_options options = {0};
    struct proxy *proxy;
    int lock;
    if (argc != 3) {
        fputs("usage: trainyard-step proxy HOLDER LOCK TABLE\n", stderr);
        return 2;
    }
    sigset_t mask;
    step_sighup_block(&mask);
    if (step_detach(&err) < 0 || enter_network(argv[0], &options.transparent, &err) < 0 ||
        proxy_new(&options, &proxy, &err) < 0 || process_lock_take(argv[1], &lock, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    prctl(PR_SET_NAME, "trainyard-proxy");
    read_table(proxy, argv[2]);
    step_report_ready();
    step_proxy_serve(proxy, argv[2], &mask);
    return 0;
}
