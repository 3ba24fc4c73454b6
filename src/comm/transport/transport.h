/* A transport moves the data of a group between its members. Each one is an operations table
 * (struct transport_ops) in a folder of its own; transport.c lists them in order of preference. The
 * group opens them, the collectives use them, and both only through the functions below. A
 * transport knows nothing of membership: the control plane (control.h) numbers the calls and
 * detects lost members, and a transport asks it while it waits.
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
    TRANSPORT_HOST_MAX = 128,         /* members of one host that can share memory */
    TRANSPORT_SLOT_SIZE = 256 * 1024, /* bytes; small enough to stay in the cache of a core */
    TRANSPORT_SHARED_MAX = 8,         /* memories per group that can be shared as a whole */
};

struct transport_config {
    struct control *control; /* must outlive the calls to the transport, except transport_close() */
    struct connection_set *connections; /* the transport takes those that it uses */
    const char *pretended_host; /* for tests: splits one machine into several hosts; or NULL */
};

/* What every transport has; each one embeds it as the first member of its own struct. */
struct transport {
    const struct transport_ops *ops;
    /* Of a stream transport. */
    bool has_pairs; /* a plan may connect any two members, not only neighbours in the ring */
    /* Of a memory transport. */
    int count, index; /* the members of this host, and the place of this one among them, by rank */
    const int *leaders; /* by rank of the group: the lowest rank on the same host */
};

struct transport_ops {
    const char *name;
    enum transport_kind kind;
    /* A collective call of all members of the group. *ret is NULL if this transport cannot connect
     * any of them. Fails only if the group breaks. */
    int (*open)(const struct transport_config *config, struct transport **ret, struct err *err);
    void (*close)(struct transport *transport);

    /* Of a stream transport: see transport_run(). */
    int (*run)(struct transport *transport, const struct transfer_plan *plan, struct err *err);

    /* Of a memory transport: see the functions of the same names. */
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

/* A collective call: opens the most preferred transport of this kind that works. *ret is NULL if
 * none does. Fails only if the group breaks. */
int transport_open(enum transport_kind kind, const struct transport_config *config,
                   struct transport **ret, struct err *err);

/* NULL-safe; returns NULL. */
struct transport *transport_close(struct transport *transport);

/* ---- Stream transports ----------------------------------------------------------------------- */

/* Runs a plan to its end. A plan between pairs needs transport->has_pairs. */
static inline int transport_run(struct transport *transport, const struct transfer_plan *plan,
                                struct err *err)
{
    return transport->ops->run(transport, plan, err);
}

/* ---- Memory transports ----------------------------------------------------------------------- */

/* A collective call of the whole group: lets the members of the host write into each other's
 * `memory`, which must outlive the transport. Succeeds also if the memory cannot be shared: then
 * data in it passes through the slots. */
static inline int transport_share(struct transport *transport, struct shared_memory *memory,
                                  struct err *err)
{
    return transport->ops->share(transport, memory, err);
}

/* The first barrier of a call: returns when all members of the host are in the same call, each with
 * its own `data`. */
static inline int transport_begin(struct transport *transport, const void *data, struct err *err)
{
    return transport->ops->begin(transport, data, err);
}

/* A later barrier of the same call: returns when all members of the host have reached it. */
static inline int transport_barrier(struct transport *transport, struct err *err)
{
    return transport->ops->barrier(transport, err);
}

/* The `data` of the current call in the memory of each member of the host, by index. NULL unless it
 * lies at the same offset of the same shared memory for all of them. Valid after transport_begin().
 */
static inline float *const *transport_rows(const struct transport *transport)
{
    return transport->ops->rows(transport);
}

/* A slot of TRANSPORT_SLOT_SIZE bytes of the member `index`: the one that it wrote before the last
 * barrier (barriers_ago 1) or before the one before that (2). With 0 it is this member's own slot,
 * to write to until the next barrier. */
static inline void *transport_slot(const struct transport *transport, int index, int barriers_ago)
{
    return transport->ops->slot(transport, index, barriers_ago);
}

/* The address at which this member sees the `memory`-th shared memory of member `rank`; NULL if it
 * does not see it. For tests. */
static inline void *transport_peer_memory(const struct transport *transport, size_t memory,
                                          int rank)
{
    return transport->ops->peer_memory(transport, memory, rank);
}

#endif
