/* The recommender: what a user will think of an item, from an embedding of each. This is its shape;
 * recommender_batch.h computes with it, recommender_fit.h trains it over parameter servers.
 *
 * `mlp` puts both embeddings into a network of 256, 64 and 1 units. `deepfm` adds to the same
 * network a weight of each id and the product of the two embeddings. A row of the embedding table
 * belongs to one id, however many there are; with `buckets` ids share rows instead, as they do in a
 * table of fixed size.
 */
#ifndef TRAINYARD_MODELS_RECOMMENDER_H
#define TRAINYARD_MODELS_RECOMMENDER_H

#include "base/json/json.h"
#include "train/data/ratings.h"
#include "train/network/network.h"

#include <stdint.h>

enum recommender_kind { RECOMMENDER_MLP, RECOMMENDER_DEEPFM };

/* What is predicted: the rating itself, with the squared error as loss, or whether it is at least
 * RECOMMENDER_LIKED, with the cross-entropy. */
enum recommender_label { RECOMMENDER_RATING, RECOMMENDER_LIKE };
#define RECOMMENDER_LIKED 3.5f

enum { RECOMMENDER_DIMENSIONS_MAX = 512, RECOMMENDER_FIELDS = 2 /* user and item */ };

struct recommender_config {
    enum recommender_kind kind;
    enum recommender_label label;
    int dimensions;  /* of an embedding */
    int64_t buckets; /* rows that all ids share; 0: one row an id */
};

int recommender_config_check(const struct recommender_config *config, struct err *err);
struct json *recommender_config_to_json(struct arena *arena,
                                        const struct recommender_config *config);
int recommender_config_from_json(const struct json *json, struct recommender_config *ret,
                                 struct err *err);

const char *recommender_kind_name(enum recommender_kind kind); /* "mlp", "deepfm" */

/* Floats of a row: the embedding, behind the weight of the id if the model has one. */
int recommender_row(const struct recommender_config *config);

/* The row of an id: the slot in the high bits, so that user 7 and item 7 are two. Ids from 0 to
 * 2^48-1 are kept as they are, others are hashed to 48 bits. */
enum recommender_slot { RECOMMENDER_USER = 1, RECOMMENDER_ITEM = 2 };
int64_t recommender_fid(const struct recommender_config *config, enum recommender_slot slot,
                        int64_t id);

/* Of the samples at these positions: ids[n][2], as the rows of a batch lie, and what was rated. */
void recommender_gather(const struct recommender_config *config, const struct ratings *ratings,
                        const size_t *positions, size_t n, int64_t *ret_ids, float *ret_ratings);

/* Declares into `params` and allocates it; values are not set. The input is both embeddings side by
 * side, the output one number. */
int recommender_network_new(const struct recommender_config *config, struct params *params,
                            struct network **ret, struct err *err);

#endif
