/* Memory that processes of one machine can share: a memfd, mapped here and handed to peers as a
 * descriptor. It can be renewed: fresh memory under the same address, so that pointers into it stay
 * good while whoever still holds the old memory can no longer write into ours. It cannot shrink, so
 * that no peer makes us fall off its end. Called by train (gradients) and by the transport in
 * shared memory. */
#ifndef TRAINYARD_COMM_SHARED_MEMORY_H
#define TRAINYARD_COMM_SHARED_MEMORY_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct shared_memory {
    void *at; /* for its whole life */
    size_t size;
    int fd;
    bool handed; /* somebody else may have it: to be renewed before it is relied on anew */
};

/* Zeroed; it takes up room when it is first used. */
int shared_memory_new(const char *name, size_t size, struct shared_memory **ret, struct err *err);
struct shared_memory *shared_memory_free(struct shared_memory *memory); /* NULL-safe */
DEFINE_CLEANUP(shared_memory)

/* The contents are zero afterwards; on failure nothing has changed. */
int shared_memory_renew(struct shared_memory *memory, struct err *err);

/* Every page is there afterwards: what the machine cannot give is an error now, not a crash later.
 */
int shared_memory_populate(struct shared_memory *memory, struct err *err);

/* Map what a peer has handed over, for reading and writing; refused if it can shrink or has less
 * than `size` bytes. Does not keep `fd`; ended with munmap(). */
int shared_memory_map_peer(int fd, size_t size, void **ret, struct err *err);

#endif
