/* Memory that processes of one machine can share: a memfd, mapped here and passed to peers as a
 * descriptor. It can be renewed: new memory is mapped at the same address, so that pointers into it
 * stay valid, and a peer that still maps the old memory can no longer write into the new one. It is
 * sealed against shrinking, so that a peer cannot make an access to it crash. Called by train for
 * gradients, by group and by the shm transport. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHARED_MEMORY_H
#define TRAINYARD_COMM_TRANSPORT_SHARED_MEMORY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct shared_memory {
    void *at; /* the address does not change */
    size_t size;
    int fd;
    bool handed; /* a peer may map it: renew it before a new group uses it */
};

/* The memory is zeroed. Pages take up memory when they are first used. `name` is for /proc. */
int shared_memory_new(const char *name, size_t size, struct shared_memory **ret, struct err *err);
struct shared_memory *shared_memory_free(struct shared_memory *memory); /* NULL-safe */
DEFINE_CLEANUP(shared_memory)

/* Maps new memory, which is zeroed, at the same address. On failure nothing has changed. */
int shared_memory_renew(struct shared_memory *memory, struct err *err);

/* Allocates every page now, so that a lack of memory is an error here and not a crash later. */
int shared_memory_populate(struct shared_memory *memory, struct err *err);

/* Maps memory of a peer for reading and writing. Fails if it can shrink or has less than `size`
 * bytes. Does not keep `fd`. The caller unmaps it with munmap(). */
int shared_memory_map_peer(int fd, size_t size, void **ret, struct err *err);

#endif
