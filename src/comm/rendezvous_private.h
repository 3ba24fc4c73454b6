/* What the files of the rendezvous share. A `bond` is one connection that must exist: made by us
 * (outgoing) or by the peer (incoming). A `guest` is an accepted connection that has not proved yet
 * whose it is; it becomes the bond it claims to be. Included by rendezvous*.c only. */
#ifndef TRAINYARD_COMM_RENDEZVOUS_PRIVATE_H
#define TRAINYARD_COMM_RENDEZVOUS_PRIVATE_H

#include "base/vec.h"
#include "comm/handshake.h"
#include "comm/rendezvous.h"
#include "comm/resolve.h"
#include "comm/tf_config.h"

#include <poll.h>

enum {
    ATTEMPT_MAX_MS = 10000, /* from connecting to the end of a handshake */
    REASON_MAX = 256,
};

enum bond_state {
    BOND_WAITING,   /* outgoing: until retry_at; incoming: for the peer */
    BOND_RESOLVING, /* outgoing: for its address; incoming: only to tell what is wrong with it */
    BOND_SHAKING,   /* outgoing */
    BOND_READY,
};

struct bond {
    int peer;
    int channel; /* 0: control */
    bool outgoing;
    enum bond_state state;
    int fd; /* when ready */
    struct resolve *resolve;
    struct handshake handshake;
    int attempts;
    int64_t retry_at, attempt_ends;
    char reason[REASON_MAX];
};

struct guest {
    struct handshake handshake;
    int64_t ends;
};

enum { MISSING_MAX = 1024 };

struct rendezvous {
    const struct rendezvous_options *options;
    struct handshake_identity identity;
    int wanted;   /* how many others there are to meet, and this one */
    int listener; /* -1: nobody is expected to connect */
    int64_t started, deadline, next_report;
    VEC(struct bond) bonds;
    VEC(struct guest *) guests;
    struct wire_address *addresses; /* by rank, in the master form; port 0: not known yet */
    bool told;                      /* the addresses of all are known to this member */
    char missing[MISSING_MAX];      /* who was, when that was told last */
    VEC(struct pollfd) polls;
    char stranger[REASON_MAX]; /* why the last one was refused: the same is not said twice */
};

struct bond *rendezvous_find_bond(struct rendezvous *r, int peer, int channel, bool outgoing);
void rendezvous_describe(const struct rendezvous *r, int rank, char text[TF_CONFIG_TASK_TEXT_MAX]);
void rendezvous_say(struct rendezvous *r, const char *line);

/* The addresses of all are known now: what waited for them goes on at once. */
void rendezvous_addresses_told(struct rendezvous *r);

/* rendezvous_bond.c: start, drive and watch every bond. */
int rendezvous_progress_bonds(struct rendezvous *r, int64_t now, struct err *err);

/* rendezvous_guest.c: take in whoever connects, and seat those who prove themselves. */
int rendezvous_progress_guests(struct rendezvous *r, int64_t now, struct err *err);
void rendezvous_dismiss_guests(struct rendezvous *r);

#endif
