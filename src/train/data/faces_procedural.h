/* Drawn faces of people who do not exist: what there is to train on when there is no data.
 *
 * A person is a set of traits drawn from (seed, person): shapes, tones, hair, glasses, beard. A
 * picture is that person seen once, drawn from (seed, person, picture): turned, moved, lit from
 * somewhere, with some expression, in front of something, noisy and perhaps half hidden. Pictures
 * vary so much that comparing pixels tells people apart poorly, while the traits are there to be
 * learnt. Pure: the same numbers give the same pixels on every machine's same build.
 */
#ifndef TRAINYARD_TRAIN_FACES_PROCEDURAL_H
#define TRAINYARD_TRAIN_FACES_PROCEDURAL_H

#include <stddef.h>
#include <stdint.h>

/* side × side pixels, RGB. */
void faces_draw(uint64_t seed, uint64_t person, uint64_t picture, size_t side, uint8_t *ret_rgb);

enum { FACES_NAME_MAX = 32 };

/* "ada", "ben", …, and past the end of the list "ada-2": fit for a folder. */
void faces_name(uint64_t person, char text[FACES_NAME_MAX]);

#endif
