/* A test with one run per seed: 1 to the count, or the seed in TRAINYARD_SIM_SEED, to repeat a
 * failure. */
#ifndef TRAINYARD_TESTS_SIM_SIM_SEEDS_H
#define TRAINYARD_TESTS_SIM_SIM_SEEDS_H

#include <stdint.h>

void sim_seeds_run(uint64_t count, void (*run)(uint64_t seed));

/* Returns TRAINYARD_SIM_SEEDS, or the default. */
uint64_t sim_seeds_requested(uint64_t usual);
/* Returns the default times TRAINYARD_TEST_SCALE. */
uint64_t sim_seeds_scaled(uint64_t usual);

#endif
