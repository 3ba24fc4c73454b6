/* The collectives, one algorithm a file, and the choice among those that do the same. Called by
 * comm/group, which has checked the arguments. Every algorithm gives the same bits on every member
 * and in every run; two algorithms may differ in the last bit, so the choice depends on size and
 * number of members alone. */
#ifndef TRAINYARD_COMM_COLLECTIVE_H
#define TRAINYARD_COMM_COLLECTIVE_H

#include "comm/transport_shm.h"
#include "comm/transport_tcp.h"

/* How members reach each other. */
struct comm_links {
    struct transport_tcp *tcp;
    struct transport_shm *shm; /* NULL: no two members share memory */
};

/* Whether all of them share memory. */
bool comm_links_all_shared(const struct comm_links *links);

struct collective_allreduce {
    const char *name;
    bool (*fits)(const struct comm_links *links, size_t count); /* of floats */
    int (*run)(const struct comm_links *links, float *data, size_t count, struct err *err);
};

extern const struct collective_allreduce collective_allreduce_shared; /* in shared memory */
extern const struct collective_allreduce collective_allreduce_direct; /* small: one hop */
extern const struct collective_allreduce collective_allreduce_ring;   /* any size */

/* The first that fits. */
const struct collective_allreduce *collective_allreduce_choose(const struct comm_links *links,
                                                               size_t count);

int collective_broadcast_ring(struct transport_tcp *tcp, void *data, size_t size, struct err *err);
int collective_allgather_ring(struct transport_tcp *tcp, size_t size, void *all, struct err *err);
int collective_barrier_direct(struct transport_tcp *tcp, struct err *err);

int collective_broadcast_shared(struct transport_shm *shm, void *data, size_t size,
                                struct err *err);
int collective_allgather_shared(struct transport_shm *shm, size_t size, void *all, struct err *err);
int collective_barrier_shared(struct transport_shm *shm, struct err *err);

#endif
