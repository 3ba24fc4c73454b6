/* A trained recommender in one file: the dense parameters, and every row of the embedding table
 * with its id. Training writes the file at the end, and `trainer recommend` loads it. The file has
 * the format of train/run/checkpoint.h, with each id stored in the place of two floats. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_MODEL_H
#define TRAINYARD_MODELS_RECOMMENDER_MODEL_H

#include "comm/ps/ps.h"
#include "models/recommender/batch.h"
#include "train/run/checkpoint.h"

#define RECOMMENDER_MODEL_FILE "recommender.model" /* file name in the model directory */

/* Rows of the embedding table, in ascending order of their ids. */
struct recommender_rows {
    int64_t *ids;
    float *values; /* `count` rows, one after another */
    size_t count;
};

/* Collects all rows of table `table`, each of which has `row` floats. The caller releases *ret. */
int recommender_rows_collect(struct ps_client *client, int table, int row,
                             struct recommender_rows *ret, struct err *err);
void recommender_rows_release(struct recommender_rows *rows); /* safe on zeroed memory */

/* Writes the model file. The caller sets only notes, step and seed in `info`. Returns
 * -ERR_TOO_LARGE if there are too many rows for a file. */
int recommender_model_write(const char *path, const struct recommender_config *config,
                            const struct params *dense, const struct recommender_rows *rows,
                            const struct checkpoint_info *info, struct err *err);

struct recommender_model;

/* Loads a model file. Returns -ERR_INVALID if the file has another kind of model, -ERR_BAD_REQUEST
 * if its rows are not in order, or the error of checkpoint_read(). The caller frees *ret. */
int recommender_model_load(const char *path, struct recommender_model **ret, struct err *err);
/* NULL-safe; returns NULL. */
struct recommender_model *recommender_model_free(struct recommender_model *model);
DEFINE_CLEANUP(recommender_model)

const struct recommender_config *recommender_model_config(const struct recommender_model *model);

/* Returns whether the model has a row for this user or item. Without buckets, that means that the
 * training ratings had it. With buckets, the row may belong to another id. */
bool recommender_model_knows(const struct recommender_model *model, enum recommender_slot slot,
                             int64_t id);

/* Sets the score of each item for the user: the predicted rating, or the probability that the user
 * likes the item. For an id without a row, a row of zeros is used. Only one thread at a time may
 * call it. */
void recommender_model_score(struct recommender_model *model, int64_t user, const int64_t *items,
                             size_t count, float *ret_scores);

#endif
