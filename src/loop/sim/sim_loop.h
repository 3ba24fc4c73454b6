/* A loop in virtual time: turns take no time, and the clock jumps to the next timer. Some events
 * may happen in any order on a real machine: deferred tasks of one turn, timers that are due at the
 * same time, and work on the thread pool. Here their order is random and depends on the seed. The
 * same seed gives the same run. */
#ifndef TRAINYARD_LOOP_SIM_SIM_LOOP_H
#define TRAINYARD_LOOP_SIM_SIM_LOOP_H

#include "loop/loop.h"

#include "base/rand.h"

struct loop *sim_loop_new(uint64_t seed, int64_t wall_start_ms);

/* Returns the random generator of the loop. Tests use it to choose faults, so that one seed
 * determines a whole run. */
struct rand *sim_loop_rand(struct loop *loop);

/* Runs until no event is left, or until virtual time has advanced by `virtual_ms`. Returns true if
 * an event is left. */
bool sim_loop_run_for(struct loop *loop, int64_t virtual_ms);

#endif
