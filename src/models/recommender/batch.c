/* Implements the computation of one batch of the recommender; see batch.h. */
#include "models/recommender/batch.h"

#include "base/mem.h"
#include "base/str.h"
#include "train/network/loss_score.h"

#include <math.h>
#include <string.h>

struct recommender_batch {
    struct recommender_config config;
    struct params *params;
    struct network *network;
    struct network_tape *tape;
    struct network_workspace *workspace;
    int capacity;
    float *input, *d_input;   /* embeddings of the user and the item of each sample */
    float *scores, *d_scores; /* one per sample */
};

int recommender_batch_new(const struct recommender_config *config, int capacity,
                          struct recommender_batch **ret, struct err *err)
{
    _cleanup_(cleanup_recommender_batch) struct recommender_batch *batch =
        mem_zalloc(sizeof(*batch));
    if (capacity < 1 || capacity > RECOMMENDER_BATCH_MAX)
        return err_set(err, ERR_INVALID, "the batch has %d samples, but must have 1 to %d",
                       capacity, RECOMMENDER_BATCH_MAX);
    batch->config = *config;
    batch->capacity = capacity;
    batch->params = params_new();
    int result = recommender_network_new(config, batch->params, &batch->network, err);
    if (result < 0)
        return result;
    size_t n = (size_t)capacity, wide = RECOMMENDER_FIELDS * (size_t)config->dimensions;
    batch->tape = network_tape_new(batch->network, capacity);
    batch->workspace = network_workspace_new(batch->network, capacity);
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
    network_tape_free(batch->tape);
    network_workspace_free(batch->workspace);
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

/* Returns the embeddings of the rows, one after another: the input of the network. In the MLP a row
 * is only an embedding, so `rows` is returned without a copy. */
static const float *gather_inputs(struct recommender_batch *batch, const float *rows, int n)
{
    size_t dimensions = (size_t)batch->config.dimensions;
    if (batch->config.kind == RECOMMENDER_MLP)
        return rows;
    for (size_t i = 0; i < RECOMMENDER_FIELDS * (size_t)n; i++)
        memcpy(batch->input + i * dimensions, rows + i * (dimensions + 1) + 1,
               dimensions * sizeof(float));
    return batch->input;
}

/* Runs the forward pass. DeepFM adds the weights of user and item to the output of the network. */
static void forward_batch(struct recommender_batch *batch, const float *rows, int n,
                          float *ret_scores)
{
    size_t dimensions = (size_t)batch->config.dimensions;
    if (n > batch->capacity)
        mem_panic("a batch of %d samples is larger than its memory for %d", n, batch->capacity);
    const float *scores = network_forward(batch->network, batch->tape, batch->workspace,
                                          gather_inputs(batch, rows, n), n);
    memcpy(ret_scores, scores, (size_t)n * sizeof(float));
    if (batch->config.kind == RECOMMENDER_MLP)
        return;
    for (size_t i = 0; i < (size_t)n; i++) {
        const float *user = rows + RECOMMENDER_FIELDS * i * (dimensions + 1),
                    *item = user + dimensions + 1;
        ret_scores[i] += user[0] + item[0];
    }
}

void recommender_batch_predict(struct recommender_batch *batch, const float *rows, int n,
                               float *ret_scores)
{
    forward_batch(batch, rows, n, ret_scores);
}

double recommender_loss(enum recommender_label label, float score, float rating, float *ret_d_score)
{
    if (label == RECOMMENDER_RATING)
        return loss_mse(score, rating, ret_d_score);
    return loss_sigmoid(score, rating >= RECOMMENDER_LIKED, ret_d_score);
}

/* Sets the gradients of the rows of DeepFM. A row has the weight of an id, which is added to the
 * score, and then the embedding of the id. */
static void spread_gradients(const struct recommender_batch *batch, int n, float *d_rows)
{
    size_t dimensions = (size_t)batch->config.dimensions;
    for (size_t i = 0; i < RECOMMENDER_FIELDS * (size_t)n; i++) {
        float *d_row = d_rows + i * (dimensions + 1);
        d_row[0] = batch->d_scores[i / RECOMMENDER_FIELDS];
        memcpy(d_row + 1, batch->d_input + i * dimensions, dimensions * sizeof(float));
    }
}

double recommender_batch_gradients(struct recommender_batch *batch, const float *rows,
                                   const float *ratings, int n, float *ret_d_rows)
{
    double loss = 0;
    forward_batch(batch, rows, n, batch->scores);
    for (int i = 0; i < n; i++) {
        loss += recommender_loss(batch->config.label, batch->scores[i], ratings[i],
                                 &batch->d_scores[i]);
        batch->d_scores[i] /= (float)n;
    }
    bool rows_are_embeddings = batch->config.kind == RECOMMENDER_MLP;
    params_clear_gradients(batch->params);
    network_backward_to_input(batch->network, batch->tape, batch->workspace, batch->d_scores,
                              batch->params->gradients,
                              rows_are_embeddings ? ret_d_rows : batch->d_input);
    if (!rows_are_embeddings)
        spread_gradients(batch, n, ret_d_rows);
    return loss / n;
}
