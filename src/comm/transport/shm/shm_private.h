/* The state of the shared memory transport. Every member has a segment that the other members of
 * its host map. A segment has a page with the progress of the member, and three slots for data that
 * lies outside of shared memory. The memory of transport_share() (gradients) is also mapped by all
 * members of the host.
 *
 * Members synchronise with barriers. Between two barriers each member works on its part. A member
 * writes into its own slot before a barrier; the others may read the slot until two more barriers
 * have passed. A member uses its three slots in rotation, so that it never overwrites a slot that
 * another member may still read. While a member waits, it checks the control connections of the
 * group, which detect a lost, silent or late member. Included by shm*.c only. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHM_SHM_PRIVATE_H
#define TRAINYARD_COMM_TRANSPORT_SHM_SHM_PRIVATE_H

#include "comm/transport/shm/host_links.h"
#include "comm/transport/transport.h"

#include <stdatomic.h>

enum {
    SHM_SLOTS = 3,            /* per segment */
    SHM_CALLS = 2,            /* see struct shm_progress */
    SHM_PROGRESS_SIZE = 4096, /* bytes before the slots of a segment */
    /* value of shm_call.memory: the data is not in shared memory */
    SHM_NOT_SHARED = TRANSPORT_SHARED_MAX,
};

/* A call, as described by one member. The other members compare it with their own. */
struct shm_call {
    struct control_call_note note;
    int64_t came_ns;         /* when the member began the call (monotonic) */
    uint64_t memory, offset; /* place of the data: index in shm.memories, and offset in bytes */
};

/* The progress of a member, at the start of its segment. It has room for two calls, because a
 * member may begin the next call before another member has compared the current call. */
struct shm_progress {
    /* number of barriers that the member has reached; a futex word */
    _Alignas(64) _Atomic uint32_t barriers;
    _Alignas(64) _Atomic uint32_t sleepers; /* number of members that sleep on `barriers` */
    _Alignas(64) struct shm_call calls[SHM_CALLS];
};

/* A memory of transport_share(). */
struct shm_memory {
    struct shared_memory *own; /* the memory of this member */
    /* by index on the host: the mapping of the memory of each member; own->at for this member */
    void *at[TRANSPORT_HOST_MAX];
};

struct shm {
    struct transport transport;
    struct control *control;
    struct host_links *host;
    struct shared_memory *segment; /* the segment of this member */
    /* by index on the host: the mapping of the segment of each member */
    char *segments[TRANSPORT_HOST_MAX];
    struct shm_memory memories[TRANSPORT_SHARED_MAX];
    size_t memory_count;
    uint32_t barriers;     /* number of barriers that this member has reached */
    uint64_t counted_call; /* sequence of the latest call for which shm_count_wait() ran */
    size_t calls;          /* number of calls of shm_begin() */
    size_t slot;           /* index of the slot that this member writes now */
    int64_t spin_ns;       /* how long a wait spins before it sleeps */
    float *rows[TRANSPORT_HOST_MAX]; /* see transport_rows(); valid if `in_place` */
    bool in_place; /* the data of the current call is in shared memory on all members */
};

static inline struct shm_progress *shm_progress_of(const struct shm *shm, int index)
{
    return (struct shm_progress *)(void *)shm->segments[index];
}

/* See transport_begin() and transport_barrier(). */
int shm_begin(struct transport *transport, const void *data, struct err *err);
int shm_barrier(struct transport *transport, struct err *err);

#endif
