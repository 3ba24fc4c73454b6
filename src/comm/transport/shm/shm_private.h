/* The state of the shared memory transport. Every member has a segment that the other members of
 * its host map: a page that shows how far the member is, then three slots through which data passes
 * that lies elsewhere. Memory that is shared as a whole (gradients) is mapped by all members of the
 * host.
 *
 * Members pass barriers. Between two barriers each one works on its part. A member writes into its
 * own slot before a barrier; the others may read it until the second barrier after that. The three
 * slots take turns, so that a member never overwrites a slot that another may still read. While a
 * member waits it watches the control connections of the group, which detect a lost, broken or
 * absent member. Included by shm*.c only. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHM_SHM_PRIVATE_H
#define TRAINYARD_COMM_TRANSPORT_SHM_SHM_PRIVATE_H

#include "comm/transport/shm/host_links.h"
#include "comm/transport/transport.h"

#include <stdatomic.h>

enum {
    SHM_SLOTS = 3,
    SHM_CALLS = 2,
    SHM_PROGRESS_SIZE = 4096,
    SHM_NOT_SHARED = TRANSPORT_SHARED_MAX, /* in shm_call.memory: the data lies elsewhere */
};

/* A call as one member makes it. The others compare it with their own. */
struct shm_call {
    struct control_call_note note;
    int64_t came_ns;         /* when the member began it, by the monotonic clock of the machine */
    uint64_t memory, offset; /* place of the data in a memory that is shared as a whole */
};

/* The progress of a member, at the start of its segment. It has room for two calls, because a
 * member may begin the next one while another has not yet compared the current one. */
struct shm_progress {
    _Alignas(64) _Atomic uint32_t barriers; /* barriers that the member has reached; a futex word */
    _Alignas(64) _Atomic uint32_t sleepers; /* members that sleep on `barriers` */
    _Alignas(64) struct shm_call calls[SHM_CALLS];
};

/* A memory that is shared as a whole. */
struct shm_memory {
    struct shared_memory *own;
    void *at[TRANSPORT_HOST_MAX]; /* by index; that of this member is own->at */
};

struct shm {
    struct transport transport;
    struct control *control;
    struct host_links *host;
    struct shared_memory *segment;
    char *segments[TRANSPORT_HOST_MAX]; /* by index */
    struct shm_memory memories[TRANSPORT_SHARED_MAX];
    size_t memory_count;
    uint32_t barriers;               /* number of barriers that this member has reached */
    uint64_t blamed_call;            /* the last call whose late members were counted */
    size_t calls;                    /* calls of the group that began here; not all of them do */
    size_t turn;                     /* the slot that is written now */
    int64_t spin_ns;                 /* how long a wait spins before it sleeps */
    float *rows[TRANSPORT_HOST_MAX]; /* the data of the current call, if `in_place` */
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
