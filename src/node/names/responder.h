/* The name server of the pod network, over UDP and TCP on epoll: names of the cluster from its
 * table, everything else from the machine's name servers. It runs in trainyard-step, so that pods
 * find each other while the control process is away; it knows neither loop nor objects. */
#ifndef TRAINYARD_NODE_NAMES_RESPONDER_H
#define TRAINYARD_NODE_NAMES_RESPONDER_H

#include "base/err.h"
#include "node/names/table.h"

#include <signal.h>
#include <stdint.h>

struct responder;

struct responder_options {
    int udp_fd, tcp_fd;      /* bound, and listening; they do not block */
    const char *resolv_conf; /* the file that names the machine's name servers, read when it
                                changes; must outlive the responder */
    uint16_t port;           /* of those; 0: 53 */
    int64_t (*now_ms)(void); /* its clock; NULL: the machine's */
};

/* The sockets are its own once it is made. */
int responder_new(const struct responder_options *options, struct responder **ret, struct err *err);
struct responder *responder_free(struct responder *responder);

/* Answer from this table from now on; what is in it moves over. */
void responder_set(struct responder *responder, struct names_table *table);

/* Handle what has happened, waiting up to timeout_ms (-1: for ever) for it, with the signal mask
 * `mask` meanwhile (NULL: as it is). */
void responder_run(struct responder *responder, int timeout_ms, const sigset_t *mask);

#endif
