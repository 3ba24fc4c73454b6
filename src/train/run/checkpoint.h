/* Reads and writes checkpoints and model files, which have the same format. A file has a JSON
 * header (model, configuration, step, seed, names and shapes), all parameter values in one block,
 * and a CRC of everything. A checkpoint also has the optimizer's slots, so that training can be
 * resumed. A file is written under a temporary name, synced and renamed, so that a crash leaves
 * either the old file or the complete new file. The worker that writes files for the run writes
 * them (rank 0, or the chief with parameter servers). Processes that resume, predict or serve read
 * them. */
#ifndef TRAINYARD_TRAIN_RUN_CHECKPOINT_H
#define TRAINYARD_TRAIN_RUN_CHECKPOINT_H

#include "base/json/json.h"
#include "train/layers/params.h"
#include "train/network/optimizer.h"

#include <stdint.h>

enum {
    CHECKPOINT_VERSION = 1,
    CHECKPOINT_HEADER_MAX = 4 << 20,
    CHECKPOINT_PATH_MAX = 4096,
    CHECKPOINT_DIRECTORY_MAX = 100000, /* largest number of steps that checkpoint_list() returns */
};

struct checkpoint_info {
    const char *model;   /* "face" */
    struct json *config; /* the configuration from which the model is built */
    struct json *notes;  /* a JSON object for further facts, such as metrics; may be NULL */
    uint64_t step;       /* number of steps after which the file was written */
    uint64_t seed;       /* seed of the run */
};

/* Writes a checkpoint, or a model file if `optimizer` is NULL. A model file does not have the state
 * that only training needs. Returns when the file is on disk. On failure, the path is unchanged or
 * has the complete new file. */
int checkpoint_write(const char *path, const struct params *params,
                     const struct optimizer *optimizer, const struct checkpoint_info *info,
                     struct err *err);

struct checkpoint {
    struct arena *arena; /* memory of `info`, `header` and `optimizer` */
    struct checkpoint_info info;
    struct json *header; /* the whole header, with the names and shapes of the parameters */
    char *optimizer;     /* "adam"; NULL in a model file */
    size_t floats;       /* number of parameter values, including padding */
    int slot_count;      /* number of optimizer slots; 0 in a model file */
    float *values; /* `floats` parameter values, followed by slot_count × floats optimizer values */
};

/* Reads and verifies a file. Returns -ERR_BAD_REQUEST if it is truncated, damaged or not a
 * checkpoint or model file, -ERR_UNSUPPORTED if it has another CHECKPOINT_VERSION, or the error of
 * the file system. The caller frees the checkpoint. */
int checkpoint_read(const char *path, struct checkpoint **ret, struct err *err);
/* Like checkpoint_read(), but parses `size` bytes in memory and copies them. `name` is used in
 * messages. */
int checkpoint_parse(const char *name, const void *data, size_t size, struct checkpoint **ret,
                     struct err *err);
struct checkpoint *checkpoint_free(struct checkpoint *checkpoint); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(checkpoint)

/* Copies the values into `params` and the slots into `optimizer`. If names, shapes or the kind of
 * the optimizer differ, returns -ERR_INVALID, and the message names the first difference. Returns
 * -ERR_BAD_REQUEST if the number of values does not fit the shapes. On failure nothing is copied.
 * `name` is used in messages. If `optimizer` is NULL, the slots are ignored. */
int checkpoint_restore(const struct checkpoint *checkpoint, const char *name, struct params *params,
                       struct optimizer *optimizer, struct err *err);

/* Writes the path of a checkpoint: "DIRECTORY/step-00000120.ckpt". */
void checkpoint_path(const char *directory, uint64_t step, char path[CHECKPOINT_PATH_MAX]);

/* Lists the steps of the checkpoints of a directory, highest step first. The caller frees the list.
 * The list is empty if the directory does not exist. Checkpoints beyond CHECKPOINT_DIRECTORY_MAX
 * are left out. */
int checkpoint_list(const char *directory, uint64_t **ret_steps, size_t *ret_count,
                    struct err *err);

/* Removes all checkpoints except those with the `keep` highest steps. Ends at the first checkpoint
 * that cannot be removed, and returns the error. */
int checkpoint_prune(const char *directory, size_t keep, struct err *err);

/* Removes the temporary files of processes that were killed while they wrote a checkpoint. No
 * process may be writing a checkpoint in the directory. Ignores errors. */
void checkpoint_sweep(const char *directory);

/* Renames a damaged checkpoint to "….damaged", so that it does not count as a checkpoint any
 * more. */
int checkpoint_set_aside(const char *directory, uint64_t step, struct err *err);

#endif
