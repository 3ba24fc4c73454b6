/* A picture as it might also have been taken: shifted, turned, scaled, mirrored, partly covered, at
 * another light, before another wall. Draws come from the caller's stream, so that N workers change
 * a picture as one would. Called for each picture of a training batch. */
#ifndef TRAINYARD_TRAIN_AUGMENT_H
#define TRAINYARD_TRAIN_AUGMENT_H

#include "base/rand.h"

#include <stdbool.h>
#include <stdint.h>

struct augment {
    float shift;    /* at most, each way, in parts of the side */
    float turn;     /* at most, each way, in radians */
    float scale;    /* at most, up or down, as a part */
    float gamma;    /* brightness curve: between 1/(1+gamma) and 1+gamma */
    float noise;    /* deviation, with pixels from 0 to 1 */
    float cover;    /* side of the largest covered square, in parts of the side; 0: none */
    float backdrop; /* how much lighter or darker what surrounds the middle gets at most */
    bool mirror;    /* every second picture */
};

/* Every value from 0 to 1. */
bool augment_is_sane(const struct augment *augment);

/* Other proportions, smoothly: where a face's parts lie, moved by waves as long as the picture.
 * Applied alike to all pictures of a person it makes another person. */
struct augment_shape {
    float across[3], down[3]; /* heights of the waves, in parts of the side; 0: as it is */
};

/* Each wave at most so high. */
struct augment_shape augment_shape_draw(struct rand *rand, float highest);

/* from: side × side × channels bytes, interleaved; to: the same as floats from 0 to 1. `shape` may
 * be NULL. */
void augment_picture(const struct augment *augment, const struct augment_shape *shape,
                     struct rand *rand, const uint8_t *from, int side, int channels, float *to);

#endif
