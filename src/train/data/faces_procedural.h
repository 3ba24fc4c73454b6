/* Drawn faces of people who do not exist: training data for a machine that has none.
 *
 * A person is a set of traits drawn from (seed, person): shapes, tones, hair, glasses, beard. A
 * picture shows that person once, drawn from (seed, person, picture): turned, moved, lit from one
 * side, with an expression, in front of a background, noisy and perhaps half hidden. Pictures vary
 * so much that comparing pixels separates persons poorly, while the traits can be learned. Pure
 * functions: the same build gives the same pixels for the same numbers on every machine. */
#ifndef TRAINYARD_TRAIN_DATA_FACES_PROCEDURAL_H
#define TRAINYARD_TRAIN_DATA_FACES_PROCEDURAL_H

#include <stddef.h>
#include <stdint.h>

/* side × side pixels, RGB. */
void faces_draw(uint64_t seed, uint64_t person, uint64_t picture, size_t side, uint8_t *ret_rgb);

enum { FACES_NAME_MAX = 32 };

/* Writes "ada", "ben", …, and after the end of the list "ada-2". Usable as a folder name. */
void faces_name(uint64_t person, char text[FACES_NAME_MAX]);

#endif
