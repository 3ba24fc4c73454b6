/* Implements the configuration of the recommender and builds its network; see recommender.h. */
#include "models/recommender/recommender.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"

static const char *const KINDS[] = {"mlp", "deepfm"};
static const char *const LABELS[] = {"rating", "like"};

enum { ID_BITS = 48, HIDDEN_FIRST = 256, HIDDEN_SECOND = 64 };

int recommender_config_check(const struct recommender_config *config, struct err *err)
{
    if (config->dimensions < 1 || config->dimensions > RECOMMENDER_DIMENSIONS_MAX)
        return err_set(err, ERR_INVALID, "the embedding has %d dimensions, but must have 1 to %d",
                       config->dimensions, RECOMMENDER_DIMENSIONS_MAX);
    if (config->buckets < 0 || config->buckets >= (int64_t)1 << ID_BITS)
        return err_set(err, ERR_INVALID,
                       "the number of buckets is %lld, but must be from 0 to 2^%d",
                       (long long)config->buckets, ID_BITS);
    return 0;
}

const char *recommender_kind_name(enum recommender_kind kind)
{
    return KINDS[kind];
}

struct json *recommender_config_to_json(struct arena *arena,
                                        const struct recommender_config *config)
{
    struct json *json = json_object(arena);
    json_set_string(arena, json, "kind", KINDS[config->kind]);
    json_set_string(arena, json, "label", LABELS[config->label]);
    json_set_int(arena, json, "dimensions", config->dimensions);
    json_set_int(arena, json, "buckets", config->buckets);
    return json;
}

/* Returns the index in `names` of the value of a JSON member, or -1. */
static int choice_from_json(const struct json *json, const char *member, const char *const names[2])
{
    const char *text = json_get_string(json, member, NULL);
    return str_eq(text, names[0]) ? 0 : str_eq(text, names[1]) ? 1 : -1;
}

int recommender_config_from_json(const struct json *json, struct recommender_config *ret,
                                 struct err *err)
{
    int kind = choice_from_json(json, "kind", KINDS),
        label = choice_from_json(json, "label", LABELS);
    int64_t dimensions = json_get_int(json, "dimensions", -1);
    if (kind < 0 || label < 0 || dimensions < 0 || dimensions > RECOMMENDER_DIMENSIONS_MAX)
        return err_set(err, ERR_INVALID, "the configuration of the recommender has no valid '%s'",
                       kind < 0    ? "kind"
                       : label < 0 ? "label"
                                   : "dimensions");
    struct recommender_config config = {
        .kind = (enum recommender_kind)kind,
        .label = (enum recommender_label)label,
        .dimensions = (int)dimensions,
        .buckets = json_get_int(json, "buckets", 0),
    };
    int result = recommender_config_check(&config, err);
    if (result == 0)
        *ret = config;
    return result;
}

int recommender_row_floats(const struct recommender_config *config)
{
    return config->dimensions + (config->kind == RECOMMENDER_DEEPFM);
}

int64_t recommender_row_id(const struct recommender_config *config, enum recommender_slot slot,
                           int64_t id)
{
    /* The key is not secret, because the hash must be equal on all workers. */
    static const struct hash_key key = {{0}};
    const int64_t pair[] = {slot, id};
    if (config->buckets)
        return (int64_t)(hash_bytes(&key, pair, sizeof(pair)) % (uint64_t)config->buckets);
    uint64_t low = (uint64_t)id;
    if (low >> ID_BITS)
        low = hash_bytes(&key, pair, sizeof(pair)) >> (64 - ID_BITS);
    return (int64_t)((uint64_t)slot << ID_BITS | low);
}

void recommender_gather(const struct recommender_config *config, const struct ratings *ratings,
                        const size_t *positions, size_t n, int64_t *ret_ids, float *ret_ratings)
{
    for (size_t i = 0; i < n; i++) {
        const struct rating *rating = &ratings->items[positions[i]];
        ret_ids[RECOMMENDER_FIELDS * i] =
            recommender_row_id(config, RECOMMENDER_USER, rating->user);
        ret_ids[RECOMMENDER_FIELDS * i + 1] =
            recommender_row_id(config, RECOMMENDER_ITEM, rating->item);
        ret_ratings[i] = rating->value;
    }
}

int recommender_network_new(const struct recommender_config *config, struct params *params,
                            struct network **ret, struct err *err)
{
    int result = recommender_config_check(config, err);
    if (result < 0)
        return result;
    struct shape input = {.h = 1, .w = 1, .c = RECOMMENDER_FIELDS * config->dimensions};
    _cleanup_(cleanup_network) struct network *network = network_new(params, input);
    int x = network_dense(network, "hidden1", NETWORK_INPUT, HIDDEN_FIRST);
    x = network_relu(network, "relu1", x);
    x = network_dense(network, "hidden2", x, HIDDEN_SECOND);
    x = network_relu(network, "relu2", x);
    x = network_dense(network, "output", x, 1);
    if (config->kind == RECOMMENDER_DEEPFM)
        network_add(network, "sum", x,
                    network_fm(network, "pairs", NETWORK_INPUT, RECOMMENDER_FIELDS));
    result = network_finish(network, err);
    if (result < 0)
        return err_wrap(err, "recommender");
    *ret = TAKE(network);
    return 0;
}
