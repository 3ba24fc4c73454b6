/* How the members of a group find each other. Every member listens on its own port and connects to
 * the others, again and again until they are there: names may not resolve yet, processes may start
 * in any order, die and come back. Between each two members there is one control connection, made
 * by the higher rank, and one more for data; each member makes its data connections to the next
 * rank, so that all form a ring. Called by comm/group and, for connections
 * to parameter servers, by ps; it never waits longer than it is told, and says for whom it waits.
 */
#ifndef TRAINYARD_COMM_RENDEZVOUS_H
#define TRAINYARD_COMM_RENDEZVOUS_H

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
    bool master_form; /* only rank 0's address is known; it tells the others those of all */
    bool elastic;     /* the group may be formed by some of the tasks */
    struct peer_listener *listener; /* open already, and stays so; NULL: opened for this meeting */
    /* Not 0: links of this generation, whose members are tasks with these numbers in the cluster.
     * One that cannot be reached, or that looks for another group, ends it with ERR_UNAVAILABLE. */
    uint64_t generation;
    const int *numbers;
    uint64_t shape;
    const char *shape_text; /* what it stands for, see terms.h; may be NULL */
    const char *secret;     /* may be "" */
    size_t secret_size;
    const struct tls_psk *encryption; /* of all connections; NULL: they are in the clear */
    int64_t timeout_ms, report_ms;
    const volatile sig_atomic_t *stop;               /* not 0: wait for nobody; may be NULL */
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Who is missing, whenever that changes, as "worker 1 (host:port), …"; NULL when nobody is any
     * more. May be NULL. */
    void (*waiting)(void *context, const char *whom);
    void *context;
};

/* The caller releases *ret. */
int rendezvous_connect_all(const struct rendezvous_options *options, struct connection_set *ret,
                           struct err *err);

/* Only connections from here to some members that listen, one each: how a worker reaches its
 * parameter servers. ret_fds as `peers`; options->channels is 0, and these are in
 * the clear: options->encryption is NULL. */
int rendezvous_connect_some(const struct rendezvous_options *options, const int *peers, int count,
                            int *ret_fds, struct err *err);

/* What a member says about itself, for those who accept connections on their own; keeps pointers
 * into `options`. */
void rendezvous_identify(const struct rendezvous_options *options, struct handshake_identity *ret);

#endif
