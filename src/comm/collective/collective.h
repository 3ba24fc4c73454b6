/* The collectives: one algorithm per file, and the choice between the all-reduce algorithms. Called
 * by group, which has begun the call (control_begin_call()); the trainer's benchmark calls only the
 * functions that list algorithms. An algorithm produces the same bits on every member and in every
 * run with the same members and placement. Two algorithms may round differently, so the choice
 * depends only on the size of the data, the number of members, and which members share a machine.
 * All functions fail only if the group breaks. */
#ifndef TRAINYARD_COMM_COLLECTIVE_COLLECTIVE_H
#define TRAINYARD_COMM_COLLECTIVE_COLLECTIVE_H

#include "comm/transport/transport.h"

/* How the members of a group reach each other. */
struct collective_transports {
    struct control *control;
    struct transport *streams; /* between all members */
    /* Between the members of each host; NULL: no two members of the group share memory. */
    struct transport *memory;
    bool narrow; /* large sums are sent through `streams` as bfloat16 */
};

/* Whether all members of the group share memory. */
bool collective_all_shared(const struct collective_transports *transports);

/* Some members of the group, by rank, and the position of this member among them. */
struct collective_ranks {
    int *ranks;
    int count;
    int index; /* position of this member in `ranks`; -1: it is not in `ranks` */
};

/* An all-reduce algorithm. */
struct collective_allreduce {
    const char *name;  /* the name that users select it by */
    const char *needs; /* condition for its use; completes the text "it needs …" */
    /* Whether the algorithm can sum `count` floats with these transports. */
    bool (*can)(const struct collective_transports *transports, size_t count);
    /* Sums `data` over the members, in place. If `among` is not NULL, only the members in `among`
     * call it and take part. Only doubling, halving and ring support `among`. */
    int (*run)(const struct collective_transports *transports, const struct collective_ranks *among,
               float *data, size_t count, struct err *err);
};

/* In shared memory, if all members share memory. */
extern const struct collective_allreduce collective_allreduce_shared;
/* In the shared memory of each host, then between the hosts. */
extern const struct collective_allreduce collective_allreduce_hierarchical;
/* One step: every member sends all its data to every other member. */
extern const struct collective_allreduce collective_allreduce_direct;
/* About log n steps for n members: in each step a member sends all its data to one other member. */
extern const struct collective_allreduce collective_allreduce_doubling;
/* About 2 log n steps: if n is a power of two, a member sends 2 (n-1)/n times its data in total. */
extern const struct collective_allreduce collective_allreduce_halving;
/* 2 (n-1) steps around the ring: a member sends 2 (n-1)/n times its data in total. */
extern const struct collective_allreduce collective_allreduce_ring;

/* Returns the algorithm that was fastest in measurements for `count` floats; it is the same on
 * every member. allreduce_choice.c has the table and the measurements. */
const struct collective_allreduce *
collective_allreduce_choose(const struct collective_transports *transports, size_t count);
/* Like collective_allreduce_choose(), but for a sum over some of the members. The streams must have
 * a connection between each two members (transport.has_pairs). */
const struct collective_allreduce *collective_allreduce_choose_among(size_t count);

/* Returns algorithm number `index`, counted from 0, or NULL after the last. */
const struct collective_allreduce *collective_allreduce_at(size_t index);
/* Returns NULL if no algorithm has this name. */
const struct collective_allreduce *collective_allreduce_by_name(const char *name);

/* One step between two members: sends a piece to `rank` and receives a piece from it. `send` or
 * `recv` may be NULL. The streams must have transport.has_pairs. */
int collective_swap(const struct collective_transports *transports, int rank,
                    const struct transfer_piece *send, const struct transfer_piece *recv,
                    bool narrow, struct err *err);

/* Returns the ranks of all members. The caller frees `ranks` of the result. */
struct collective_ranks collective_all_ranks(const struct collective_transports *transports);

/* The core: some of the members, for algorithms that need a power of two. Its size is the largest
 * power of two that is not greater than the number of members. The first members form pairs, one
 * pair per surplus member. The second member of a pair is outside of the core: it sends its data to
 * the first before the algorithm, and receives the sum after the algorithm. */
struct collective_core {
    const struct collective_ranks *all;
    int count; /* number of members of the core; a power of two */
    int pairs; /* number of pairs */
    int index; /* position of this member in the core; -1: it is the second of a pair */
};
/* Returns the core of the members in `all`, which must outlive it. */
struct collective_core collective_core_of(const struct collective_ranks *all);
/* Returns the rank of member `index` of the core. */
int collective_core_rank(const struct collective_core *core, int index);
/* Before the algorithm: adds the data of the second member of each pair to that of the first. */
int collective_core_enter(const struct collective_transports *transports,
                          const struct collective_core *core, float *data, size_t count,
                          bool narrow, struct err *err);
/* After the algorithm: copies the sum from the first member of each pair to the second. */
int collective_core_leave(const struct collective_transports *transports,
                          const struct collective_core *core, float *data, size_t count,
                          bool narrow, struct err *err);

/* Copies `data` of rank `root` to all members. */
int collective_broadcast(const struct collective_transports *transports, int root, void *data,
                         size_t size, struct err *err);
/* Fills `all` with `size` bytes per rank. This member's own bytes must be in place already. */
int collective_allgather(const struct collective_transports *transports, size_t size, void *all,
                         struct err *err);
/* Returns when all members have called it. */
int collective_barrier(const struct collective_transports *transports, struct err *err);

/* Broadcast and all-gather between the members of one host, through the slots of shared memory.
 * `from` is the index on the host of the member whose data is copied. */
int collective_broadcast_shared(struct transport *memory, int from, void *data, size_t size,
                                struct err *err);
int collective_allgather_shared(struct transport *memory, size_t size, void *all, struct err *err);

#endif
