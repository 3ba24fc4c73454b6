/* Checkpoints and model files, which share one format: a JSON header (model, configuration, step,
 * seed, names and shapes), all parameter values as one block, the optimizer's slots if training can
 * be resumed from the file, and a CRC over everything. A file is written under another name, synced
 * and renamed, so that a crash leaves the old file or the new one. The chief writes it; every
 * process that resumes, predicts or serves reads it. */
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
    CHECKPOINT_DIRECTORY_MAX = 100000, /* files of a directory that checkpoint_list() looks at */
};

struct checkpoint_info {
    const char *model;   /* "face" */
    struct json *config; /* everything needed to build the model */
    struct json *notes;  /* further members to keep, such as metrics; may be NULL */
    uint64_t step;
    uint64_t seed;
};

/* Writes a checkpoint, or a model file if `optimizer` is NULL: without the state that only training
 * needs. */
int checkpoint_write(const char *path, const struct params *params,
                     const struct optimizer *optimizer, const struct checkpoint_info *info,
                     struct err *err);

struct checkpoint {
    struct arena *arena;
    struct checkpoint_info info;
    struct json *header;
    char *optimizer; /* "adam"; NULL in a model file */
    size_t floats;
    int slot_count;
    float *values; /* `floats` values, followed by slot_count · floats optimizer values */
};

/* Reads and verifies a file. Returns -ERR_BAD_REQUEST if it is truncated or altered. The caller
 * frees the checkpoint. */
int checkpoint_read(const char *path, struct checkpoint **ret, struct err *err);
/* Like checkpoint_read(), but from memory. `name` is used in messages. */
int checkpoint_parse(const char *name, const void *data, size_t size, struct checkpoint **ret,
                     struct err *err);
struct checkpoint *checkpoint_free(struct checkpoint *checkpoint); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(checkpoint)

/* Copies the values into a model with the same names and shapes. Returns -ERR_INVALID with the
 * first difference for any other model. `name` is used in messages. `optimizer` may be NULL. */
int checkpoint_restore(const struct checkpoint *checkpoint, const char *name, struct params *params,
                       struct optimizer *optimizer, struct err *err);

/* The path of a checkpoint: "DIRECTORY/step-00000120.ckpt". */
void checkpoint_path(const char *directory, uint64_t step, char path[CHECKPOINT_PATH_MAX]);

/* Lists the steps of all checkpoints of a directory, newest first. The caller frees the list. A
 * directory that does not exist has none. */
int checkpoint_list(const char *directory, uint64_t **ret_steps, size_t *ret_count,
                    struct err *err);

/* Removes all checkpoints but the `keep` newest. */
int checkpoint_prune(const char *directory, size_t keep, struct err *err);

/* Removes the temporary files of a process that was killed while it wrote a checkpoint. */
void checkpoint_sweep(const char *directory);

/* Renames a damaged checkpoint to "….damaged", so that it does not count among the newest. */
int checkpoint_set_aside(const char *directory, uint64_t step, struct err *err);

#endif
