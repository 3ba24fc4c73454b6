/* The DNS server of the pod network, over UDP and TCP on epoll. It answers names of the cluster
 * from its table and forwards everything else to the machine's name servers. It runs in
 * trainyard-step, so that pods find each other without the control process, and uses neither the
 * loop nor API objects. */
#ifndef TRAINYARD_NODE_NAMES_RESPONDER_H
#define TRAINYARD_NODE_NAMES_RESPONDER_H

#include "base/err.h"
#include "node/names/table.h"

#include <signal.h>
#include <stdint.h>

struct responder;

struct responder_options {
    int udp_fd, tcp_fd; /* non-blocking; the TCP socket listens */
    /* The file that lists the machine's name servers. It is read again after each change. The
     * string must outlive the responder. */
    const char *resolv_conf;
    uint16_t port;           /* the port of the machine's name servers; 0 means 53 */
    int64_t (*now_ms)(void); /* the clock; NULL means the machine's */
};

/* On success the responder owns the sockets. */
int responder_new(const struct responder_options *options, struct responder **ret, struct err *err);
struct responder *responder_free(struct responder *responder);

/* Replaces the table of names. The contents of `*table` are moved to the responder. */
void responder_set(struct responder *responder, struct names_table *table);

/* Handles events, waiting up to timeout_ms for them (-1 means for ever) with the signal mask
 * `mask` (NULL means the current one). */
void responder_run(struct responder *responder, int timeout_ms, const sigset_t *mask);

#endif
