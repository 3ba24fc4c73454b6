/* Memory that processes of one machine can share: a memfd that is mapped by its owner and passed to
 * peers as a descriptor. To renew it, new memory is mapped at the same address: pointers into it
 * stay valid, and a peer that still maps the old memory cannot write into the new memory. The memfd
 * is sealed against shrinking, so that a peer cannot cause a SIGBUS in the owner. Called by train
 * for gradients, by the trainer's benchmark, by public.c, by group and by the shm transport. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHARED_MEMORY_H
#define TRAINYARD_COMM_TRANSPORT_SHARED_MEMORY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct shared_memory {
    void *at; /* address of the mapping, which never changes */
    size_t size;
    int fd;
    /* A peer may have mapped this memory: shared_memory_renew() must be called before another group
     * uses it. */
    bool was_shared;
};

/* Creates zeroed memory of `size` bytes, at least 1. Pages are allocated when they are first used.
 * `name` is shown in /proc. The caller frees *ret with shared_memory_free(). */
int shared_memory_new(const char *name, size_t size, struct shared_memory **ret, struct err *err);
struct shared_memory *
shared_memory_free(struct shared_memory *memory); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(shared_memory)

/* Replaces the memory by new, zeroed memory at the same address. On failure nothing has changed. */
int shared_memory_renew(struct shared_memory *memory, struct err *err);

/* Allocates every page now, so that a lack of memory is an error here and not a crash later. */
int shared_memory_populate(struct shared_memory *memory, struct err *err);

/* Maps memory of a peer for reading and writing. Fails if the memory can shrink or has less than
 * `size` bytes. The caller still owns `fd`, and unmaps *ret with munmap(). */
int shared_memory_map_peer(int fd, size_t size, void **ret, struct err *err);

#endif
