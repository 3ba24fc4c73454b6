/* Varies a picture randomly: shifts, rotates, scales, mirrors and partly covers it, and changes its
 * light and background. All random numbers come from the caller's stream, so the same stream gives
 * the same result on every worker. Face training calls it for each picture of a batch. */
#ifndef TRAINYARD_TRAIN_DATA_AUGMENT_H
#define TRAINYARD_TRAIN_DATA_AUGMENT_H

#include "base/rand.h"

#include <stdbool.h>
#include <stdint.h>

struct augment {
    float shift; /* largest shift in each direction, as a fraction of the side */
    float turn;  /* largest rotation in each direction, in radians */
    /* limits the size of the area that is sampled, as a factor, to 1 - scale … 1 + scale */
    float scale;
    float gamma; /* limits the exponent of the brightness curve to 1/(1+gamma) … 1+gamma */
    float noise; /* standard deviation of the noise, for pixels from 0 to 1 */
    float cover; /* side of the largest covered square, as a fraction of the side; 0: no square */
    /* largest change of brightness outside of an oval at the centre, for pixels from 0 to 1 */
    float backdrop;
    bool mirror; /* mirror each picture with probability 1/2 */
};

/* Returns whether every number is from 0 to 1. */
bool augment_is_sane(const struct augment *augment);

/* A smooth change of the proportions of a face. Element 0 of each array stretches the picture
 * evenly. The other elements move the parts of the picture along waves that are as long as its
 * side. If all pictures of a person are reshaped in the same way, they look like pictures of
 * another person. */
struct augment_shape {
    float across[3], down[3]; /* horizontal and vertical movement, as fractions of the side */
};

/* Draws random elements from -highest to highest. */
struct augment_shape augment_shape_draw(struct rand *rand, float highest);

/* Reads side × side × channels interleaved bytes and writes as many floats. The floats are from 0
 * to 1, but noise may exceed these limits if `backdrop` is 0. If `shape` is NULL, the picture is
 * not reshaped. */
void augment_picture(const struct augment *augment, const struct augment_shape *shape,
                     struct rand *rand, const uint8_t *from, int side, int channels, float *to);

#endif
