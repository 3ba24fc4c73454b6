/* A picture as it might also have been taken: shifted, turned, scaled, mirrored, partly covered, at
 * another light. Draws come from the caller's stream, so that N workers change a picture as one
 * would. Called for each picture of a training batch. */
#ifndef TRAINYARD_TRAIN_AUGMENT_H
#define TRAINYARD_TRAIN_AUGMENT_H

#include "base/rand.h"

#include <stdbool.h>
#include <stdint.h>

struct augment {
    float shift; /* at most, each way, in parts of the side */
    float turn;  /* at most, each way, in radians */
    float scale; /* at most, up or down, as a part */
    float gamma; /* brightness curve: between 1/(1+gamma) and 1+gamma */
    float noise; /* deviation, with pixels from 0 to 1 */
    float cover; /* side of the largest covered square, in parts of the side; 0: none */
    bool mirror; /* every second picture */
};

/* Every value from 0 to 1. */
bool augment_is_sane(const struct augment *augment);

/* from: side × side × channels bytes, interleaved; to: the same as floats from 0 to 1. */
void augment_picture(const struct augment *augment, struct rand *rand, const uint8_t *from,
                     int side, int channels, float *to);

#endif
