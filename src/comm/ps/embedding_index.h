/* From ids to row numbers, without collisions: every int64 is an id, and each has its own row.
 * Open addressing in segments of at most 2 MiB, one huge page; the upper bits of an id's hash
 * choose the segment, the lower bits the place in it. A segment that is full is doubled, or, at its
 * largest, split into two, so that growth costs one segment's time and never the whole table's.
 * Called by embedding_table; one thread at a time. */
#ifndef TRAINYARD_COMM_EMBEDDING_INDEX_H
#define TRAINYARD_COMM_EMBEDDING_INDEX_H

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

struct embedding_slot {
    int64_t id;
    uint32_t row; /* counted from 1; 0: the slot is free */
    uint32_t unused;
};

struct embedding_segment {
    struct embedding_slot *slots;
    uint32_t mask; /* slots - 1 */
    uint32_t used, limit;
    int depth; /* how many upper bits of the hash all ids in it share */
};

struct embedding_index {
    uint64_t salt; /* drawn for each index: who chooses ids cannot choose where they crowd */
    struct embedding_segment **directory; /* 2^depth, by the upper bits; neighbours may be one */
    int depth;
    size_t bytes;  /* of all slots */
    uint64_t made; /* segments, ever */
};

void embedding_index_init(struct embedding_index *index);
void embedding_index_release(struct embedding_index *index);

/* An id that is not there yet. */
void embedding_index_add(struct embedding_index *index, int64_t id, uint32_t row);

/* A bijection, so that ids differ in their hashes, too. */
static inline uint64_t embedding_hash(uint64_t salt, int64_t id)
{
    return hash_mix((uint64_t)id ^ salt);
}

static inline struct embedding_segment *embedding_index_segment(const struct embedding_index *index,
                                                                uint64_t hash)
{
    return index->directory[hash >> 1 >> (63 - index->depth)];
}

/* Ask the memory for the slot an id will be looked for in; returns the id's hash. */
static inline uint64_t embedding_index_prefetch(const struct embedding_index *index, int64_t id)
{
    uint64_t hash = embedding_hash(index->salt, id);
    const struct embedding_segment *segment = embedding_index_segment(index, hash);
    __builtin_prefetch(&segment->slots[hash & segment->mask], 0, 2);
    return hash;
}

/* The row of an id, or 0. */
static inline uint32_t embedding_index_find(const struct embedding_index *index, int64_t id,
                                            uint64_t hash)
{
    const struct embedding_segment *segment = embedding_index_segment(index, hash);
    for (uint64_t at = hash;; at++) {
        const struct embedding_slot *slot = &segment->slots[at & segment->mask];
        if (slot->row == 0 || slot->id == id)
            return slot->row;
    }
}

#endif
