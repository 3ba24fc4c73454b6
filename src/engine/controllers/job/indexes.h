/* A set of completion indexes, written as status.completedIndexes writes it: "0-2,4". Kept as
 * ranges, so that a hundred thousand finished indexes in a row are one of them. */
#ifndef TRAINYARD_ENGINE_JOB_INDEXES_H
#define TRAINYARD_ENGINE_JOB_INDEXES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_index_range {
    int64_t first, last;
};

/* Ranges in order, with a gap between any two; in the arena. */
struct job_indexes {
    struct arena *arena;
    struct job_index_range *ranges;
    size_t count, capacity;
};

void job_indexes_init(struct job_indexes *indexes, struct arena *arena);

/* Add what a text says. Pieces that say nothing are skipped: only this program writes the field,
 * and a hand that spoilt it must not stop the job. */
void job_indexes_parse(struct job_indexes *indexes, const char *text);
char *job_indexes_text(const struct job_indexes *indexes);

void job_indexes_add(struct job_indexes *indexes, int64_t index);
bool job_indexes_has(const struct job_indexes *indexes, int64_t index);
int64_t job_indexes_size(const struct job_indexes *indexes, int64_t limit); /* those below it */
/* The lowest index from `from` on that is not in the set. */
int64_t job_indexes_next_missing(const struct job_indexes *indexes, int64_t from);

#endif
