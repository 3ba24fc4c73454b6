/* The state of a rendezvous. A peer_link is one connection that this member needs: outgoing if this
 * member makes the connection, incoming if the peer makes it. A pending_peer (peer_listener.h) is a
 * connection whose peer is not authenticated yet, or waits for a verdict. When rendezvous has
 * accepted the peer, the connection becomes an incoming peer_link. Included by rendezvous*.c and
 * peer_discovery.c only. */
#ifndef TRAINYARD_COMM_GROUP_RENDEZVOUS_PRIVATE_H
#define TRAINYARD_COMM_GROUP_RENDEZVOUS_PRIVATE_H

#include "base/vec.h"
#include "comm/cluster/tf_config.h"
#include "comm/group/rendezvous.h"
#include "comm/transport/handshake.h"
#include "comm/transport/resolve.h"

#include <poll.h>

enum { ATTEMPT_MAX_MS = PEER_LISTENER_ATTEMPT_MAX_MS, REASON_MAX = PEER_LISTENER_REASON_MAX };

enum peer_link_state {
    PEER_LINK_WAITING, /* outgoing: waits for retry_at; incoming: waits until the peer connects */
    /* The name of the peer is being looked up; for an incoming link, only to report a wrong
     * name. */
    PEER_LINK_RESOLVING,
    PEER_LINK_HANDSHAKE, /* outgoing only: connecting, or in the handshake */
    PEER_LINK_READY,
};

/* Values of peer_link.failure that are not an errno. */
enum {
    PEER_LINK_NO_NAME = -1,   /* the name does not exist */
    PEER_LINK_NO_ANSWER = -2, /* the name servers did not answer */
};

struct peer_link {
    int peer;    /* rank */
    int channel; /* 0: control; see wire_hello.channel */
    bool outgoing;
    enum peer_link_state state;
    struct connection connection; /* valid in state PEER_LINK_READY */
    struct resolve *resolve;      /* valid in state PEER_LINK_RESOLVING; otherwise NULL */
    struct handshake handshake;   /* valid in state PEER_LINK_HANDSHAKE */
    int attempts;                 /* number of attempts that have ended */
    /* errno of the latest failed attempt (ECONNREFUSED also if one side rejected the other), or
     * PEER_LINK_NO_…; 0: no failure */
    int failure;
    int64_t retry_at;        /* when the next attempt starts (monotonic, ms) */
    int64_t attempt_ends;    /* deadline of the current attempt (monotonic, ms) */
    bool securing;           /* the TLS handshake has begun */
    char reason[REASON_MAX]; /* why the link is not ready, for reports */
    bool carries_messages;   /* in discovery: `in` and `out` are valid */
    /* membership messages that were received in part, and that are not sent yet */
    struct buf in, out;
};

enum { MISSING_MAX = 1024 };

struct rendezvous {
    const struct rendezvous_options *options;
    const struct handshake_identity *identity; /* own_identity or, in discovery, the listener's */
    struct handshake_identity own_identity;
    int wanted;                     /* number of tasks that must connect, for the timeout error */
    struct peer_listener *listener; /* the listener of the options, or own_listener */
    struct peer_listener own_listener;
    bool in_discovery; /* links that are ready carry messages, which peer_discovery reads */
    bool tolerant;     /* rejects an incompatible task, or is rejected by it, without failing */
    int64_t started, deadline, next_report; /* monotonic, ms */
    VEC(struct peer_link) peer_links;
    struct wire_address *addresses; /* by rank, in the master form; port 0: not known yet */
    bool addresses_known;           /* in the master form: this member knows all addresses */
    char missing[MISSING_MAX]; /* the names that were last passed to options.waiting; "" at first */
    VEC(struct pollfd) polls;
};

/* Prepares a rendezvous without links. `wanted` is the number of tasks that the timeout error
 * mentions. */
void rendezvous_init(struct rendezvous *rendezvous, const struct rendezvous_options *options,
                     int wanted);
void rendezvous_release(struct rendezvous *rendezvous);
void rendezvous_add_link(struct rendezvous *rendezvous, int peer, int channel, bool outgoing);

/* Returns when a connection is ready, when an attempt or a report is due, at the deadline, or at
 * the time `until` (monotonic, ms), whichever is first. */
void rendezvous_wait(struct rendezvous *rendezvous, int64_t now, int64_t until);
/* Reports the members that are missing, and why. */
void rendezvous_report_missing(struct rendezvous *rendezvous);
/* Passes the names of the missing members to options.waiting if they have changed. */
void rendezvous_tell_missing(struct rendezvous *rendezvous);
/* Returns -ERR_TIMEOUT. Sets `err` to the names of the missing members and the reasons. */
int rendezvous_give_up(struct rendezvous *rendezvous, struct err *err);
/* Returns 0, or -ERR_CANCELED if options.stop is set. */
int rendezvous_check_stop(const struct rendezvous *rendezvous, struct err *err);

/* Returns NULL if this member needs no such link. */
struct peer_link *rendezvous_find_link(struct rendezvous *rendezvous, int peer, int channel,
                                       bool outgoing);
/* Writes the name of member `rank`, such as "worker 1 (host:port)". */
void rendezvous_describe(const struct rendezvous *rendezvous, int rank,
                         char text[TF_CONFIG_TASK_TEXT_MAX]);
/* Passes a line to options.report. */
void rendezvous_report(struct rendezvous *rendezvous, const char *line);

/* Called when this member knows the addresses of all members. The first call makes the links that
 * waited for an address start at once. */
void rendezvous_on_addresses_known(struct rendezvous *rendezvous);

/* Continues every link: looks up names, connects, and checks the ready links. Fails if a peer
 * rejects this member permanently, unless `tolerant`. */
int rendezvous_progress_links(struct rendezvous *rendezvous, int64_t now, struct err *err);
/* Closes the link and schedules the next attempt, with exponential backoff. `failure` is the value
 * of peer_link.failure. */
void rendezvous_postpone(struct peer_link *peer_link, int64_t now, int failure, const char *reason);

/* Accepts connections, continues their handshakes, and turns authenticated peers into links. Fails
 * if this member rejects a task of the job permanently, unless `tolerant`. */
int rendezvous_progress_pending_peers(struct rendezvous *rendezvous, int64_t now, struct err *err);

#endif
