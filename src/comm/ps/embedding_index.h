/* A hash table from ids to row numbers. Every int64 is a valid id. The table uses open addressing
 * in segments of at most 2 MiB, which is one huge page. The upper bits of the hash of an id choose
 * the segment, and the lower bits choose the slot where the search begins. A full segment is
 * doubled or, at the maximum size, split into two. So each step of growth moves the entries of one
 * segment. Called by embedding_table, by one thread at a time; ps_batch uses only embedding_hash().
 */
#ifndef TRAINYARD_COMM_PS_EMBEDDING_INDEX_H
#define TRAINYARD_COMM_PS_EMBEDDING_INDEX_H

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
    uint32_t mask;  /* number of slots - 1 */
    uint32_t used;  /* number of used slots */
    uint32_t limit; /* a segment with this many used slots grows before the next id is added */
    int depth;      /* number of upper hash bits that all ids of this segment share */
};

struct embedding_index {
    uint64_t salt; /* random per index, so that a client cannot choose ids that collide */
    struct embedding_segment **directory; /* 2^depth entries, indexed by upper hash bits; several
                                           * may point to one segment */
    int depth;
    size_t bytes;     /* memory of all slots */
    uint64_t created; /* number of segments that were ever created */
};

void embedding_index_init(struct embedding_index *index);
void embedding_index_release(struct embedding_index *index);

/* Adds an id, which must not be in the index yet. `row` is its row number, counted from 1. */
void embedding_index_add(struct embedding_index *index, int64_t id, uint32_t row);

/* Returns the hash of an id. With the same salt, different ids have different hashes. */
static inline uint64_t embedding_hash(uint64_t salt, int64_t id)
{
    return hash_mix((uint64_t)id ^ salt);
}

/* Returns the segment of a hash. Shifts twice, because a shift by 64 bits is undefined and `depth`
 * may be 0. */
static inline struct embedding_segment *embedding_index_segment(const struct embedding_index *index,
                                                                uint64_t hash)
{
    return index->directory[hash >> 1 >> (63 - index->depth)];
}

/* Starts to load the slot of an id into the cache. Returns the hash of the id. */
static inline uint64_t embedding_index_prefetch(const struct embedding_index *index, int64_t id)
{
    uint64_t hash = embedding_hash(index->salt, id);
    const struct embedding_segment *segment = embedding_index_segment(index, hash);
    __builtin_prefetch(&segment->slots[hash & segment->mask], 0, 2);
    return hash;
}

/* Returns the row number of an id, counted from 1, or 0 if the id is not in the index. `hash` is
 * the hash of the id. */
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
