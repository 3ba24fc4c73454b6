/* The collectives: one algorithm per file, and the choice between the algorithms that do the same.
 * Called by group, which has checked the arguments and begun the call. Every algorithm produces the
 * same bits on every member and in every run. Two algorithms may differ in the last bit, so the
 * choice depends only on the size of the data, the number of members, and which of them share a
 * machine. */
#ifndef TRAINYARD_COMM_COLLECTIVE_COLLECTIVE_H
#define TRAINYARD_COMM_COLLECTIVE_COLLECTIVE_H

#include "comm/transport/transport.h"

/* How the members of a group reach each other. */
struct collective_transports {
    struct control *control;
    struct transport *streams; /* between all members */
    struct transport *memory;  /* between the members of each host; NULL: no two share memory */
    bool narrow;               /* large sums travel through `streams` as bfloat16 */
};

/* Whether all members of the group share memory. */
bool collective_all_shared(const struct collective_transports *transports);

/* Some members of the group, by rank, and the place of this one among them. */
struct collective_ranks {
    int *ranks;
    int count;
    int index; /* -1: this member is not one of them */
};

/* An all-reduce algorithm. */
struct collective_allreduce {
    const char *name;  /* as users write it */
    const char *needs; /* when it can be used, as the end of "it needs …" */
    /* Whether it can sum `count` floats with these transports. */
    bool (*can)(const struct collective_transports *transports, size_t count);
    /* Sums in place. `among`: only these members take part and the others do nothing meanwhile;
     * NULL: all of them. Only doubling, halving and ring support `among`. */
    int (*run)(const struct collective_transports *transports, const struct collective_ranks *among,
               float *data, size_t count, struct err *err);
};

extern const struct collective_allreduce collective_allreduce_shared; /* in shared memory */
extern const struct collective_allreduce
    collective_allreduce_hierarchical;                                  /* per host, then between */
extern const struct collective_allreduce collective_allreduce_direct;   /* one hop, all data */
extern const struct collective_allreduce collective_allreduce_doubling; /* log n hops, all data */
extern const struct collective_allreduce
    collective_allreduce_halving;                                   /* 2 log n hops, least data */
extern const struct collective_allreduce collective_allreduce_ring; /* 2 (n-1) hops, least data */

/* The best algorithm for `count` floats; the same on every member. allreduce_choice.c has the table
 * and its reasons. */
const struct collective_allreduce *
collective_allreduce_choose(const struct collective_transports *transports, size_t count);
/* The same for a sum between some members, over connections between pairs. */
const struct collective_allreduce *collective_allreduce_choose_among(size_t count);

/* All algorithms in turn, from index 0; NULL after the last. */
const struct collective_allreduce *collective_allreduce_at(size_t index);
/* NULL if no algorithm has this name. */
const struct collective_allreduce *collective_allreduce_by_name(const char *name);

/* One step between two members: sends a piece to `rank` and receives one from it. Either may be
 * NULL. */
int collective_swap(const struct collective_transports *transports, int rank,
                    const struct transfer_piece *send, const struct transfer_piece *recv,
                    bool narrow, struct err *err);

/* All members. The caller frees `ranks` of the result. */
struct collective_ranks collective_all_ranks(const struct collective_transports *transports);

/* The largest power of two of the members, for algorithms that need one. The first members pair up,
 * as many pairs as there are members too many: the second of each pair gives its data to the first
 * before the algorithm and receives the sum after it. */
struct collective_core {
    const struct collective_ranks *all;
    int count; /* a power of two */
    int pairs;
    int index; /* of this member in the core; -1: it is the second of a pair */
};
struct collective_core collective_core_of(const struct collective_ranks *all);
/* The rank of a member of the core. */
int collective_core_rank(const struct collective_core *core, int index);
/* Before and after the algorithm: move the data between the members of each pair. */
int collective_core_enter(const struct collective_transports *transports,
                          const struct collective_core *core, float *data, size_t count,
                          bool narrow, struct err *err);
int collective_core_leave(const struct collective_transports *transports,
                          const struct collective_core *core, float *data, size_t count,
                          bool narrow, struct err *err);

/* Copies `data` of rank `root` to all members. */
int collective_broadcast(const struct collective_transports *transports, int root, void *data,
                         size_t size, struct err *err);
/* `all` has `size` bytes per rank; this member's own are in place already. */
int collective_allgather(const struct collective_transports *transports, size_t size, void *all,
                         struct err *err);
/* Returns when all members have called it. */
int collective_barrier(const struct collective_transports *transports, struct err *err);

/* The same through the slots of shared memory; `from` is the index of a member of the host. */
int collective_broadcast_shared(struct transport *memory, int from, void *data, size_t size,
                                struct err *err);
int collective_allgather_shared(struct transport *memory, size_t size, void *all, struct err *err);

#endif
