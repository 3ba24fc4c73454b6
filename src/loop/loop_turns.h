/* Statistics of a loop's turns. A turn is one iteration of the loop: all timers, deferred tasks and
 * I/O callbacks between two waits. The API server shows the statistics at /metrics. Must be read on
 * the loop thread. */
#ifndef TRAINYARD_LOOP_LOOP_TURNS_H
#define TRAINYARD_LOOP_LOOP_TURNS_H

#include "loop/loop.h"

#include <stddef.h>
#include <stdint.h>

enum { LOOP_TURN_BOUNDS = 14 };

/* Upper bounds of the buckets in seconds, in rising order. */
extern const double LOOP_TURN_BOUNDS_S[LOOP_TURN_BOUNDS];

struct loop_turn_histogram {
    uint64_t buckets[LOOP_TURN_BOUNDS + 1]; /* number of turns per bucket; the last bucket has the
                                               turns above all bounds */
    double sum_s;
    double longest_s;
};

struct loop_turns {
    struct loop_turn_histogram cpu;  /* CPU time of the loop thread */
    struct loop_turn_histogram wall; /* elapsed time without the wait for events */
};

/* Returns the statistics of the loop, or NULL in simulation, where turns take no time. */
const struct loop_turns *loop_turns(struct loop *loop);

/* Counts one turn of `ns` nanoseconds. */
void loop_turn_histogram_add(struct loop_turn_histogram *histogram, int64_t ns);

#endif
