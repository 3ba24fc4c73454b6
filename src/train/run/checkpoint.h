/* Checkpoints and model files: one format. A JSON header that says what is inside (model, its
 * configuration, step, seed, names and shapes), the value arena as one block, the optimizer's slots
 * behind it where training may go on, and a CRC over all of it. Written aside, synced and renamed,
 * so a crash leaves the old file or the new one. Written by the chief; read by all that resume,
 * predict or serve. */
#ifndef TRAINYARD_TRAIN_CHECKPOINT_H
#define TRAINYARD_TRAIN_CHECKPOINT_H

#include "base/json/json.h"
#include "train/layers/params.h"
#include "train/network/optimizer.h"

#include <stdint.h>

enum {
    CHECKPOINT_VERSION = 1,
    CHECKPOINT_HEADER_MAX = 4 << 20,
    CHECKPOINT_PATH_MAX = 4096,
    CHECKPOINT_DIRECTORY_MAX = 100000, /* files looked at for the newest */
};

struct checkpoint_info {
    const char *model;   /* "face" */
    struct json *config; /* of the model: what is needed to build it again */
    struct json *notes;  /* anything worth keeping (metrics); may be NULL */
    uint64_t step;
    uint64_t seed;
};

/* `optimizer` NULL: a model file, without what only training needs. */
int checkpoint_write(const char *path, const struct params *params,
                     const struct optimizer *optimizer, const struct checkpoint_info *info,
                     struct err *err);

struct checkpoint {
    struct arena *arena;
    struct checkpoint_info info;
    struct json *header;
    char *optimizer; /* "adam", or NULL in a model file */
    size_t floats;
    int slot_count;
    float *values; /* floats; then slot_count · floats */
};

/* Reads and verifies. A cut or changed file is ERR_BAD_REQUEST. */
int checkpoint_read(const char *path, struct checkpoint **ret, struct err *err);
/* The same from memory: `name` is for messages. */
int checkpoint_parse(const char *name, const void *data, size_t size, struct checkpoint **ret,
                     struct err *err);
struct checkpoint *checkpoint_free(struct checkpoint *checkpoint); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(checkpoint)

/* Into a model of the same names and shapes; any other is ERR_INVALID with the first difference.
 * `optimizer` may be NULL. */
int checkpoint_restore(const struct checkpoint *checkpoint, const char *name, struct params *params,
                       struct optimizer *optimizer, struct err *err);

/* Checkpoints of a directory: "step-00000120.ckpt". */
void checkpoint_path(const char *directory, uint64_t step, char path[CHECKPOINT_PATH_MAX]);

/* Steps of the checkpoints there, the newest first; malloc'ed. A missing directory has none. */
int checkpoint_list(const char *directory, uint64_t **ret_steps, size_t *ret_count,
                    struct err *err);

/* Remove all but the `keep` newest. */
int checkpoint_prune(const char *directory, size_t keep, struct err *err);

/* Remove what a process that was killed while it wrote one left there. */
void checkpoint_sweep(const char *directory);

/* One that is damaged is renamed to "….damaged": it must not count among the newest. */
int checkpoint_set_aside(const char *directory, uint64_t step, struct err *err);

#endif
