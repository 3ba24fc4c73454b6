/* What the files of the rendezvous share. A `peer_link` is one connection that must exist: made by
 * us (outgoing) or by the peer (incoming). A `pending_peer` (door.h) is an accepted connection that
 * has not proved yet whose it is; it becomes the bond it claims to be. Included by rendezvous*.c
 * and lobby.c only. */
#ifndef TRAINYARD_COMM_RENDEZVOUS_PRIVATE_H
#define TRAINYARD_COMM_RENDEZVOUS_PRIVATE_H

#include "base/vec.h"
#include "comm/cluster/tf_config.h"
#include "comm/group/rendezvous.h"
#include "comm/transport/handshake.h"
#include "comm/transport/resolve.h"

#include <poll.h>

enum { ATTEMPT_MAX_MS = PEER_LISTENER_ATTEMPT_MAX_MS, REASON_MAX = PEER_LISTENER_REASON_MAX };

enum peer_link_state {
    PEER_LINK_WAITING,   /* outgoing: until retry_at; incoming: for the peer */
    PEER_LINK_RESOLVING, /* outgoing: for its address; incoming: only to tell what is wrong with it
                          */
    PEER_LINK_HANDSHAKE, /* outgoing */
    PEER_LINK_READY,
};

/* What `failure` may be beside an errno. */
enum {
    PEER_LINK_NO_NAME = -1,   /* there is no such name */
    PEER_LINK_NO_ANSWER = -2, /* the name servers could not be asked */
};

struct peer_link {
    int peer;
    int channel; /* 0: control */
    bool outgoing;
    enum peer_link_state state;
    struct connection connection; /* when ready */
    struct resolve *resolve;
    struct handshake handshake;
    int attempts;
    int failure; /* errno of the last attempt, or as above; 0: none has failed */
    int64_t retry_at, attempt_ends;
    bool securing;
    char reason[REASON_MAX];
    bool talking;       /* in a lobby, when ready */
    struct buf in, out; /* of one that is talking */
};

enum { MISSING_MAX = 1024 };

struct rendezvous {
    const struct rendezvous_options *options;
    const struct handshake_identity *identity;
    struct handshake_identity own_identity;
    int wanted; /* how many others there are to meet, and this one */
    struct peer_listener *listener;
    struct peer_listener own_listener;
    bool in_discovery; /* bonds that are ready carry messages, which the lobby reads */
    bool tolerant;     /* a task that is not like this one is refused, and the rest goes on */
    int64_t started, deadline, next_report;
    VEC(struct peer_link) peer_links;
    struct wire_address *addresses; /* by rank, in the master form; port 0: not known yet */
    bool told;                      /* the addresses of all are known to this member */
    char missing[MISSING_MAX];      /* who was, when that was told last */
    VEC(struct pollfd) polls;
};

void rendezvous_init(struct rendezvous *rendezvous, const struct rendezvous_options *options,
                     int wanted);
void rendezvous_release(struct rendezvous *rendezvous);
void rendezvous_add_link(struct rendezvous *rendezvous, int peer, int channel, bool outgoing);

/* Until something moves, a bond is to be tried again, a line is due, or `until`. */
void rendezvous_wait(struct rendezvous *rendezvous, int64_t now, int64_t until);
/* rendezvous_missing.c: who has not come, and why. */
void rendezvous_report_missing(struct rendezvous *rendezvous);
void rendezvous_tell_missing(struct rendezvous *rendezvous); /* whenever they may be others */
int rendezvous_give_up(struct rendezvous *rendezvous, struct err *err);
int rendezvous_check_stop(const struct rendezvous *rendezvous,
                          struct err *err); /* told to: ERR_CANCELED */

struct peer_link *rendezvous_find_link(struct rendezvous *rendezvous, int peer, int channel,
                                       bool outgoing);
void rendezvous_describe(const struct rendezvous *rendezvous, int rank,
                         char text[TF_CONFIG_TASK_TEXT_MAX]);
void rendezvous_report(struct rendezvous *rendezvous, const char *line);

/* The addresses of all are known now: what waited for them goes on at once. */
void rendezvous_addresses_told(struct rendezvous *rendezvous);

/* rendezvous_bond.c: start, drive and watch every bond. */
int rendezvous_progress_links(struct rendezvous *rendezvous, int64_t now, struct err *err);
/* Give up this attempt; try again later, slower each time. */
void rendezvous_postpone(struct peer_link *peer_link, int64_t now, int failure, const char *reason);

/* rendezvous_guest.c: take in whoever connects, and seat those who prove themselves. */
int rendezvous_progress_pending_peers(struct rendezvous *rendezvous, int64_t now, struct err *err);

#endif
