/* A transport moves the data of a group between its members. Each transport is an operations table
 * (struct transport_ops) in a folder of its own. transport.c lists the transports in order of
 * preference. The group opens them and the collectives use them, only through the functions below.
 * A transport does not handle membership: control (control.h) numbers the calls and detects lost
 * members, and a waiting transport calls it.
 *
 * There are two kinds. A stream transport runs transfer plans between any members of the group. A
 * memory transport gives the members of one host access to each other's memory: they write, pass a
 * barrier, and read. All calls are collective: every member makes them in the same order. */
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
    TRANSPORT_HOST_MAX = 128,         /* limit of members of one host that share memory */
    TRANSPORT_SLOT_SIZE = 256 * 1024, /* bytes; small enough for the cache of a core */
    TRANSPORT_SHARED_MAX = 8,         /* limit of memories per group for transport_share() */
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
    int count, index;   /* number of members on this host, and position of this member by rank */
    const int *leaders; /* by rank: the lowest rank on the same host */
};

struct transport_ops {
    const char *name;
    enum transport_kind kind;
    /* A collective call of all members of the group. Sets *ret to NULL if this transport connects
     * no members with each other. Fails only if the group breaks. */
    int (*open)(const struct transport_config *config, struct transport **ret, struct err *err);
    void (*close)(struct transport *transport);

    /* Only for stream transports: see transport_run(). */
    int (*run)(struct transport *transport, const struct transfer_plan *plan, struct err *err);

    /* Only for memory transports: see transport_share(), transport_begin() and so on. */
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

/* A collective call: opens the first transport of this kind that works, in order of preference.
 * Sets *ret to NULL if none works. Fails only if the group breaks. */
int transport_open(enum transport_kind kind, const struct transport_config *config,
                   struct transport **ret, struct err *err);

/* NULL-safe; returns NULL. */
struct transport *transport_close(struct transport *transport);

/* ---- Stream transports ----------------------------------------------------------------------- */

/* Runs a plan to its end. A plan with `pairs` needs transport->has_pairs. */
static inline int transport_run(struct transport *transport, const struct transfer_plan *plan,
                                struct err *err)
{
    return transport->ops->run(transport, plan, err);
}

/* ---- Memory transports ----------------------------------------------------------------------- */

/* A collective call of the whole group: lets the members of the host write into each other's
 * `memory`, which must outlive the transport. Also returns 0 if the memory cannot be shared: then
 * its data passes through the slots. */
static inline int transport_share(struct transport *transport, struct shared_memory *memory,
                                  struct err *err)
{
    return transport->ops->share(transport, memory, err);
}

/* The first barrier of a call: returns when all members of the host are in the same call. `data` is
 * this member's data of the call. */
static inline int transport_begin(struct transport *transport, const void *data, struct err *err)
{
    return transport->ops->begin(transport, data, err);
}

/* A later barrier of the same call: returns when all members of the host have reached it. */
static inline int transport_barrier(struct transport *transport, struct err *err)
{
    return transport->ops->barrier(transport, err);
}

/* Returns the address of each member's `data` of the current call, by index on the host. Returns
 * NULL unless `data` is at the same offset of the same shared memory in all members of the host.
 * Valid after transport_begin(). */
static inline float *const *transport_rows(const struct transport *transport)
{
    return transport->ops->rows(transport);
}

/* Returns a slot of TRANSPORT_SLOT_SIZE bytes. If barriers_ago is 1, member `index` wrote it before
 * the last barrier; if 2, before the second last barrier. If 0, it is the slot that this member may
 * write until the next barrier. */
static inline void *transport_slot(const struct transport *transport, int index, int barriers_ago)
{
    return transport->ops->slot(transport, index, barriers_ago);
}

/* Returns the address at which this member has mapped shared memory number `memory` of member
 * `rank`, or NULL if it is not mapped. For tests. */
static inline void *transport_peer_memory(const struct transport *transport, size_t memory,
                                          int rank)
{
    return transport->ops->peer_memory(transport, memory, rank);
}

#endif
