/* Draws faces of people who do not exist, as training data for users who have none.
 *
 * (seed, person) decides the traits of a person: shapes, tones, hair, glasses, beard. (seed,
 * person, picture) decides the rest of a picture: pose, light, expression, background, noise, and
 * perhaps an object in front of the face. Pictures of one person vary so much that comparing pixels
 * separates persons poorly, but a model can learn the traits. The same build draws the same pixels
 * for the same numbers on every machine. */
#ifndef TRAINYARD_TRAIN_DATA_FACES_PROCEDURAL_H
#define TRAINYARD_TRAIN_DATA_FACES_PROCEDURAL_H

#include <stddef.h>
#include <stdint.h>

/* Sets side × side pixels, RGB. */
void faces_draw(uint64_t seed, uint64_t person, uint64_t picture, size_t side, uint8_t *ret_rgb);

enum { FACES_NAME_MAX = 32 };

/* Writes "ada", "ben", …, and after the end of the list "ada-2". The name is valid as a folder
 * name. */
void faces_name(uint64_t person, char text[FACES_NAME_MAX]);

#endif
