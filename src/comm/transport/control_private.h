/* The state of the control connections, and the functions that the files control*.c share. Included
 * by control*.c only. */
#ifndef TRAINYARD_COMM_TRANSPORT_CONTROL_PRIVATE_H
#define TRAINYARD_COMM_TRANSPORT_CONTROL_PRIVATE_H

#include "base/buf.h"
#include "comm/cluster/tf_config.h"
#include "comm/transport/control.h"

/* A contribution of a peer to a small collective (control.h), kept until this member uses it. A
 * peer can be one such call ahead of this member, so there is room for the current call and the
 * next call. */
enum { CONTROL_CONTRIBUTIONS = 2 };
struct control_contribution {
    bool used; /* the other fields are valid */
    struct control_call_note note;
    uint8_t *bytes; /* WIRE_FRAME_MAX bytes, allocated when first needed */
};

struct control_peer {
    char name[TF_CONFIG_TASK_TEXT_MAX]; /* "worker 1 (host:port)" */
    char task[TF_CONFIG_TASK_TEXT_MAX]; /* "worker 1" */
    struct connection connection; /* CONNECTION_NONE for this member itself and after a loss */
    bool left;                    /* the peer has sent WIRE_FRAME_BYE: it leaves the group */
    bool aborted;                 /* the peer has sent WIRE_FRAME_ABORT: the group is broken */
    bool silent;                  /* the peer or its machine does not answer */
    int64_t heard_ms;             /* when the latest bytes of the peer arrived (monotonic) */
    uint64_t completed;           /* if `left`: number of the last call that the peer made */
    uint64_t seen;                /* the latest call that the peer is known to have reached */
    /* when the peer reached call `seen` (monotonic); 0: this member did not wait */
    int64_t came_ms;
    int64_t waited_ns; /* time waited for the peer, not passed to options.waited yet */
    size_t in_size;    /* number of received bytes in `in` */
    uint8_t in[WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX];
    struct buf out; /* frames that are not sent yet */
    struct control_contribution contributions[CONTROL_CONTRIBUTIONS];
};

struct control {
    struct control_options options; /* without `tasks` */
    struct control_peer *peers;     /* by rank */
    struct pollfd *polls;           /* control connections by rank, then descriptors of the
                                     * transport */
    uint64_t sequence;              /* number of the current call, from 1 */
    enum control_call call;         /* kind of the current call */
    size_t call_size;               /* number of bytes of the data of the current call */
    /* the current call is a small collective, and has begun to exchange its contributions */
    bool exchanging;
    int arrivals;  /* number of streams and contributions of the current call that arrived */
    int expected;  /* rank of the member whose data this member needs next; for reports */
    bool expelled; /* another member has reported that the group continues without this member */
    /* This process was suspended in the current call for so long that the other members may have
     * continued without it. */
    bool was_stopped;
    int silent_member; /* rank + 1 of the member whose silence broke the group; 0: none */
    /* Monotonic, in ms. */
    int64_t idle_since_ms; /* when the current wait began; 0: no wait is in progress */
    int64_t pinged_ms;     /* when the current wait last sent pings, or began */
    int64_t reported_ms;   /* when the current wait last reported late members, or began */
    int64_t looked_ms;     /* when the current wait last read the clock */
    int64_t first_ping_ms; /* when the current call first sent pings; 0: not yet */
    bool told_waiting;     /* options.waiting was last called with names */
    struct err broken;     /* code 0: the group is not broken */
};

/* Called at the end of a wait, while idle_since_ms is set. If a member was late, attributes the
 * time of the wait to it. */
void control_attribute_wait(struct control *control);

/* Passes the names of late members to options.waiting. `names` is NULL when the wait is over. */
void control_tell_waiting(struct control *control, const char *names);

/* Sends a frame to every other member without blocking. Bytes that cannot be sent now are queued.
 * If the queue of a member is full, the member does not get the frame. */
void control_send_all(struct control *control, enum wire_frame_type type, uint64_t sequence,
                      uint64_t detail, const void *data, size_t size);

/* Sends the queued bytes for a peer, and reads and handles all its messages. A message may break
 * the group; then the current call fails the next time it needs to wait. */
void control_read(struct control *control, struct control_peer *peer);

/* Returns the contribution of a peer to the current call, or NULL if it has not arrived. */
struct control_contribution *control_find_contribution(const struct control *control,
                                                       struct control_peer *peer);

/* Returns "all-reduce", "barrier" … */
const char *control_call_name(uint64_t call);

#endif
