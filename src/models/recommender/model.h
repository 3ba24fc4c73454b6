/* A trained recommender in one file: the dense parameters, and every row of the embedding table
 * with its id. The chief writes the file at the end of training, and `trainer recommend` loads it.
 * The file has the format of checkpoint.h, with each id stored as two words of the size of a
 * float. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_MODEL_H
#define TRAINYARD_MODELS_RECOMMENDER_MODEL_H

#include "comm/ps/ps.h"
#include "models/recommender/batch.h"
#include "train/run/checkpoint.h"

#define RECOMMENDER_MODEL_FILE "recommender.model" /* file name in the model directory */

/* Rows in ascending order of their ids. */
struct recommender_rows {
    int64_t *ids;
    float *values; /* `count` rows, one after another */
    size_t count;
};

/* Collects all rows of the servers. Each row has `row` floats. The caller releases them. */
int recommender_rows_collect(struct ps_client *client, int table, int row,
                             struct recommender_rows *ret, struct err *err);
void recommender_rows_release(struct recommender_rows *rows); /* safe on zeroed memory */

/* The caller sets only notes, step and seed in `info`. The other fields are not used. */
int recommender_model_write(const char *path, const struct recommender_config *config,
                            const struct params *dense, const struct recommender_rows *rows,
                            const struct checkpoint_info *info, struct err *err);

struct recommender_model;

int recommender_model_load(const char *path, struct recommender_model **ret, struct err *err);
struct recommender_model *recommender_model_free(struct recommender_model *model);
DEFINE_CLEANUP(recommender_model)

const struct recommender_config *recommender_model_config(const struct recommender_model *model);

/* Whether the model has a row for this user or item. Without buckets, that means that the training
 * data had it. With buckets, the row may belong to another id. */
bool recommender_model_knows(const struct recommender_model *model, enum recommender_slot slot,
                             int64_t id);

/* Scores each item for the user: the predicted rating, or the probability that the user likes it.
 * For an id without a row, a row of zeros is used. */
void recommender_model_score(struct recommender_model *model, int64_t user, const int64_t *items,
                             size_t count, float *ret_scores);

#endif
