/* A test that is one run for each seed. Which ones: 1 to the count, or the one that the environment
 * asks for (TRAINYARD_SIM_SEED), to see a failure again. */
#ifndef TRAINYARD_TESTS_SIM_SIM_SEEDS_H
#define TRAINYARD_TESTS_SIM_SIM_SEEDS_H

#include <stdint.h>

void sim_seeds_run(uint64_t count, void (*run)(uint64_t seed));

/* TRAINYARD_SIM_SEEDS, or the default. */
uint64_t sim_seeds_asked(uint64_t usual);
/* The default, times TRAINYARD_TEST_SCALE. */
uint64_t sim_seeds_scaled(uint64_t usual);

#endif
