/* Fuzzes the parser of status.completedIndexes, which a user may have edited. The set must be in
 * order, and must read back the same after being written. */
#include "engine/controllers/job/indexes.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct job_indexes indexes, again;

    job_indexes_init(&indexes, arena);
    job_indexes_parse(&indexes, arena_strndup(arena, (const char *)data, size));
    for (size_t i = 0; i < indexes.count; i++) {
        const struct job_index_range *range = &indexes.ranges[i];

        if (range->first < 0 || range->last < range->first ||
            (i > 0 && range->first <= indexes.ranges[i - 1].last + 1))
            __builtin_trap();
    }
    job_indexes_init(&again, arena);
    job_indexes_parse(&again, job_indexes_text(&indexes));
    if (again.count != indexes.count)
        __builtin_trap();
    if (again.count && memcmp(again.ranges, indexes.ranges, again.count * sizeof(*again.ranges)))
        __builtin_trap();
    return 0;
}
