/* A loop in virtual time: turns take no time, and the clock jumps to the next timer. Events that
 * may happen in any order on a machine (deferred tasks of one turn, timers due at the same time,
 * work on the pool) happen in an order drawn from the seed. The same seed gives the same run. */
#ifndef TRAINYARD_LOOP_SIM_SIM_LOOP_H
#define TRAINYARD_LOOP_SIM_SIM_LOOP_H

#include "loop/loop.h"

#include "base/rand.h"

struct loop *sim_loop_new(uint64_t seed, int64_t wall_start_ms);

/* The random stream of the loop. Tests draw faults from it, so that one seed determines a whole
 * run. */
struct rand *sim_loop_rand(struct loop *loop);

/* Runs until no event is left, or until virtual time has advanced by `virtual_ms`. Returns whether
 * an event is left. */
bool sim_loop_run_for(struct loop *loop, int64_t virtual_ms);

#endif
