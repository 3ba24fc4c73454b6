/* The DNS server of the pod network, over UDP and TCP on epoll. It answers queries for names of the
 * cluster from its table, and forwards all other queries to the machine's name servers. It runs in
 * a helper process of trainyard-step, so that pods find each other without the control process. It
 * uses neither the event loop nor API objects. */
#ifndef TRAINYARD_NODE_NAMES_RESPONDER_H
#define TRAINYARD_NODE_NAMES_RESPONDER_H

#include "base/err.h"
#include "node/names/table.h"

#include <signal.h>
#include <stdint.h>

struct responder;

struct responder_options {
    int udp_fd, tcp_fd; /* non-blocking; the TCP socket listens */
    /* The file that lists the machine's name servers. It is read again after each change. NULL
     * means that there are no servers. The string must outlive the responder. */
    const char *resolv_conf;
    uint16_t port;           /* the port of the machine's name servers; 0 means 53. For tests. */
    int64_t (*now_ms)(void); /* the clock; NULL means the machine's. For tests. */
};

/* On success the responder owns the sockets. After a failure the caller still owns them. */
int responder_new(const struct responder_options *options, struct responder **ret, struct err *err);
struct responder *responder_free(struct responder *responder);

/* Replaces the table of names. The contents of `*table` are moved to the responder. */
void responder_set(struct responder *responder, struct names_table *table);

/* Waits for events, handles them, and returns. Waits up to timeout_ms (-1 means without a limit),
 * but not beyond the next deadline of the responder. `mask` is the signal mask during the wait;
 * NULL means the current one. */
void responder_run(struct responder *responder, int timeout_ms, const sigset_t *mask);

#endif
