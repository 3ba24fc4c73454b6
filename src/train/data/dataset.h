/* Data sets of persons: each person has a name and some pictures, from a folder of folders (one a
 * person) or drawn on demand (faces_procedural.h). What is asked for is named by position and
 * nothing depends on time, threads or the order of calls, so N workers see what one would see. All
 * functions but open and free may be called from several threads at once. */
#ifndef TRAINYARD_TRAIN_DATASET_H
#define TRAINYARD_TRAIN_DATASET_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct dataset;

enum {
    DATASET_PERSONS_MAX = 100000,
    DATASET_PICTURES_MAX = 100000, /* of one person */
    DATASET_SIDE_MAX = 1024,       /* pixels of a loaded picture, each way */
};

/* `path` holds one folder a person, each with PGM, PPM, PNG, JPEG or WebP files. Persons and
 * pictures are in the order of their names (digits as numbers: s2 before s10), hidden and other
 * files are left out, a person without a picture too. Nothing is decoded here: see
 * dataset_survey.h. */
int dataset_open_folder(const char *path, struct dataset **ret, struct err *err);

/* The pictures that lie in a folder themselves, as those of one person with the folder's name. */
int dataset_open_pictures(const char *path, struct dataset **ret, struct err *err);

/* Drawn faces: `persons` people with `pictures` each, all from the seed. */
int dataset_open_procedural(uint64_t seed, size_t persons, size_t pictures, struct dataset **ret,
                            struct err *err);

struct dataset *dataset_free(struct dataset *dataset);
DEFINE_CLEANUP(dataset)

size_t dataset_persons(const struct dataset *dataset);
size_t dataset_pictures(const struct dataset *dataset, size_t person);
size_t dataset_total(const struct dataset *dataset); /* pictures of all persons */
const char *dataset_person_name(const struct dataset *dataset, size_t person);

/* "40 people, 240 pictures, digest 1f2e3d4c": of the names of people and files and their sizes, as
 * they are now; pictures are not read. */
enum { DATASET_TEXT_MAX = 128 };
void dataset_describe(const struct dataset *dataset, char *text, size_t size);

/* The path of the file, or "procedural:SEED/PERSON/PICTURE": for messages and pages. */
void dataset_picture_name(const struct dataset *dataset, size_t person, size_t picture, char *text,
                          size_t size);

/* The picture's face where a survey looked for it, else its middle square, scaled to side × side,
 * as rows of pixels with interleaved channels (NHWC): 1 is grey, 3 is RGB. Floats are in [0, 1]. */
int dataset_load(const struct dataset *dataset, size_t person, size_t picture, size_t side,
                 size_t channels, float *ret_pixels, struct err *err);
int dataset_load_bytes(const struct dataset *dataset, size_t person, size_t picture, size_t side,
                       size_t channels, uint8_t *ret_pixels, struct err *err);

/* Whole persons held out: which of them depends on the seed and the number of persons alone. Both
 * lists are in ascending order; `items` of each is malloc'ed. */
struct dataset_persons_list {
    size_t *items;
    size_t count;
};
struct dataset_split {
    struct dataset_persons_list train, held_out;
};
int dataset_split_persons(const struct dataset *dataset, uint64_t seed, size_t held_out,
                          struct dataset_split *ret, struct err *err);
void dataset_split_release(struct dataset_split *split);

struct dataset_sample {
    size_t person;
    size_t picture;
};

/* The global batch of a step for metric learning: `batch_persons` different persons out of `from`,
 * each with `batch_pictures` pictures (different ones, as far as the person has so many), person by
 * person. The draw depends on (seed, step) alone, so a worker takes its share of the batch by
 * position. Every person comes once before any comes again within an epoch of steps. */
int dataset_draw_batch(const struct dataset *dataset, const struct dataset_persons_list *from,
                       uint64_t seed, uint64_t step, size_t batch_persons, size_t batch_pictures,
                       struct dataset_sample *ret_samples, struct err *err);

/* A permutation of 0 … count-1 for one epoch, from (seed, epoch) alone. */
void dataset_shuffle(uint64_t seed, uint64_t epoch, size_t count, size_t *ret_order);

#endif
