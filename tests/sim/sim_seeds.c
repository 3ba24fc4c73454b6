/* See sim_seeds.h. */
#include "sim_seeds.h"

#include "test_scale.h"

#include <stdlib.h>

void sim_seeds_run(uint64_t count, void (*run)(uint64_t seed))
{
    const char *one = getenv("TRAINYARD_SIM_SEED");

    if (one) {
        run(strtoull(one, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= count; seed++)
        run(seed);
}

uint64_t sim_seeds_requested(uint64_t usual)
{
    const char *many = getenv("TRAINYARD_SIM_SEEDS");

    return many ? strtoull(many, NULL, 10) : usual;
}

uint64_t sim_seeds_scaled(uint64_t usual)
{
    return usual * test_scale();
}
