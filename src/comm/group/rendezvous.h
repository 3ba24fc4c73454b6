/* Rendezvous: the members of a group connect to each other. Every member listens on its own port
 * and tries to connect to the others until they answer: names may not resolve yet, and processes
 * may start in any order, die and restart. Each two members have one control connection, made by
 * the higher rank, and in groups of 3 to 64 members one for data. Each member also makes data
 * connections to the next rank, so that all form a ring. Called by formation, by peer_discovery
 * and, for connections to parameter servers, by ps. It never waits longer than its timeout, and
 * reports which members it waits for. */
#ifndef TRAINYARD_COMM_GROUP_RENDEZVOUS_H
#define TRAINYARD_COMM_GROUP_RENDEZVOUS_H

#include "base/err.h"
#include "comm/group/peer_listener.h"

#include <trainyard/tf_config.h>

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct rendezvous_options {
    const struct ty_task *tasks; /* by rank */
    int rank, size;
    int channels;
    /* Only the address of rank 0 is known; rank 0 sends the others the addresses of all. */
    bool master_form;
    bool elastic; /* some of the tasks can be a group */
    /* Already open, and stays open; NULL: opened for this rendezvous only. */
    struct peer_listener *listener;
    /* Not 0: connects the members of this generation; `numbers` has their tasks in the cluster, by
     * rank. Fails with ERR_UNAVAILABLE if a member cannot be reached or wants another group. */
    uint64_t generation;
    const int *numbers;
    uint64_t shape;
    const char *shape_text; /* what `shape` is a hash of, see shape_text.h; may be NULL */
    const char *secret;     /* may be "" */
    size_t secret_size;
    const struct tls_psk *encryption; /* TLS for all connections; NULL: they are not encrypted */
    int64_t timeout_ms, report_ms;
    const volatile sig_atomic_t *stop; /* once not 0, fails with ERR_CANCELED; may be NULL */
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Called whenever the missing members change, with their names as "worker 1 (host:port), …",
     * and with NULL when none is missing any more. May be NULL. */
    void (*waiting)(void *context, const char *names);
    void *context;
};

/* Connects all members. The caller releases *ret with connection_set_release(). */
int rendezvous_connect_all(const struct rendezvous_options *options, struct connection_set *ret,
                           struct err *err);

/* Makes one connection to each of `peers`, without listening: how a worker reaches its parameter
 * servers. ret_fds is in the order of `peers`; the caller closes them. options->channels must be 0
 * and options->encryption NULL. */
int rendezvous_connect_some(const struct rendezvous_options *options, const int *peers, int count,
                            int *ret_fds, struct err *err);

/* Fills the identity of this member, for callers that accept connections by themselves. Keeps
 * pointers into `options`. */
void rendezvous_identify(const struct rendezvous_options *options, struct handshake_identity *ret);

#endif
