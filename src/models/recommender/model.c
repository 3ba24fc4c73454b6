/* Implements the model file of a recommender and the prediction with it; see model.h. */
#include "models/recommender/model.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

enum {
    PART = 256 /* samples per pass */,
    ID_WORDS = 2 /* floats in whose place an id is stored */
};

/* Positions of the parameters in the file. DENSE is the first of the network's parameters. */
enum { IDS, ROWS, DENSE };

struct recommender_model {
    struct recommender_config config;
    struct recommender_rows rows;
    struct recommender_batch *batch;
    float *scratch; /* the rows of users and items of PART samples */
};

void recommender_rows_release(struct recommender_rows *rows)
{
    free(rows->ids);
    free(rows->values);
    *rows = (struct recommender_rows){0};
}

/* ---- Collecting rows from the servers */

/* The id of a row, and its position in the order in which the servers sent the rows. */
struct collected {
    int64_t id;
    size_t position;
};

/* The rows in the order in which the servers sent them. */
struct collection {
    VEC(struct collected) ids;
    VEC(float) values;
    int row; /* floats per row */
};

static void collect_one(void *context, int64_t id, const float *row)
{
    struct collection *all = context;
    struct collected one = {id, all->ids.count};
    vec_push(&all->ids, one);
    for (int i = 0; i < all->row; i++)
        vec_push(&all->values, row[i]);
}

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct collected *)a)->id, y = ((const struct collected *)b)->id;
    return (x > y) - (x < y);
}

int recommender_rows_collect(struct ps_client *client, int table, int row,
                             struct recommender_rows *ret, struct err *err)
{
    struct collection all = {.row = row};
    int result = ps_rows_scan(client, table, collect_one, &all, err);
    if (result == 0) {
        size_t count = all.ids.count, wide = (size_t)row;
        if (count)
            qsort(all.ids.items, count, sizeof(*all.ids.items), by_id);
        struct recommender_rows rows = {
            .ids = mem_calloc(count + 1, sizeof(int64_t)),
            .values = mem_calloc(count * wide + 1, sizeof(float)),
            .count = count,
        };
        for (size_t i = 0; i < count; i++) {
            rows.ids[i] = all.ids.items[i].id;
            memcpy(rows.values + i * wide, all.values.items + all.ids.items[i].position * wide,
                   wide * sizeof(float));
        }
        *ret = rows;
    }
    vec_release(&all.ids);
    vec_release(&all.values);
    return result;
}

/* ---- The file */

/* Declares the parameters in the order of the file: ids, rows, and the parameters of the
 * network. */
static int file_params(const struct recommender_config *config, size_t count, struct params **ret,
                       struct network **ret_network, struct err *err)
{
    _cleanup_(cleanup_params) struct params *params = NULL;
    size_t row = (size_t)recommender_row_floats(config);
    if (count > PARAMS_FLOATS_MAX / 2 / (row + ID_WORDS))
        return err_set(err, ERR_TOO_LARGE, "%zu rows of %zu values are too many for a model file",
                       count, row);
    params = params_new();
    params_declare(params, "embedding.ids", (int[]){(int)count, ID_WORDS, 1, 1}, PARAM_ZERO, 0);
    params_declare(params, "embedding.rows", (int[]){(int)count, (int)row, 1, 1}, PARAM_ZERO, 0);
    int result = recommender_network_new(config, params, ret_network, err);
    if (result < 0)
        return result;
    *ret = TAKE(params);
    return 0;
}

int recommender_model_write(const char *path, const struct recommender_config *config,
                            const struct params *dense, const struct recommender_rows *rows,
                            const struct checkpoint_info *info, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_(cleanup_params) struct params *params = NULL;
    _cleanup_(cleanup_network) struct network *network = NULL;
    int result = file_params(config, rows->count, &params, &network, err);
    if (result < 0)
        return result;
    memcpy(params_value(params, IDS), rows->ids, rows->count * sizeof(*rows->ids));
    memcpy(params_value(params, ROWS), rows->values,
           rows->count * (size_t)recommender_row_floats(config) * sizeof(float));
    for (size_t i = 0; i < dense->count; i++)
        memcpy(params_value(params, DENSE + i), params_value(dense, i),
               dense->entries[i].count * sizeof(float));
    struct checkpoint_info whole = *info;
    whole.model = "recommender";
    whole.config = recommender_config_to_json(arena, config);
    json_set_int(arena, whole.config, "rows", (int64_t)rows->count);
    return checkpoint_write(path, params, NULL, &whole, err);
}

/* Copies the ids, rows and dense parameters of a file into the model. */
static int copy_values(struct recommender_model *model, const struct params *params, size_t count,
                       struct err *err)
{
    size_t floats = count * (size_t)recommender_row_floats(&model->config);
    model->rows.count = count;
    model->rows.ids = mem_calloc(count + 1, sizeof(int64_t));
    model->rows.values = mem_calloc(floats + 1, sizeof(float));
    memcpy(model->rows.ids, params_value(params, IDS), count * sizeof(int64_t));
    memcpy(model->rows.values, params_value(params, ROWS), floats * sizeof(float));
    for (size_t i = 1; i < count; i++)
        if (model->rows.ids[i - 1] >= model->rows.ids[i])
            return err_set(err, ERR_BAD_REQUEST, "its rows are not in order");
    int result = recommender_batch_new(&model->config, PART, &model->batch, err);
    if (result < 0)
        return result;
    struct params *dense = recommender_batch_params(model->batch);
    for (size_t i = 0; i < dense->count; i++)
        memcpy(params_value(dense, i), params_value(params, DENSE + i),
               dense->entries[i].count * sizeof(float));
    recommender_batch_changed(model->batch);
    model->scratch = mem_calloc(
        PART * RECOMMENDER_FIELDS * (size_t)recommender_row_floats(&model->config), sizeof(float));
    return 0;
}

int recommender_model_load(const char *path, struct recommender_model **ret, struct err *err)
{
    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
    _cleanup_(cleanup_recommender_model) struct recommender_model *model = NULL;
    _cleanup_(cleanup_params) struct params *params = NULL;
    _cleanup_(cleanup_network) struct network *network = NULL;
    int result = checkpoint_read(path, &checkpoint, err);
    if (result < 0)
        return result;
    if (!str_eq(checkpoint->info.model, "recommender"))
        return err_set(err, ERR_INVALID, "'%s' holds a model of kind '%s', not a recommender", path,
                       checkpoint->info.model);
    int64_t count = json_get_int(checkpoint->info.config, "rows", -1);
    model = mem_zalloc(sizeof(*model));
    result = recommender_config_from_json(checkpoint->info.config, &model->config, err);
    if (result < 0)
        return err_wrap(err, "'%s'", path);
    if (count < 0)
        return err_set(err, ERR_INVALID, "'%s' does not say how many rows it has", path);
    result = file_params(&model->config, (size_t)count, &params, &network, err);
    if (result < 0)
        return err_wrap(err, "'%s'", path);
    result = checkpoint_restore(checkpoint, path, params, NULL, err);
    if (result < 0)
        return result;
    result = copy_values(model, params, (size_t)count, err);
    if (result < 0)
        return err_wrap(err, "'%s'", path);
    *ret = TAKE(model);
    return 0;
}

struct recommender_model *recommender_model_free(struct recommender_model *model)
{
    if (!model)
        return NULL;
    recommender_rows_release(&model->rows);
    recommender_batch_free(model->batch);
    free(model->scratch);
    free(model);
    return NULL;
}

const struct recommender_config *recommender_model_config(const struct recommender_model *model)
{
    return &model->config;
}

/* ---- Prediction */

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the row of an id, or NULL if the model has none. */
static const float *find_row(const struct recommender_model *model, enum recommender_slot slot,
                             int64_t id)
{
    int64_t row_id = recommender_row_id(&model->config, slot, id);
    const int64_t *found =
        bsearch(&row_id, model->rows.ids, model->rows.count, sizeof(row_id), compare_ids);
    return found ? model->rows.values + (size_t)(found - model->rows.ids) *
                                            (size_t)recommender_row_floats(&model->config)
                 : NULL;
}

bool recommender_model_knows(const struct recommender_model *model, enum recommender_slot slot,
                             int64_t id)
{
    return find_row(model, slot, id) != NULL;
}

/* Copies the row of an id to `to`, or zeros if there is no row. */
static void copy_row(const struct recommender_model *model, enum recommender_slot slot, int64_t id,
                     float *to)
{
    const float *row = find_row(model, slot, id);
    size_t size = (size_t)recommender_row_floats(&model->config) * sizeof(float);
    if (row)
        memcpy(to, row, size);
    else
        memset(to, 0, size);
}

void recommender_model_score(struct recommender_model *model, int64_t user, const int64_t *items,
                             size_t count, float *ret_scores)
{
    size_t row = (size_t)recommender_row_floats(&model->config);
    for (size_t at = 0; at < count; at += PART) {
        size_t now = count - at < PART ? count - at : PART;
        for (size_t i = 0; i < now; i++) {
            float *to = model->scratch + RECOMMENDER_FIELDS * i * row;
            copy_row(model, RECOMMENDER_USER, user, to);
            copy_row(model, RECOMMENDER_ITEM, items[at + i], to + row);
        }
        recommender_batch_predict(model->batch, model->scratch, (int)now, ret_scores + at);
    }
    if (model->config.label == RECOMMENDER_LIKE)
        for (size_t i = 0; i < count; i++)
            ret_scores[i] = 1 / (1 + expf(-ret_scores[i]));
}
