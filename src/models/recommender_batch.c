/* One batch of the recommender; see recommender_batch.h. */
#include "models/recommender_batch.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

struct recommender_batch {
    struct recommender_config config;
    struct params *params;
    struct network *network;
    struct tape *tape;
    struct workspace *workspace;
    int capacity;
    float *input, *d_input;   /* both embeddings of each sample */
    float *scores, *d_scores; /* one a sample */
};

int recommender_batch_new(const struct recommender_config *config, int capacity,
                          struct recommender_batch **ret, struct err *err)
{
    _cleanup_(cleanup_recommender_batch) struct recommender_batch *batch =
        mem_zalloc(sizeof(*batch));
    if (capacity < 1 || capacity > RECOMMENDER_BATCH_MAX)
        return err_set(err, ERR_INVALID, "a batch of %d samples is not in 1 … %d", capacity,
                       RECOMMENDER_BATCH_MAX);
    batch->config = *config;
    batch->capacity = capacity;
    batch->params = params_new();
    int result = recommender_network_new(config, batch->params, &batch->network, err);
    if (result < 0)
        return result;
    size_t n = (size_t)capacity, wide = RECOMMENDER_FIELDS * (size_t)config->dimensions;
    batch->tape = tape_new(batch->network, capacity);
    batch->workspace = workspace_new(batch->network, capacity);
    batch->input = mem_calloc(n * wide, sizeof(float));
    batch->d_input = mem_calloc(n * wide, sizeof(float));
    batch->scores = mem_calloc(n, sizeof(float));
    batch->d_scores = mem_calloc(n, sizeof(float));
    *ret = TAKE(batch);
    return 0;
}

struct recommender_batch *recommender_batch_free(struct recommender_batch *batch)
{
    if (!batch)
        return NULL;
    tape_free(batch->tape);
    workspace_free(batch->workspace);
    network_free(batch->network);
    params_free(batch->params);
    free(batch->input);
    free(batch->d_input);
    free(batch->scores);
    free(batch->d_scores);
    free(batch);
    return NULL;
}

int recommender_batch_capacity(const struct recommender_batch *batch)
{
    return batch->capacity;
}

struct params *recommender_batch_params(struct recommender_batch *batch)
{
    return batch->params;
}

void recommender_batch_changed(struct recommender_batch *batch)
{
    network_pack(batch->network);
}

void recommender_batch_initialise(struct recommender_batch *batch, uint64_t seed, double mean)
{
    params_initialise(batch->params, seed);
    if (batch->config.label == RECOMMENDER_LIKE) {
        mean = fmin(fmax(mean, 0.01), 0.99);
        mean = log(mean / (1 - mean));
    }
    for (size_t i = 0; i < batch->params->count; i++)
        if (str_eq(batch->params->entries[i].name, "output.bias"))
            *params_value(batch->params, i) = (float)mean;
    recommender_batch_changed(batch);
}

/* The embeddings out of the rows: they lie side by side already where a row is nothing else. */
static const float *gather(struct recommender_batch *batch, const float *rows, int n)
{
    size_t dimensions = (size_t)batch->config.dimensions;
    if (batch->config.kind == RECOMMENDER_MLP)
        return rows;
    for (size_t i = 0; i < RECOMMENDER_FIELDS * (size_t)n; i++)
        memcpy(batch->input + i * dimensions, rows + i * (dimensions + 1) + 1,
               dimensions * sizeof(float));
    return batch->input;
}

static void forward(struct recommender_batch *batch, const float *rows, int n, float *ret_scores)
{
    size_t dimensions = (size_t)batch->config.dimensions;
    if (n > batch->capacity)
        mem_panic("a batch of %d samples is larger than its memory for %d", n, batch->capacity);
    const float *deep =
        network_forward(batch->network, batch->tape, batch->workspace, gather(batch, rows, n), n);
    memcpy(ret_scores, deep, (size_t)n * sizeof(float));
    if (batch->config.kind == RECOMMENDER_MLP)
        return;
    for (size_t i = 0; i < (size_t)n; i++) {
        const float *user = rows + RECOMMENDER_FIELDS * i * (dimensions + 1),
                    *item = user + dimensions + 1;
        float product = 0;
        for (size_t d = 1; d <= dimensions; d++)
            product += user[d] * item[d];
        ret_scores[i] += user[0] + item[0] + product;
    }
}

void recommender_batch_predict(struct recommender_batch *batch, const float *rows, int n,
                               float *ret_scores)
{
    forward(batch, rows, n, ret_scores);
}

double recommender_loss(enum recommender_label label, float score, float rating, float *ret_d_score)
{
    if (label == RECOMMENDER_RATING) {
        float difference = score - rating;
        *ret_d_score = 2 * difference;
        return (double)difference * (double)difference;
    }
    /* Cross-entropy in the form that never overflows. */
    double z = (double)score, truth = rating >= RECOMMENDER_LIKED;
    *ret_d_score = (float)(1 / (1 + exp(-z)) - truth);
    return fmax(z, 0) - z * truth + log1p(exp(-fabs(z)));
}

/* score = … + w_user + w_item + Σ user·item, and the embeddings' part from the deep network. */
static void spread(const struct recommender_batch *batch, const float *rows, int n, float *d_rows)
{
    size_t dimensions = (size_t)batch->config.dimensions, row = dimensions + 1;
    for (size_t i = 0; i < (size_t)n; i++) {
        const float *user = rows + RECOMMENDER_FIELDS * i * row, *item = user + row;
        const float *deep = batch->d_input + RECOMMENDER_FIELDS * i * dimensions;
        float *d_user = d_rows + RECOMMENDER_FIELDS * i * row, *d_item = d_user + row;
        float d_score = batch->d_scores[i];
        d_user[0] = d_item[0] = d_score;
        for (size_t d = 1; d <= dimensions; d++) {
            d_user[d] = d_score * item[d] + deep[d - 1];
            d_item[d] = d_score * user[d] + deep[dimensions + d - 1];
        }
    }
}

double recommender_batch_learn(struct recommender_batch *batch, const float *rows,
                               const float *ratings, int n, float *ret_d_rows)
{
    double loss = 0;
    forward(batch, rows, n, batch->scores);
    for (int i = 0; i < n; i++) {
        loss += recommender_loss(batch->config.label, batch->scores[i], ratings[i],
                                 &batch->d_scores[i]);
        batch->d_scores[i] /= (float)n;
    }
    bool plain = batch->config.kind == RECOMMENDER_MLP;
    params_clear_gradients(batch->params);
    network_backward_to_input(batch->network, batch->tape, batch->workspace, batch->d_scores,
                              batch->params->gradients, plain ? ret_d_rows : batch->d_input);
    if (!plain)
        spread(batch, rows, n, ret_d_rows);
    return loss / n;
}
