/* Random numbers from two sources. A generator with a seed is for random numbers that need not be
 * secret, for example in simulation and training. It returns the same numbers on every machine;
 * only rand_normal() also depends on the C library. If it is seeded with a key such as a sample
 * number (rand_init_keyed()), N workers together draw the same numbers as one worker would. Bytes
 * from the kernel are for values that an attacker must not guess. */
#ifndef TRAINYARD_BASE_RAND_H
#define TRAINYARD_BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

struct rand {
    uint64_t state[4];
};

void rand_init(struct rand *rand, uint64_t seed);
/* Seeds the generator with a key of three numbers, for example (seed, epoch, sample). Equal keys
 * give equal random numbers. */
void rand_init_keyed(struct rand *rand, uint64_t a, uint64_t b, uint64_t c);
uint64_t rand_next(struct rand *rand);
/* Returns a number from 0 to limit-1 with equal probability. `limit` must be above 0. */
uint64_t rand_below(struct rand *rand, uint64_t limit);
double rand_unit(struct rand *rand);   /* uniform in [0, 1) */
double rand_normal(struct rand *rand); /* normal distribution, mean 0, standard deviation 1 */

/* These functions get random bytes from the kernel. rand_secure() fills `data` with them.
 * rand_uuid() writes a version 4 UUID. rand_suffix() writes five lower-case letters and digits, as
 * Kubernetes appends them to metadata.generateName. */
void rand_secure(void *data, size_t size);
void rand_uuid(char text[37]);
void rand_suffix(char text[6]);

#endif
