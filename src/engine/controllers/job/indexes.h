/* A set of completion indexes, read and written in the notation of status.completedIndexes:
 * "0-2,4". The set consists of ranges, so that 100000 finished indexes in a row are one range. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_JOB_INDEXES_H
#define TRAINYARD_ENGINE_CONTROLLERS_JOB_INDEXES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both ends belong to the range. */
struct job_index_range {
    int64_t first, last;
};

/* Sorted ranges in the arena. At least one index is missing between two ranges. */
struct job_indexes {
    struct arena *arena;
    struct job_index_range *ranges;
    size_t count, capacity;
};

void job_indexes_init(struct job_indexes *indexes, struct arena *arena);

/* Adds the indexes of a text. Invalid parts are skipped: the text comes from a status field that
 * only this program should write, and a user's wrong edit must not stop the job. */
void job_indexes_parse(struct job_indexes *indexes, const char *text);
/* Returns the set as text, in the arena of the set. */
char *job_indexes_text(const struct job_indexes *indexes);

void job_indexes_add(struct job_indexes *indexes, int64_t index);
bool job_indexes_has(const struct job_indexes *indexes, int64_t index);
/* Returns how many indexes below `limit` are in the set. */
int64_t job_indexes_size(const struct job_indexes *indexes, int64_t limit);
/* Returns the lowest index at or above `from` that is not in the set. */
int64_t job_indexes_next_missing(const struct job_indexes *indexes, int64_t from);

#endif
