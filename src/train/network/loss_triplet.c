/* Implements the triplet loss; see loss_triplet.h. Every worker computes this loss for the whole
 * batch, so the computation must take little of the time of a step. Sums have a fixed order for any
 * vector width, so that every worker computes the same bits. */
#include "train/network/loss_triplet.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/widest.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Added under the square root, so that the derivative is finite for two equal embeddings. */
#define TINY 1e-8f

struct triplet {
    int anchor, positive, negative;
};

/* The vector loops run over pictures, not over the terms of a sum, so a sum does not depend on the
 * vector width of the processor. The build disables fused multiply-add for the same reason. */
enum { LANES = 16, VECTORS = 4, BLOCK = LANES * VECTORS /* pictures per block */ };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float))));

/* Sets the squared distances from one picture to each picture of a block. The block has the first
 * coordinates of BLOCK pictures, then the second coordinates, and so on. */
WIDEST static void loss_triplet_fill_block(const float *restrict own, const float *restrict block,
                                           int dim, float *restrict ret)
{
    lanes sums[VECTORS] = {0};
    for (int k = 0; k < dim; k++)
        for (int i = 0; i < VECTORS; i++) {
            lanes apart = *(const lanes *)(const void *)(block + k * BLOCK + i * LANES) - own[k];
            sums[i] += apart * apart;
        }
    memcpy(ret, sums, sizeof(sums));
}

/* Sets distance[n][n] to the squared distances between all pictures. */
static void fill_distances(const float *embeddings, int n, int dim, float *distance)
{
    size_t width = (size_t)dim, pitch = (size_t)n;
    _cleanup_free_ float *block = mem_calloc(BLOCK * width + 1, sizeof(*block));
    for (int first = 0; first < n; first += BLOCK) {
        int count = n - first < BLOCK ? n - first : BLOCK;
        for (int j = 0; j < count; j++)
            for (size_t k = 0; k < width; k++)
                block[k * BLOCK + (size_t)j] = embeddings[(size_t)(first + j) * width + k];
        for (int i = 0; i < n; i++) {
            float row[BLOCK];
            loss_triplet_fill_block(embeddings + (size_t)i * width, block, dim, row);
            memcpy(distance + (size_t)i * pitch + (size_t)first, row, (size_t)count * sizeof(*row));
        }
    }
}

/* Returns the bits of a distance as an integer. Distances are not negative, so the integers have
 * the same order. The minimum of integers can be vectorised. */
static int32_t bits_of(float distance)
{
    int32_t bits;
    memcpy(&bits, &distance, sizeof(bits));
    return bits;
}

enum { NOT_NEGATIVE = INT32_MIN };

/* For each picture of a person other than `own`, sets `bits` to the bits of its distance in `row`.
 * For each picture of `own`, sets NOT_NEGATIVE. */
WIDEST static void loss_triplet_fill_negatives(const float *restrict row,
                                               const int *restrict labels, int n, int own,
                                               int32_t *restrict bits)
{
    for (int k = 0; k < n; k++) {
        int32_t here = bits_of(row[k]);
        bits[k] = labels[k] == own ? NOT_NEGATIVE : here;
    }
}

/* Returns the smallest value above `least`, or INT32_MAX if there is none. */
WIDEST static int32_t loss_triplet_nearest_beyond(const int32_t *bits, int n, int32_t least)
{
    int32_t nearest = INT32_MAX;
    for (int k = 0; k < n; k++) {
        int32_t here = bits[k] > least ? bits[k] : INT32_MAX;
        nearest = here < nearest ? here : nearest;
    }
    return nearest;
}

/* Returns the largest value, or NOT_NEGATIVE if there is no picture of another person. */
WIDEST static int32_t loss_triplet_farthest(const int32_t *bits, int n)
{
    int32_t farthest = NOT_NEGATIVE;
    for (int k = 0; k < n; k++)
        farthest = bits[k] > farthest ? bits[k] : farthest;
    return farthest;
}

/* Returns the nearest picture of another person that is farther away than the positive. If there is
 * none, returns the farthest picture of another person, or -1 if there is no other person. */
static int semi_hard_negative(const int32_t *negatives, int n, float positive)
{
    int32_t bits = loss_triplet_nearest_beyond(negatives, n, bits_of(positive));
    if (bits == INT32_MAX)
        bits = loss_triplet_farthest(negatives, n);
    if (bits == NOT_NEGATIVE)
        return -1;
    int k = 0;
    while (negatives[k] != bits)
        k++;
    return k;
}

/* Sets *ret to the hardest triplet of an anchor. Returns false if the anchor has no positive or no
 * negative. */
static bool batch_hard(const float *row, const int *labels, int n, int anchor, struct triplet *ret)
{
    int positive = -1, negative = -1;
    for (int k = 0; k < n; k++) {
        if (labels[k] != labels[anchor]) {
            if (negative < 0 || row[k] < row[negative])
                negative = k;
        } else if (k != anchor && (positive < 0 || row[k] > row[positive])) {
            positive = k;
        }
    }
    *ret = (struct triplet){anchor, positive, negative};
    return positive >= 0 && negative >= 0;
}

/* Adds the gradient of one triplet. The three pictures must be different. `pull` and `push` are the
 * factors of the gradients with respect to the distances to the positive and to the negative. */
WIDEST static void loss_triplet_add_gradient(const float *restrict anchor,
                                             const float *restrict positive,
                                             const float *restrict negative, float pull, float push,
                                             int dim, float *restrict d_anchor,
                                             float *restrict d_positive, float *restrict d_negative)
{
    for (int k = 0; k < dim; k++) {
        float to_positive = pull * (anchor[k] - positive[k]),
              to_negative = push * (anchor[k] - negative[k]);
        d_anchor[k] += to_positive - to_negative;
        d_positive[k] -= to_positive;
        d_negative[k] += to_negative;
    }
}

/* Returns the loss of one triplet. Adds its gradient to d; the caller divides by the number of
 * triplets. The derivative of |a − b|² with respect to a is 2(a − b). The derivative of |a − b| is
 * (a − b) / |a − b|. */
static double apply_triplet(const struct triplet_config *config, const struct triplet *t,
                            const float *distance, const float *embeddings, int n, int dim,
                            float *d)
{
    const float *row = distance + (size_t)t->anchor * (size_t)n;
    float near = row[t->positive], far = row[t->negative], pull = 2, push = 2;
    if (config->mining == TRIPLET_BATCH_HARD) {
        near = sqrtf(near + TINY);
        far = sqrtf(far + TINY);
        pull = 1 / near;
        push = 1 / far;
    }
    float loss = near - far + config->margin;
    if (loss <= 0)
        return 0;
    size_t a = (size_t)t->anchor * (size_t)dim, p = (size_t)t->positive * (size_t)dim,
           q = (size_t)t->negative * (size_t)dim;
    loss_triplet_add_gradient(embeddings + a, embeddings + p, embeddings + q, pull, push, dim,
                              d + a, d + p, d + q);
    return (double)loss;
}

struct triplet_result loss_triplet(const struct triplet_config *config, const float *embeddings,
                                   const int *labels, int n, int dim, float *d_embeddings)
{
    struct triplet_result result = {0};
    size_t count = (size_t)n * (size_t)dim;
    _cleanup_free_ float *distance = mem_calloc((size_t)n * (size_t)n + 1, sizeof(*distance));
    _cleanup_free_ int32_t *negatives = mem_calloc((size_t)n + 1, sizeof(*negatives));
    fill_distances(embeddings, n, dim, distance);
    memset(d_embeddings, 0, count * sizeof(*d_embeddings));
    double total = 0;
    for (int i = 0; i < n; i++) {
        const float *row = distance + (size_t)i * (size_t)n;
        loss_triplet_fill_negatives(row, labels, n, labels[i], negatives);
        /* batch-hard: one triplet per anchor i; semi-hard: one per anchor i and positive j */
        for (int j = 0; j < (config->mining == TRIPLET_BATCH_HARD ? 1 : n); j++) {
            struct triplet t = {i, j, -1};
            if (config->mining == TRIPLET_BATCH_HARD) {
                if (!batch_hard(row, labels, n, i, &t))
                    continue;
            } else {
                if (negatives[j] != NOT_NEGATIVE || j == i)
                    continue;
                t.negative = semi_hard_negative(negatives, n, row[j]);
                if (t.negative < 0)
                    continue;
            }
            double loss = apply_triplet(config, &t, distance, embeddings, n, dim, d_embeddings);
            result.triplets++;
            result.active += loss > 0;
            total += loss;
        }
    }
    if (result.triplets) {
        float factor = 1 / (float)result.triplets;
        for (size_t i = 0; i < count; i++)
            d_embeddings[i] *= factor;
        result.loss = total / (double)result.triplets;
    }
    return result;
}
