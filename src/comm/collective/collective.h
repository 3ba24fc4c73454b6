/* The collectives, one algorithm a file, and the choice among those that do the same. Called by
 * comm/group, which has checked the arguments. Every algorithm gives the same bits on every member
 * and in every run; two algorithms may differ in the last bit, so the choice depends on size,
 * number of members and who shares a machine alone. */
#ifndef TRAINYARD_COMM_COLLECTIVE_H
#define TRAINYARD_COMM_COLLECTIVE_H

#include "comm/transport/control.h"
#include "comm/transport/shm/shm.h"

/* How members reach each other. */
struct comm_links {
    struct transport_tcp *tcp;
    struct transport_shm *shm; /* NULL: no two members share memory */
    bool narrow;               /* large sums travel over TCP as bfloat16 */
};

/* Whether all of them share memory. */
bool comm_links_all_shared(const struct comm_links *links);

/* Some members, in order of rank, and where this one stands among them. */
struct collective_ranks {
    int *ranks;
    int count, index;
};

struct collective_allreduce {
    const char *name;
    /* Whether it can be done at all, `count` floats. */
    bool (*can)(const struct comm_links *links, size_t count);
    /* `among` some members only (NULL: all), which an algorithm over pairs of members and the ring
     * can; the others do nothing meanwhile. */
    int (*run)(const struct comm_links *links, const struct collective_ranks *among, float *data,
               size_t count, struct err *err);
};

extern const struct collective_allreduce collective_allreduce_shared;       /* in shared memory */
extern const struct collective_allreduce collective_allreduce_hierarchical; /* within, between */
extern const struct collective_allreduce collective_allreduce_direct;       /* one hop, all data */
extern const struct collective_allreduce collective_allreduce_doubling; /* log n hops, all data */
extern const struct collective_allreduce collective_allreduce_halving;  /* log n hops, twice */
extern const struct collective_allreduce collective_allreduce_ring;     /* n hops, least data */

/* What is best for so many floats. The same on every member; allreduce_choice.c has the table and
 * its reasons. `among`: between some members, over pairs. */
const struct collective_allreduce *collective_allreduce_choose(const struct comm_links *links,
                                                               size_t count);
const struct collective_allreduce *collective_allreduce_choose_among(size_t count);

/* NULL: there is none of this name. */
const struct collective_allreduce *collective_allreduce_by_name(const char *name);

/* A step between two members: send one piece to `rank` and receive one; either may be NULL. */
int collective_swap(const struct comm_links *links, int rank, const struct ring_piece *send,
                    const struct ring_piece *recv, bool narrow, struct err *err);

/* All members, in a list that the caller frees with free(ranks). */
struct collective_ranks collective_all_ranks(const struct comm_links *links);

/* For algorithms that need a power of two of members: of as many as there are too many, the first
 * ones pair up, the second of each gives its data to the first and gets the sum afterwards. */
struct collective_core {
    const struct collective_ranks *all;
    int count; /* a power of two */
    int pairs;
    int index; /* in the core; -1: this member only gives and gets */
};
struct collective_core collective_core_of(const struct collective_ranks *all);
int collective_core_rank(const struct collective_core *core, int index);
int collective_core_enter(const struct comm_links *links, const struct collective_core *core,
                          float *data, size_t count, bool narrow, struct err *err);
int collective_core_leave(const struct comm_links *links, const struct collective_core *core,
                          float *data, size_t count, bool narrow, struct err *err);

int collective_broadcast_ring(struct transport_tcp *tcp, int root, void *data, size_t size,
                              struct err *err);
int collective_allgather_ring(struct transport_tcp *tcp, size_t size, void *all, struct err *err);
int collective_barrier_direct(struct transport_tcp *tcp, struct err *err);

/* `from`: the index of a member that shares memory. */
int collective_broadcast_shared(struct transport_shm *shm, int from, void *data, size_t size,
                                struct err *err);
int collective_allgather_shared(struct transport_shm *shm, size_t size, void *all, struct err *err);
int collective_barrier_shared(struct transport_shm *shm, struct err *err);

#endif
