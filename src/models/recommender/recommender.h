/* The configuration and the network of the recommender, which predicts a user's opinion of an item
 * from the embeddings of both. models/recommender/batch.h computes the scores, and
 * models/recommender/fit.h trains the model.
 *
 * `mlp` feeds both embeddings into a network of 256, 64 and 1 units. `deepfm` adds a weight per id
 * and the inner product of the two embeddings to the output of the same network. Without `buckets`,
 * each id has its own row in the embedding table. With `buckets`, the table has a fixed number of
 * rows, and several ids share a row. */
#ifndef TRAINYARD_MODELS_RECOMMENDER_RECOMMENDER_H
#define TRAINYARD_MODELS_RECOMMENDER_RECOMMENDER_H

#include "base/json/json.h"
#include "train/data/ratings.h"
#include "train/network/network.h"

#include <stdint.h>

enum recommender_kind { RECOMMENDER_MLP, RECOMMENDER_DEEPFM };

/* What the model predicts. With RECOMMENDER_RATING it predicts the rating itself, and the loss is
 * the squared error. With RECOMMENDER_LIKE it predicts whether the rating is at least
 * RECOMMENDER_LIKED, and the loss is the cross-entropy. */
enum recommender_label { RECOMMENDER_RATING, RECOMMENDER_LIKE };
#define RECOMMENDER_LIKED 3.5f

enum { RECOMMENDER_DIMENSIONS_MAX = 512, RECOMMENDER_FIELDS = 2 /* user and item */ };

struct recommender_config {
    enum recommender_kind kind;
    enum recommender_label label;
    int dimensions;  /* dimensions of an embedding */
    int64_t buckets; /* number of rows that all ids share; 0: one row per id */
};

/* Returns 0, or -ERR_INVALID if a member is out of its range. */
int recommender_config_check(const struct recommender_config *config, struct err *err);
struct json *recommender_config_to_json(struct arena *arena,
                                        const struct recommender_config *config);
int recommender_config_from_json(const struct json *json, struct recommender_config *ret,
                                 struct err *err);

const char *recommender_kind_name(enum recommender_kind kind); /* "mlp", "deepfm" */

/* Returns the number of floats per row of the embedding table: the weight of the id, if the model
 * is DeepFM, and the embedding. */
int recommender_row_floats(const struct recommender_config *config);

/* Returns the id of the row in which a user or item has its embedding. With buckets, it is a hash
 * of slot and id, below config->buckets. Without buckets, the slot is in the high bits, so that
 * user 7 and item 7 have different rows; ids from 0 to 2^48-1 are not changed, and other ids are
 * hashed to 48 bits. */
enum recommender_slot { RECOMMENDER_USER = 1, RECOMMENDER_ITEM = 2 };
int64_t recommender_row_id(const struct recommender_config *config, enum recommender_slot slot,
                           int64_t id);

/* Sets ret_ids[n][2] to the row ids of the user and the item of each sample at `positions`, and
 * ret_ratings[n] to the ratings. */
void recommender_gather(const struct recommender_config *config, const struct ratings *ratings,
                        const size_t *positions, size_t n, int64_t *ret_ids, float *ret_ratings);

/* Creates the network. Declares its parameters in `params` and allocates them; the caller sets
 * their values. The input is the embedding of the user followed by the embedding of the item. The
 * output is one number. The caller frees *ret with network_free(). */
int recommender_network_new(const struct recommender_config *config, struct params *params,
                            struct network **ret, struct err *err);

#endif
