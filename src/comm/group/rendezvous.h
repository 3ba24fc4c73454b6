/* Rendezvous: the members of a group connect to each other. Every member listens on its own port
 * and tries to connect to the others until they answer: names may not resolve yet, and processes
 * may start in any order, die and restart. Each two members have one control connection, made by
 * the higher rank. In groups of 3 to 64 members each two members also have one data connection. In
 * addition each member makes `channels` data connections to the next rank; the last rank makes them
 * to rank 0, so that they form a ring. Called by formation, by peer_discovery and, for connections
 * to parameter servers, by ps. Never waits longer than its timeout, and reports the missing
 * members. */
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
    /* The master form: only the address of rank 0 is known, and rank 0 sends all addresses to the
     * others. */
    bool master_form;
    bool elastic; /* a group may consist of only some of the tasks */
    /* An open listener, which stays open; NULL: a listener is opened for this rendezvous only. */
    struct peer_listener *listener;
    /* If not 0, only the members of this generation connect. The rendezvous then fails with
     * ERR_UNAVAILABLE if a member cannot be reached or has restarted. */
    uint64_t generation;
    const int *numbers;     /* only with a generation: the task numbers of its members, by rank */
    uint64_t shape;         /* hash of the options that all tasks must agree on */
    const char *shape_text; /* text of which `shape` is the hash (shape_text.h); may be NULL */
    const char *secret;     /* may be "" */
    size_t secret_size;
    /* TLS for all connections; NULL: they are not encrypted. */
    const struct tls_stream_context *encryption;
    int64_t timeout_ms;                /* time limit of the rendezvous */
    int64_t report_ms;                 /* interval between reports about missing members */
    const volatile sig_atomic_t *stop; /* when nonzero, fails with ERR_CANCELED; may be NULL */
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Called whenever the missing members change, with their names as "worker 1 (host:port), …",
     * and with NULL when no member is missing any more. May be NULL. */
    void (*waiting)(void *context, const char *names);
    void *context;
};

/* Blocks until all members are connected. The caller releases *ret with connection_set_release().
 * Fails with ERR_TIMEOUT, with ERR_CANCELED if `stop` is set, with ERR_FORBIDDEN if this member or
 * a peer rejects the other permanently, and with ERR_UNAVAILABLE (see `generation`). */
int rendezvous_connect_all(const struct rendezvous_options *options, struct connection_set *ret,
                           struct err *err);

/* Makes one connection to each of `peers`, which has `count` ranks, without listening. Blocks and
 * fails like rendezvous_connect_all(). Workers connect to parameter servers this way. ret_fds is in
 * the order of `peers`; the caller closes the descriptors. options->channels must be 0 and
 * options->encryption NULL. */
int rendezvous_connect_some(const struct rendezvous_options *options, const int *peers, int count,
                            int *ret_fds, struct err *err);

/* Fills the identity of this member, except listen_port, for callers that accept connections by
 * themselves. *ret keeps pointers into `options`. */
void rendezvous_identify(const struct rendezvous_options *options, struct handshake_identity *ret);

#endif
