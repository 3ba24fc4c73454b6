/* A loop in virtual time: turns take no time, and the clock jumps to the next timer. The order is
 * random for the deferred tasks of one turn, for timers that are due at the same time, and for work
 * on the thread pool. So a test can find code that relies on an order. The seed determines all
 * random choices: the same seed gives the same run. */
#ifndef TRAINYARD_LOOP_SIM_SIM_LOOP_H
#define TRAINYARD_LOOP_SIM_SIM_LOOP_H

#include "loop/loop.h"

#include "base/rand.h"

/* Creates a loop whose virtual time begins at 0. `wall_start_ms` is the Unix wall time at that
 * moment. The caller frees the loop with loop_free(), which drops pending work without calling
 * `work` or `done`. */
struct loop *sim_loop_new(uint64_t seed, int64_t wall_start_ms);

/* Returns the random generator of the loop. Tests use it to choose faults, so that one seed
 * determines a whole run. */
struct rand *sim_loop_rand(struct loop *loop);

/* Runs all tasks and timers of the next `virtual_ms`, and advances virtual time by that amount.
 * loop_stop() ends the run earlier. Returns true if a task or timer is left. */
bool sim_loop_run_for(struct loop *loop, int64_t virtual_ms);

#endif
