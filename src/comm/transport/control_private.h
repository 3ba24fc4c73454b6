/* What the files of the TCP transport share: the peers, the waiting, the ways to fail. Included by
 * transport_tcp*.c only. */
#ifndef TRAINYARD_COMM_TRANSPORT_TCP_PRIVATE_H
#define TRAINYARD_COMM_TRANSPORT_TCP_PRIVATE_H

#include "base/buf.h"
#include "comm/cluster/tf_config.h"
#include "comm/transport/connection.h"
#include "comm/transport/control.h"

#include <poll.h>

/* A contribution to a small collective that came before it was asked for. A peer can be one such
 * call ahead of us, so there is room for this call's and the next's. */
enum { PENDING_SLOTS = 2 };
struct pending {
    bool used;
    uint64_t sequence;
    uint64_t call;
    size_t size;
    uint8_t *bytes; /* WIRE_FRAME_MAX of room, allocated when first needed */
};

struct peer {
    char name[TF_CONFIG_TASK_TEXT_MAX]; /* "worker 1 (host:port)" */
    char task[TF_CONFIG_TASK_TEXT_MAX]; /* "worker 1" */
    struct connection control;          /* none: the own, or closed after a goodbye */
    bool left;
    bool aborted;       /* it said that the group is broken */
    bool silent;        /* it does not answer, or its machine does not */
    int64_t heard_ms;   /* when it last said anything */
    uint64_t completed; /* calls the peer had finished when it left */
    uint64_t seen;      /* the latest call it is known to have reached */
    int64_t came_ms;    /* when that was first known; 0: without waiting */
    int64_t waited_ns;  /* for it, and not yet told */
    size_t in_size;
    uint8_t in[WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX];
    struct buf out;
    struct pending pending[PENDING_SLOTS];
};

struct transport_tcp {
    struct transport_tcp_options options; /* `tasks` is not kept */
    struct rendezvous_links links;        /* of the data connections; controls are the peers' */
    struct peer *peers;
    struct pollfd *polls; /* controls, then left, then right */
    uint64_t sequence;    /* of the current call, from 1 */
    enum transport_call call;
    size_t call_size;
    bool exchanging;
    int streams; /* of the current call whose heads have come */
    int awaited; /* rank, whose data a wait is for when all have come */
    bool expelled;
    bool away; /* this process was stopped in the current call, for so long that others may go on */
    int accused; /* rank, from 1, that the group broke over because it was silent; 0: nobody */
    int64_t idle_since_ms, pinged_ms, reported_ms; /* monotonic; 0: not now */
    int64_t looked_ms;                             /* at the clock, the last time in this wait */
    bool told_waiting; /* through options.waiting, that somebody is late */
    int64_t asked_ms; /* when the others were first asked in this call where they are; 0: not yet */
    struct err broken;                 /* code 0: whole */
    uint8_t **scratch, **send_scratch; /* one a channel; the latter when first needed */
};

int transport_tcp_left(const struct transport_tcp *tcp);  /* rank */
int transport_tcp_right(const struct transport_tcp *tcp); /* rank */

/* Wait until a data connection marked in `polls` (events set by the caller) or a control connection
 * can move; handles the latter. The one place where a call blocks. */
int transport_tcp_wait(struct transport_tcp *tcp, struct err *err);
struct pollfd *transport_tcp_left_polls(struct transport_tcp *tcp);
struct pollfd *transport_tcp_right_polls(struct transport_tcp *tcp);

/* A wait is over, which may have been for somebody who was late; see transport_tcp_late.c. */
void transport_tcp_blame(struct transport_tcp *tcp);
/* The same, and it was for this member: the first of it in a stream, or its contribution, is here.
 */
void transport_tcp_came(struct transport_tcp *tcp, int rank);

void transport_tcp_tell_waiting(struct transport_tcp *tcp, const char *whom); /* NULL: it is over */

/* Something moved: the patience of transport_tcp_wait begins anew. */
static inline void transport_tcp_moved(struct transport_tcp *tcp)
{
    if (tcp->idle_since_ms)
        transport_tcp_blame(tcp);
    tcp->idle_since_ms = 0;
    if (tcp->told_waiting)
        transport_tcp_tell_waiting(tcp, NULL);
}

/* Break the group, if it is whole: keep the error for this and all later calls, and tell the
 * others, who may not see the cause themselves. */
void transport_tcp_break(struct transport_tcp *tcp, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int transport_tcp_broken(const struct transport_tcp *tcp, struct err *err);

/* A data connection failed: find out who is to blame, and break the group. */
int transport_tcp_data_failed(struct transport_tcp *tcp, int rank, int errnum, struct err *err);

/* Peer `rank` is in another call than this task: break the group. */
int transport_tcp_mismatch(struct transport_tcp *tcp, int rank, uint64_t sequence, uint64_t call,
                           uint64_t size, struct err *err);

void transport_tcp_send_all(struct transport_tcp *tcp, enum wire_frame_type type, uint64_t sequence,
                            uint64_t detail, const void *data, size_t size);

/* Send what is queued and take in all that has come from a peer. What it says may break the group;
 * the call that runs learns it when it would wait. */
void transport_tcp_read(struct transport_tcp *tcp, struct peer *peer);

/* The contribution of a peer to the current call, or NULL if it has not come. */
struct pending *transport_tcp_find_pending(const struct transport_tcp *tcp, struct peer *peer);

const char *transport_tcp_call_name(uint64_t call);

#endif
