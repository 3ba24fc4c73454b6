/* Reads and writes data sets in the IDX format of MNIST: one byte per pixel and one byte per label,
 * in plain or gzip files. A directory has four files, such as "train-images-idx3-ubyte" or
 * "train-images-idx3-ubyte.gz". A data set is read completely into memory and is immutable
 * afterwards, so any number of threads may use it. The classifier and the data commands use it. */
#ifndef TRAINYARD_TRAIN_DATA_IDX_H
#define TRAINYARD_TRAIN_DATA_IDX_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum idx_part { IDX_TRAIN, IDX_TEST };

enum { IDX_PICTURES_MAX = 10000000, IDX_SIDE_MAX = 1024 };

/* The directory that Debian's package dataset-fashion-mnist installs. */
#define IDX_DIRECTORY_DEFAULT "/usr/share/datasets/fashion-mnist"

struct idx {
    size_t count;
    int height, width;
    uint8_t *pixels; /* count × height × width bytes */
    uint8_t *labels; /* one label per picture */
    int classes;     /* the highest label plus one */
};

/* Reads the training or the test part. The caller frees the data set. Returns -ERR_NOT_FOUND if a
 * file is missing, or another error if a file is too large, damaged, or does not match the other
 * file of the part. */
int idx_open(const char *directory, enum idx_part part, struct idx **ret, struct err *err);
/* Returns whether a directory has the training pictures of an IDX data set. */
bool idx_is_directory(const char *directory);
/* Writes one part as two plain files into an existing directory. */
int idx_write(const struct idx *idx, const char *directory, enum idx_part part, struct err *err);
/* Like idx_open(), but reads two complete, unpacked files from memory. `name` is the name of the
 * part in error messages. */
int idx_parse(const char *name, const void *images, size_t images_size, const void *labels,
              size_t labels_size, struct idx **ret, struct err *err);
struct idx *idx_free(struct idx *idx); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(idx)

/* Writes "60000 pictures of 28×28, 10 classes, digest 1f2e3d4c", where 28×28 is width × height in
 * pixels. The digest covers all pixels and labels. */
enum { IDX_TEXT_MAX = 128 };
void idx_describe(const struct idx *idx, char *text, size_t size);

/* Returns the name of a label, in `text`. The name is line number `label`, counted from 0, of the
 * file LABELS in the directory. If there is no such line or the line is empty, the name is that of
 * Fashion-MNIST, for example "Ankle boot", if the path contains "fashion", or else the number
 * `label`. */
const char *idx_label_name(const char *directory, int label, char *text, size_t size);

#endif
