/* The state of the control plane, and what its files call of each other. Included by control*.c
 * only. */
#ifndef TRAINYARD_COMM_TRANSPORT_CONTROL_PRIVATE_H
#define TRAINYARD_COMM_TRANSPORT_CONTROL_PRIVATE_H

#include "base/buf.h"
#include "comm/cluster/tf_config.h"
#include "comm/transport/control.h"

/* A contribution to a small collective that arrived before this member asked for it. A peer can be
 * one such call ahead of this member, so there is room for the current call and the next one. */
enum { CONTROL_CONTRIBUTIONS = 2 };
struct control_contribution {
    bool used;
    struct control_call_note note;
    uint8_t *bytes; /* WIRE_FRAME_MAX bytes, allocated when first needed */
};

struct control_peer {
    char name[TF_CONFIG_TASK_TEXT_MAX]; /* "worker 1 (host:port)" */
    char task[TF_CONFIG_TASK_TEXT_MAX]; /* "worker 1" */
    struct connection connection; /* CONNECTION_NONE for this member itself and after a loss */
    bool left;                    /* the peer said that it leaves the group */
    bool aborted;                 /* the peer said that the group is broken */
    bool silent;                  /* the peer or its machine does not answer */
    int64_t heard_ms;             /* when the peer last sent anything */
    uint64_t completed;           /* number of calls the peer had finished when it left */
    uint64_t seen;                /* the latest call that the peer is known to have reached */
    int64_t came_ms;              /* when `seen` became known; 0: this member did not wait for it */
    int64_t waited_ns; /* time waited for the peer that was not yet passed to options.waited */
    size_t in_size;
    uint8_t in[WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX];
    struct buf out;
    struct control_contribution contributions[CONTROL_CONTRIBUTIONS];
};

struct control {
    struct control_options options; /* without `tasks` */
    struct control_peer *peers;     /* by rank */
    struct pollfd *polls;           /* control connections by rank, then those of the transport */
    uint64_t sequence;              /* number of the current call, from 1 */
    enum control_call call;
    size_t call_size;
    bool exchanging; /* the current call is a small collective over the control connections */
    int arrivals;    /* number of streams and contributions of the current call that arrived */
    int expected;    /* rank whose data the current wait is for once all members have arrived */
    bool expelled;   /* another member said that the group continues without this one */
    /* This process was stopped in the current call for so long that the others may continue
     * without it. */
    bool was_stopped;
    int accused; /* rank + 1 of the member whose silence broke the group; 0: none */
    /* Monotonic times; 0: no wait is in progress. */
    int64_t idle_since_ms, pinged_ms, reported_ms;
    int64_t looked_ms; /* when the current wait last read the clock */
    int64_t asked_ms;  /* when the current call first sent pings to the other members; 0: not yet */
    bool told_waiting; /* options.waiting was told that a member is late */
    struct err broken; /* code 0: the group is not broken */
};

/* The wait that ends now may have been for a late member: counts it against that one. */
void control_blame(struct control *control);

/* Passes the names of late members to options.waiting; NULL: the wait is over. */
void control_tell_waiting(struct control *control, const char *names);

void control_send_all(struct control *control, enum wire_frame_type type, uint64_t sequence,
                      uint64_t detail, const void *data, size_t size);

/* Sends what is queued for a peer and reads all that it has sent. A message may break the group;
 * the current call fails with it when it would wait. */
void control_read(struct control *control, struct control_peer *peer);

/* The contribution of a peer to the current call, or NULL if it has not arrived. */
struct control_contribution *control_find_contribution(const struct control *control,
                                                       struct control_peer *peer);

/* "all-reduce", "barrier" … */
const char *control_call_name(uint64_t call);

#endif
