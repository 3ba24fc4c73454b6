/* Draws faces of people who do not exist, as training data for users who have none. dataset.c calls
 * it for each picture of a generated data set.
 *
 * seed and person decide the traits of a person: shapes, tones, hair, glasses, beard. seed, person
 * and picture decide the rest of a picture: pose, light, expression, background, noise, and perhaps
 * an object in front of the face. Pictures of one person vary so much that a comparison of pixels
 * hardly separates persons, but a model can learn the traits. */
#ifndef TRAINYARD_TRAIN_DATA_FACES_PROCEDURAL_H
#define TRAINYARD_TRAIN_DATA_FACES_PROCEDURAL_H

#include <stddef.h>
#include <stdint.h>

/* Sets side × side pixels of interleaved RGB. The pixels depend only on the numbers that are
 * passed. */
void faces_draw(uint64_t seed, uint64_t person, uint64_t picture, size_t side, uint8_t *ret_rgb);

enum { FACES_NAME_MAX = 32 };

/* Writes "ada", "ben", …, and after the end of the list "ada-2". The name is a valid folder
 * name. */
void faces_name(uint64_t person, char text[FACES_NAME_MAX]);

#endif
