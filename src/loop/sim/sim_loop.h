/* A loop in virtual time: turns are instant, time jumps to the next timer, and what could happen in
 * any order on a machine (deferred tasks of one turn, timers due at once, work on the pool) happens
 * in an order drawn from the seed. The same seed gives the same run. */
#ifndef TRAINYARD_LOOP_SIM_SIM_LOOP_H
#define TRAINYARD_LOOP_SIM_SIM_LOOP_H

#include "loop/loop.h"

#include "base/rand.h"

struct loop *sim_loop_new(uint64_t seed, int64_t wall_start_ms);

/* The stream that faults are drawn from, so that a whole run hangs on one seed. */
struct rand *sim_loop_rand(struct loop *loop);

/* Run until nothing is left or virtual time has advanced so far; true if something is left. */
bool sim_loop_run_for(struct loop *loop, int64_t virtual_ms);

#endif
