/* The state of the shared memory transport. Every member has a segment that the other members of
 * its host map. A segment has a page with the progress of the member, and three slots for data that
 * lies outside of shared memory. Memory that is shared as a whole (gradients) is also mapped by all
 * members of the host.
 *
 * Members synchronise with barriers. Between two barriers each member works on its part. A member
 * writes into its own slot before a barrier; the others may read the slot until two more barriers
 * have passed. A member uses its three slots in rotation, so that it never overwrites a slot that
 * another member may still read. While a member waits, it checks the control connections of the
 * group, which detect a lost, broken or absent member. Included by shm*.c only. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHM_SHM_PRIVATE_H
#define TRAINYARD_COMM_TRANSPORT_SHM_SHM_PRIVATE_H

#include "comm/transport/shm/host_links.h"
#include "comm/transport/transport.h"

#include <stdatomic.h>

enum {
    SHM_SLOTS = 3,
    SHM_CALLS = 2,
    SHM_PROGRESS_SIZE = 4096,
    SHM_NOT_SHARED = TRANSPORT_SHARED_MAX, /* value of shm_call.memory: the data is not in shared
                                            * memory */
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
    _Alignas(64) _Atomic uint32_t barriers; /* number of barriers that the member has reached; a
                                             * futex word */
    _Alignas(64) _Atomic uint32_t sleepers; /* number of members that sleep on `barriers` */
    _Alignas(64) struct shm_call calls[SHM_CALLS];
};

/* A memory that is shared as a whole. */
struct shm_memory {
    struct shared_memory *own;
    void *at[TRANSPORT_HOST_MAX]; /* by index: the mapping of each member's memory; own->at for this
                                   * member */
};

struct shm {
    struct transport transport;
    struct control *control;
    struct host_links *host;
    struct shared_memory *segment;
    char *segments[TRANSPORT_HOST_MAX]; /* by index: the mapping of each member's segment */
    struct shm_memory memories[TRANSPORT_SHARED_MAX];
    size_t memory_count;
    uint32_t barriers;               /* number of barriers that this member has reached */
    uint64_t blamed_call;            /* sequence of the last call for which shm_count_wait() ran */
    size_t calls;                    /* number of calls of shm_begin() */
    size_t turn;                     /* index of the slot that this member writes now */
    int64_t spin_ns;                 /* how long a wait spins before it sleeps */
    float *rows[TRANSPORT_HOST_MAX]; /* see transport_rows(); valid if `in_place` */
    bool in_place;
};

static inline struct shm_progress *shm_progress_of(const struct shm *shm, int index)
{
    return (struct shm_progress *)(void *)shm->segments[index];
}

/* See transport_begin() and transport_barrier(). */
int shm_begin(struct transport *transport, const void *data, struct err *err);
int shm_barrier(struct transport *transport, struct err *err);

#endif
