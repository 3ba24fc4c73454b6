/* Random numbers of three kinds: a seeded stream that gives the same draws on every machine
 * (simulation, training), a stream per key (so that N workers together draw what one worker would
 * draw), and bytes from the kernel that no attacker can guess. */
#ifndef TRAINYARD_BASE_RAND_H
#define TRAINYARD_BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

struct rand {
    uint64_t state[4];
};

void rand_init(struct rand *rand, uint64_t seed);
/* A separate stream per key, for example (seed, epoch, sample): equal keys give equal streams. */
void rand_init_keyed(struct rand *rand, uint64_t a, uint64_t b, uint64_t c);
uint64_t rand_next(struct rand *rand);
/* 0 … limit-1, unbiased; `limit` must be above 0. */
uint64_t rand_below(struct rand *rand, uint64_t limit);
double rand_unit(struct rand *rand);   /* [0, 1) */
double rand_normal(struct rand *rand); /* mean 0, standard deviation 1 */

/* Random bytes from the kernel. rand_uuid() writes a version 4 UUID. rand_suffix() writes the five
 * letters that generateName appends. */
void rand_secure(void *data, size_t size);
void rand_uuid(char text[37]);
void rand_suffix(char text[6]);

#endif
