/* Data sets of persons. Each person has a name and some pictures. The pictures come from a folder
 * with one subfolder per person, or are generated when they are loaded (faces_procedural.h). The
 * face model trains and evaluates on data sets, and serving shows them. The results do not depend
 * on time, threads or the order of calls, so they are the same with any number of workers.
 * Functions that take a const data set may be called from several threads at the same time. */
#ifndef TRAINYARD_TRAIN_DATA_DATASET_H
#define TRAINYARD_TRAIN_DATA_DATASET_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct dataset;

enum {
    DATASET_PERSONS_MAX = 100000,
    DATASET_PICTURES_MAX = 100000, /* limit per person */
    DATASET_SIDE_MAX = 1024,       /* pixels per side of a loaded picture */
};

/* Opens a folder with one subfolder per person, each with PGM, PPM, PNG, JPEG or WebP files.
 * Persons and pictures are ordered by name (digits as numbers: s2 before s10). Hidden files and
 * folders, other files, and persons without a picture are left out. Symbolic links are followed.
 * The pictures are not decoded; see dataset_survey.h. The caller frees the data set. Returns
 * -ERR_NOT_FOUND if the folder has no pictures, -ERR_TOO_MANY beyond the limits above, or the error
 * of a directory that cannot be read. */
int dataset_open_folder(const char *path, struct dataset **ret, struct err *err);

/* Like dataset_open_folder(), but opens the pictures that lie directly in the folder, as one person
 * with the name of the folder. */
int dataset_open_pictures(const char *path, struct dataset **ret, struct err *err);

/* Opens generated faces: `persons` persons with `pictures` pictures each, all derived from the
 * seed. The caller frees the data set. Returns -ERR_INVALID if a number is 0 or beyond the limits
 * above. */
int dataset_open_procedural(uint64_t seed, size_t persons, size_t pictures, struct dataset **ret,
                            struct err *err);

struct dataset *dataset_free(struct dataset *dataset); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(dataset)

size_t dataset_persons(const struct dataset *dataset);
size_t dataset_pictures(const struct dataset *dataset, size_t person);
size_t dataset_total(const struct dataset *dataset); /* number of pictures of all persons */
const char *dataset_person_name(const struct dataset *dataset, size_t person);

/* Writes "40 people, 240 pictures, digest 1f2e3d4c", or "40 drawn people, …" for generated faces.
 * The digest covers the names and the numbers of pictures of the persons. It also covers the names
 * and current sizes of the files, or the seed of generated faces. The pictures are not read. */
enum { DATASET_TEXT_MAX = 128 };
void dataset_describe(const struct dataset *dataset, char *text, size_t size);

/* Writes the path of the file, or "procedural:SEED/PERSON/PICTURE" for a generated picture. */
void dataset_picture_name(const struct dataset *dataset, size_t person, size_t picture, char *text,
                          size_t size);

/* Loads a picture and scales it to side × side pixels. The picture is cropped to the square that
 * dataset_survey_run() has stored for it, or else to its centre square. `channels` is 1 for grey or
 * 3 for interleaved RGB. The floats are from 0 to 1. Returns -ERR_NOT_FOUND if there is no such
 * picture, -ERR_INVALID if `side` is out of bounds, or an error of picture_read(). */
int dataset_load(const struct dataset *dataset, size_t person, size_t picture, size_t side,
                 size_t channels, float *ret_pixels, struct err *err);
/* Like dataset_load(), but sets bytes from 0 to 255. */
int dataset_load_bytes(const struct dataset *dataset, size_t person, size_t picture, size_t side,
                       size_t channels, uint8_t *ret_pixels, struct err *err);

/* Splits the persons randomly into training persons and `held_out` held-out persons. Both lists are
 * in ascending order. The split depends only on the seed, the number of persons and `held_out`. The
 * caller releases the split. Returns -ERR_INVALID if no training person would be left. */
struct dataset_persons_list {
    size_t *items;
    size_t count;
};
struct dataset_split {
    struct dataset_persons_list train, held_out;
};
int dataset_split_persons(const struct dataset *dataset, uint64_t seed, size_t held_out,
                          struct dataset_split *ret, struct err *err);
void dataset_split_release(struct dataset_split *split); /* safe on zeroed memory */

/* One picture of a batch. */
struct dataset_sample {
    size_t person;
    size_t picture;
};

/* Draws the batch of a step for metric learning, of all workers together: `batch_persons` different
 * persons out of `from`, each with `batch_pictures` pictures. The pictures of a person are
 * adjacent, and different if the person has enough of them. The batch depends only on the
 * arguments, so each worker can take its share by position. If `from` has s complete batches of
 * persons, epoch e consists of the steps e × s to (e + 1) × s - 1. No person appears twice in an
 * epoch. Returns -ERR_INVALID if a size is 0, or if `from` has fewer than `batch_persons`
 * persons. */
int dataset_draw_batch(const struct dataset *dataset, const struct dataset_persons_list *from,
                       uint64_t seed, uint64_t step, size_t batch_persons, size_t batch_pictures,
                       struct dataset_sample *ret_samples, struct err *err);

/* Sets ret_order to a permutation of 0 … count - 1 for one epoch. The permutation depends only on
 * the seed, the epoch and the count. */
void dataset_shuffle(uint64_t seed, uint64_t epoch, size_t count, size_t *ret_order);

#endif
