/* Data sets in the IDX format of MNIST (one byte per pixel, one byte per label), plain or gzip:
 * "train-images-idx3-ubyte[.gz]" and its three companions in one directory. Read completely into
 * memory and immutable afterwards, so any number of threads may use it. */
#ifndef TRAINYARD_TRAIN_DATA_IDX_H
#define TRAINYARD_TRAIN_DATA_IDX_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum idx_part { IDX_TRAIN, IDX_TEST };

enum { IDX_PICTURES_MAX = 10000000, IDX_SIDE_MAX = 1024 };

#define IDX_DIRECTORY_DEFAULT "/usr/share/datasets/fashion-mnist" /* of Debian's package */

struct idx {
    size_t count;
    int height, width;
    uint8_t *pixels; /* count × height × width */
    uint8_t *labels; /* count */
    int classes;     /* the highest label plus one */
};

/* Reads one part. The caller frees it. The error names the file that is missing, truncated, or does
 * not match its companion. */
int idx_open(const char *directory, enum idx_part part, struct idx **ret, struct err *err);
/* Whether a directory holds such files: its training pictures, under any of their names. */
bool idx_is_directory(const char *directory);
/* Writes one part as two plain files into an existing directory. */
int idx_write(const struct idx *idx, const char *directory, enum idx_part part, struct err *err);
/* Like idx_open(), but from memory: both files complete and unpacked. For tests and the fuzzer. */
int idx_parse(const char *name, const void *images, size_t images_size, const void *labels,
              size_t labels_size, struct idx **ret, struct err *err);
struct idx *idx_free(struct idx *idx);
DEFINE_CLEANUP(idx)

/* "60000 pictures of 28×28, 10 classes, digest 1f2e3d4c": the digest covers every byte. */
enum { IDX_TEXT_MAX = 128 };
void idx_describe(const struct idx *idx, char *text, size_t size);

/* The meaning of a label: its name in a known data set ("Ankle boot" in Fashion-MNIST, recognised
 * by the LABELS file of its directory or by "fashion" in its path), else the number as text. */
const char *idx_label_name(const char *directory, int label, char *text, size_t size);

#endif
