/* Randomness of three kinds: a seeded stream that gives the same draws everywhere (simulation,
 * training), draws keyed by what they are for (so that N workers draw what one would), and bytes
 * nobody can guess. */
#ifndef TRAINYARD_BASE_RAND_H
#define TRAINYARD_BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

struct rand {
    uint64_t state[4];
};

void rand_init(struct rand *rand, uint64_t seed);
/* A stream of its own for each key, e.g. (seed, epoch, sample): equal keys, equal stream. */
void rand_init_keyed(struct rand *rand, uint64_t a, uint64_t b, uint64_t c);
uint64_t rand_next(struct rand *rand);
uint64_t rand_below(struct rand *rand, uint64_t limit); /* 0 … limit-1, unbiased; limit > 0 */
double rand_unit(struct rand *rand);                    /* [0, 1) */
double rand_normal(struct rand *rand);                  /* mean 0, deviation 1 */

/* From the kernel. rand_uuid writes a version 4 UUID; rand_token the 5 letters of generateName. */
void rand_secure(void *data, size_t size);
void rand_uuid(char text[37]);
void rand_suffix(char text[6]);

#endif
