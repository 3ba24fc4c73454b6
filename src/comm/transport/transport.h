/* A transport moves the data of a group between its members. Each transport is an operations table
 * (struct transport_ops) in a folder of its own. transport.c lists the transports in order of
 * preference. The group opens them and the collectives use them, only through the functions below.
 * A transport does not handle membership: control (control.h) numbers the calls and detects lost
 * members, and a transport calls control while it waits.
 *
 * There are two kinds. A stream transport runs transfer plans between any members of the group. A
 * memory transport gives the members of one host access to each other's memory: they write, pass a
 * barrier, and read. A host is one machine, or one of the pretended hosts of a test. In a
 * collective call all members of the group take part; all members make their collective calls in
 * the same order. */
#ifndef TRAINYARD_COMM_TRANSPORT_TRANSPORT_H
#define TRAINYARD_COMM_TRANSPORT_TRANSPORT_H

#include "comm/transport/control.h"
#include "comm/transport/shared_memory.h"
#include "comm/transport/transfer.h"

enum transport_kind {
    TRANSPORT_STREAM,
    TRANSPORT_MEMORY,
};

enum {
    TRANSPORT_HOST_MAX = 128,         /* largest number of members of one host that share memory */
    TRANSPORT_SLOT_SIZE = 256 * 1024, /* bytes; small enough for the cache of a core */
    TRANSPORT_SHARED_MAX = 8,         /* largest number of shared memories per group */
};

struct transport_config {
    struct control *control;            /* must stay valid for all calls except transport_close() */
    struct connection_set *connections; /* the transport moves out the connections that it uses */
    const char *pretended_host; /* for tests: splits one machine into several hosts; or NULL */
};

/* The common part of all transports. Each transport embeds it as the first member of its own
 * struct. */
struct transport {
    const struct transport_ops *ops;
    /* Only for stream transports. */
    bool has_pairs; /* a plan may connect any two members, not only neighbours in the ring */
    /* Only for memory transports. */
    /* number of members on this host, and position of this member among them, by rank */
    int count, index;
    const int *leaders; /* by rank: the lowest rank on the same host */
};

struct transport_ops {
    const char *name;
    enum transport_kind kind;
    /* A collective call: opens the transport and stores it in *ret, or NULL if this transport
     * connects no members with each other. Fails only if the group breaks. */
    int (*open)(const struct transport_config *config, struct transport **ret, struct err *err);
    void (*close)(struct transport *transport);

    /* See transport_run(). Only for stream transports. */
    int (*run)(struct transport *transport, const struct transfer_plan *plan, struct err *err);

    /* See transport_share(), transport_begin() and so on. Only for memory transports. */
    int (*share)(struct transport *transport, struct shared_memory *memory, struct err *err);
    int (*begin)(struct transport *transport, const void *data, struct err *err);
    int (*barrier)(struct transport *transport, struct err *err);
    float *const *(*rows)(const struct transport *transport);
    void *(*slot)(const struct transport *transport, int index, int barriers_ago);
    void *(*peer_memory)(const struct transport *transport, size_t memory, int rank);
};

/* Shared memory between processes of one machine. */
extern const struct transport_ops transport_shm;
/* TCP connections, plain or encrypted. */
extern const struct transport_ops transport_tcp;

/* A collective call: opens the first transport of this kind that connects members, in order of
 * preference. Sets *ret to NULL if there is none. Fails only if the group breaks. The caller closes
 * *ret with transport_close(). */
int transport_open(enum transport_kind kind, const struct transport_config *config,
                   struct transport **ret, struct err *err);

/* NULL-safe; returns NULL. */
struct transport *transport_close(struct transport *transport);

/* ---- Stream transports ----------------------------------------------------------------------- */

/* Runs a plan to its end. The members to which the plan sends, and from which it receives, must run
 * plans that fit. A plan with `pairs` needs transport->has_pairs. Fails only if the group
 * breaks. */
static inline int transport_run(struct transport *transport, const struct transfer_plan *plan,
                                struct err *err)
{
    return transport->ops->run(transport, plan, err);
}

/* ---- Memory transports ----------------------------------------------------------------------- */

/* A collective call: lets the members of each host write into each other's `memory`, which must
 * outlive the transport. Returns 0 also if the memory cannot be shared; its data then passes
 * through the slots. Fails only if the group breaks. */
static inline int transport_share(struct transport *transport, struct shared_memory *memory,
                                  struct err *err)
{
    return transport->ops->share(transport, memory, err);
}

/* The first barrier in a call of the group: returns when all members of the host are in the same
 * call. `data` is this member's data of the call; NULL: none. An algorithm may call it a second
 * time in a call, for other data. Fails only if the group breaks. */
static inline int transport_begin(struct transport *transport, const void *data, struct err *err)
{
    return transport->ops->begin(transport, data, err);
}

/* A later barrier of the same call: returns when all members of the host have reached it. Fails
 * only if the group breaks. */
static inline int transport_barrier(struct transport *transport, struct err *err)
{
    return transport->ops->barrier(transport, err);
}

/* Returns the addresses of the members' `data` of the current call, by index on the host. Returns
 * NULL unless `data` is at the same offset of the same shared memory on all members of the host.
 * Valid after transport_begin(). */
static inline float *const *transport_rows(const struct transport *transport)
{
    return transport->ops->rows(transport);
}

/* Returns a slot of TRANSPORT_SLOT_SIZE bytes of member `index`. With barriers_ago 1, the member
 * wrote it before the previous barrier; with 2, before the barrier before that. With 0 and the
 * index of this member, it is the slot that this member may write until the next barrier. */
static inline void *transport_slot(const struct transport *transport, int index, int barriers_ago)
{
    return transport->ops->slot(transport, index, barriers_ago);
}

/* Returns the address at which this member has mapped memory number `memory` of member `rank`, or
 * NULL if it is not mapped. Memories are numbered from 0 in the order of transport_share(). For
 * tests. */
static inline void *transport_peer_memory(const struct transport *transport, size_t memory,
                                          int rank)
{
    return transport->ops->peer_memory(transport, memory, rank);
}

#endif
