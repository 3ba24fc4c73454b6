/* Implements a hash table from ids to row numbers; see embedding_index.h. */
#include "comm/ps/embedding_index.h"

#include "base/mem.h"
#include "base/rand.h"
#include "comm/ps/embedding_pages.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    SLOTS_FIRST = 1024,
    SLOTS_MAX = EMBEDDING_HUGE_PAGE / sizeof(struct embedding_slot),
    DEPTH_MAX = 24, /* 2^24 full segments have more rows than a row number can count */
};

static size_t segment_bytes(const struct embedding_segment *segment)
{
    return ((size_t)segment->mask + 1) * sizeof(struct embedding_slot);
}

static struct embedding_segment *segment_new(struct embedding_index *index, size_t slots, int depth)
{
    struct embedding_segment *segment = mem_zalloc(sizeof(*segment));
    segment->mask = (uint32_t)slots - 1;
    segment->depth = depth;
    /* The limit is between a half and three quarters of the slots, because searches get long in a
     * fuller segment. The limit differs per segment, so that not all segments grow at the same
     * time. */
    segment->limit = (uint32_t)(slots / 2 + embedding_hash(index->salt, (int64_t)index->created++) %
                                                (slots / 4));
    segment->slots = embedding_pages_map(segment_bytes(segment));
    index->bytes += segment_bytes(segment);
    return segment;
}

static void segment_free(struct embedding_index *index, struct embedding_segment *segment)
{
    index->bytes -= segment_bytes(segment);
    embedding_pages_unmap(segment->slots, segment_bytes(segment));
    free(segment);
}

void embedding_index_init(struct embedding_index *index)
{
    *index = (struct embedding_index){0};
    rand_secure(&index->salt, sizeof(index->salt));
    index->directory = mem_alloc(sizeof(struct embedding_segment *));
    index->directory[0] = segment_new(index, SLOTS_FIRST, 0);
}

void embedding_index_release(struct embedding_index *index)
{
    size_t entries = (size_t)1 << index->depth;
    for (size_t i = 0; index->directory && i < entries;) {
        struct embedding_segment *segment = index->directory[i];
        i += (size_t)1 << (index->depth - segment->depth);
        segment_free(index, segment);
    }
    free(index->directory);
    *index = (struct embedding_index){0};
}

static void segment_place(struct embedding_segment *segment, uint64_t hash, int64_t id,
                          uint32_t row)
{
    uint64_t at = hash;
    while (segment->slots[at & segment->mask].row)
        at++;
    segment->slots[at & segment->mask] = (struct embedding_slot){.id = id, .row = row};
    segment->used++;
}

/* Copies all entries of `from` to `low` or `high`. The first hash bit that the ids of `from` do not
 * all share decides: 0 for `low`, 1 for `high`. `low` and `high` may be the same segment. */
static void segment_distribute(const struct embedding_index *index,
                               const struct embedding_segment *from, struct embedding_segment *low,
                               struct embedding_segment *high)
{
    for (size_t i = 0; i <= from->mask; i++) {
        const struct embedding_slot *slot = &from->slots[i];
        if (!slot->row)
            continue;
        uint64_t hash = embedding_hash(index->salt, slot->id);
        bool upper = hash >> (63 - from->depth) & 1;
        segment_place(upper ? high : low, hash, slot->id, slot->row);
    }
}

static void index_double_directory(struct embedding_index *index)
{
    size_t entries = (size_t)1 << index->depth;
    struct embedding_segment **directory = mem_calloc(entries * 2, sizeof(*directory));
    for (size_t i = 0; i < entries; i++)
        directory[2 * i] = directory[2 * i + 1] = index->directory[i];
    free(index->directory);
    index->directory = directory;
    index->depth++;
}

/* Doubles or splits the segment to which `hash` belongs. */
static void index_grow(struct embedding_index *index, uint64_t hash)
{
    struct embedding_segment *full = embedding_index_segment(index, hash);
    struct embedding_segment *low, *high;
    if (full->mask + 1 < SLOTS_MAX) {
        low = high = segment_new(index, 2 * ((size_t)full->mask + 1), full->depth);
    } else {
        if (full->depth == DEPTH_MAX)
            mem_panic("an embedding table has more rows than it can count");
        if (full->depth == index->depth)
            index_double_directory(index);
        low = segment_new(index, SLOTS_MAX, full->depth + 1);
        high = segment_new(index, SLOTS_MAX, full->depth + 1);
    }
    segment_distribute(index, full, low, high);
    /* The directory entries that point to `full` are contiguous. Their lower half now gets `low`,
     * and their upper half `high`. */
    size_t count = (size_t)1 << (index->depth - full->depth);
    size_t first = (hash >> 1 >> (63 - index->depth)) & ~(count - 1);
    for (size_t i = 0; i < count; i++)
        index->directory[first + i] = i < count / 2 || count == 1 ? low : high;
    segment_free(index, full);
}

void embedding_index_add(struct embedding_index *index, int64_t id, uint32_t row)
{
    uint64_t hash = embedding_hash(index->salt, id);
    struct embedding_segment *segment;
    while (segment = embedding_index_segment(index, hash), segment->used >= segment->limit)
        index_grow(index, hash);
    segment_place(segment, hash, id, row);
}
