/* The shape of the recommender, which predicts a user's opinion of an item from an embedding of
 * each. batch.h computes with it, fit.h trains it.
 *
 * `mlp` feeds both embeddings into a network of 256, 64 and 1 units. `deepfm` adds a weight per id
 * and the product of the two embeddings to the output of the same network. A row of the embedding
 * table belongs to one id, however many there are. With `buckets` several ids share a row, as in a
 * table of fixed size. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_RECOMMENDER_H
#define TRAINYARD_MODELS_RECOMMENDER_RECOMMENDER_H

#include "base/json/json.h"
#include "train/data/ratings.h"
#include "train/network/network.h"

#include <stdint.h>

enum recommender_kind { RECOMMENDER_MLP, RECOMMENDER_DEEPFM };

/* The label that is predicted: the rating itself, with the squared error as loss, or whether the
 * rating is at least RECOMMENDER_LIKED, with the cross-entropy. */
enum recommender_label { RECOMMENDER_RATING, RECOMMENDER_LIKE };
#define RECOMMENDER_LIKED 3.5f

enum { RECOMMENDER_DIMENSIONS_MAX = 512, RECOMMENDER_FIELDS = 2 /* user and item */ };

struct recommender_config {
    enum recommender_kind kind;
    enum recommender_label label;
    int dimensions;  /* of an embedding */
    int64_t buckets; /* rows that all ids share; 0: one row per id */
};

int recommender_config_check(const struct recommender_config *config, struct err *err);
struct json *recommender_config_to_json(struct arena *arena,
                                        const struct recommender_config *config);
int recommender_config_from_json(const struct json *json, struct recommender_config *ret,
                                 struct err *err);

const char *recommender_kind_name(enum recommender_kind kind); /* "mlp", "deepfm" */

/* Floats per row: the weight of the id, if the model has one, and the embedding. */
int recommender_row(const struct recommender_config *config);

/* The row of an id. The slot is in the high bits, so that user 7 and item 7 have different rows.
 * Ids from 0 to 2^48-1 are kept; others are hashed to 48 bits. */
enum recommender_slot { RECOMMENDER_USER = 1, RECOMMENDER_ITEM = 2 };
int64_t recommender_fid(const struct recommender_config *config, enum recommender_slot slot,
                        int64_t id);

/* Sets ids[n][2], in the order of the rows of a batch, and the ratings of the samples at these
 * positions. */
void recommender_gather(const struct recommender_config *config, const struct ratings *ratings,
                        const size_t *positions, size_t n, int64_t *ret_ids, float *ret_ratings);

/* Declares the parameters in `params` and allocates them; values are not set. The input is both
 * embeddings one after the other, the output one number. */
int recommender_network_new(const struct recommender_config *config, struct params *params,
                            struct network **ret, struct err *err);

#endif
