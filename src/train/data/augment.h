/* Random variations of a picture: shifted, turned, scaled, mirrored, partly covered, in another
 * light, in front of another wall. Random draws come from the caller's stream, so that N workers
 * vary a picture as one worker would. Called for each picture of a training batch. */
#ifndef TRAINYARD_TRAIN_DATA_AUGMENT_H
#define TRAINYARD_TRAIN_DATA_AUGMENT_H

#include "base/rand.h"

#include <stdbool.h>
#include <stdint.h>

struct augment {
    float shift;    /* largest shift in each direction, as a fraction of the side */
    float turn;     /* largest angle in each direction, in radians */
    float scale;    /* largest change of size, up or down, as a fraction */
    float gamma;    /* brightness curve: between 1/(1+gamma) and 1+gamma */
    float noise;    /* standard deviation, for pixels from 0 to 1 */
    float cover;    /* side of the largest covered square, as a fraction of the side; 0: none */
    float backdrop; /* largest change of brightness of the area around the centre */
    bool mirror;    /* mirror every second picture */
};

/* Whether every value is from 0 to 1. */
bool augment_is_sane(const struct augment *augment);

/* A smooth change of proportions: the parts of a face are moved by waves as long as the picture.
 * Applied to all pictures of a person in the same way, it makes another person. */
struct augment_shape {
    float across[3], down[3]; /* heights of the waves, as fractions of the side; 0: no change */
};

/* Draws waves of at most the height `highest`. */
struct augment_shape augment_shape_draw(struct rand *rand, float highest);

/* from: side × side × channels bytes, interleaved. to: the same as floats from 0 to 1. `shape` may
 * be NULL. */
void augment_picture(const struct augment *augment, const struct augment_shape *shape,
                     struct rand *rand, const uint8_t *from, int side, int channels, float *to);

#endif
