/* Varies a picture randomly: shifts, turns, scales, mirrors and partly covers it, and changes its
 * light and background. The random numbers come from the caller's stream, so that the result does
 * not depend on the number of workers. Called for each picture of a training batch. */
#ifndef TRAINYARD_TRAIN_DATA_AUGMENT_H
#define TRAINYARD_TRAIN_DATA_AUGMENT_H

#include "base/rand.h"

#include <stdbool.h>
#include <stdint.h>

struct augment {
    float shift;    /* largest shift in each direction, as a fraction of the side */
    float turn;     /* largest angle in each direction, in radians */
    float scale;    /* largest change of size, up or down, as a fraction */
    float gamma;    /* the exponent of the brightness curve is from 1/(1+gamma) to 1+gamma */
    float noise;    /* standard deviation of the noise, for pixels from 0 to 1 */
    float cover;    /* side of the largest covered square, as a fraction of the side; 0: none */
    float backdrop; /* largest change of brightness outside of an oval in the centre */
    bool mirror;    /* mirror half of the pictures */
};

/* Returns whether every value is from 0 to 1. */
bool augment_is_sane(const struct augment *augment);

/* A smooth change of the proportions of a face. `across` moves points horizontally, `down`
 * vertically. Element 0 scales evenly. Elements 1 and 2 are waves with one period per side of the
 * picture. If all pictures of a person are reshaped in the same way, they look like another
 * person. */
struct augment_shape {
    float across[3], down[3]; /* amplitudes, as fractions of the side; 0: no change */
};

/* Draws random amplitudes from -highest to highest. */
struct augment_shape augment_shape_draw(struct rand *rand, float highest);

/* Reads side × side × channels interleaved bytes and writes as many floats from 0 to 1. `shape` may
 * be NULL. */
void augment_picture(const struct augment *augment, const struct augment_shape *shape,
                     struct rand *rand, const uint8_t *from, int side, int channels, float *to);

#endif
