/* Shared memory between the members of a group that share a machine. Every member has a segment
 * that the others of its host map: a line that says how far it is, and three slots through which
 * data passes that lies elsewhere. Memory that is shared as a whole (a gradient arena) is mapped
 * by all, and all-reduced in place.
 *
 * Members meet, and between two meetings each one does its part. What is written into the own slot
 * before a meeting may be read by all until the meeting after the next; the slots take turns so
 * that this needs no further care. While it waits, a member listens to the TCP connections of the
 * group: a lost, broken or absent member is noticed there and named. Called by comm/group and by
 * the collectives in shared memory. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHM_H
#define TRAINYARD_COMM_TRANSPORT_SHM_H

#include "base/err.h"
#include "comm/transport/control.h"
#include "comm/transport/shared_memory.h"

#include <stdbool.h>
#include <stddef.h>

struct transport_shm;

enum {
    TRANSPORT_SHM_SLOT = 256 * 1024, /* bytes; small enough to stay in a core's cache */
    TRANSPORT_SHM_ARENAS = 8,        /* memories shared as a whole */
};

/* A collective call. *ret is NULL where no two members share a machine. `pretend`: see
 * host_links.h. An error only if the group is broken. */
int transport_shm_open(struct transport_tcp *tcp, const char *pretend, struct transport_shm **ret,
                       struct err *err);
struct transport_shm *transport_shm_free(struct transport_shm *shm);

/* A collective call: let the members of the host write into each other's `memory`, which must
 * outlive this. Memory that cannot be shared works all the same, through the slots. */
int transport_shm_share(struct transport_shm *shm, struct shared_memory *memory, struct err *err);

int transport_shm_count(const struct transport_shm *shm); /* of members on this host */
int transport_shm_index(const struct transport_shm *shm); /* of this one among them, by rank */
/* By rank of the group: the lowest rank on the same host. */
int transport_shm_leader(const struct transport_shm *shm, int rank);

/* The first meeting of a call: all members of the host are in the same call, with `data`. */
int transport_shm_begin(struct transport_shm *shm, const void *data, struct err *err);
/* A later one: all have done what was to do since the last. */
int transport_shm_meet(struct transport_shm *shm, struct err *err);

/* Where `data` of the current call lies in each member's memory, by index; NULL unless it lies at
 * the same place of memory shared as a whole, for every member of the host. After the beginning. */
float *const *transport_shm_rows(const struct transport_shm *shm);

/* Slots of a member. To write (only the own): until the next meeting. Last, second last: what was
 * written before the last meeting, or the one before. */
void *transport_shm_slot(const struct transport_shm *shm, int index);
void *transport_shm_slot_last(const struct transport_shm *shm, int index);
void *transport_shm_slot_second_last(const struct transport_shm *shm, int index);

/* Where this member sees the memory that another shares as the `arena`-th; NULL if it does not. */
void *transport_shm_arena_at(const struct transport_shm *shm, size_t arena, int rank);

#endif
