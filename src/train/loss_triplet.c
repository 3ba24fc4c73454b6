/* The triplet loss; see loss_triplet.h. Sums run in a fixed order, so that every worker computes
 * the same bits. */
#include "train/loss_triplet.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Under the root, so that two equal pictures have a slope. */
#define TINY 1e-8f

struct triplet {
    int anchor, positive, negative;
};

static void fill_distances(const float *embeddings, int n, int dim, float *distance)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const float *a = embeddings + (size_t)i * (size_t)dim,
                        *b = embeddings + (size_t)j * (size_t)dim;
            /* Eight sums side by side, which the compiler can keep in a vector. */
            float sum[8] = {0}, total = 0;
            int k = 0;
            for (; k + 8 <= dim; k += 8)
                for (int l = 0; l < 8; l++)
                    sum[l] += (a[k + l] - b[k + l]) * (a[k + l] - b[k + l]);
            for (; k < dim; k++)
                total += (a[k] - b[k]) * (a[k] - b[k]);
            for (int l = 0; l < 8; l++)
                total += sum[l];
            distance[(size_t)i * (size_t)n + (size_t)j] = total;
            distance[(size_t)j * (size_t)n + (size_t)i] = total;
        }
}

/* -1 where there is no stranger. */
static int semi_hard_negative(const float *row, const int *labels, int n, int anchor, int positive)
{
    int nearest = -1, farthest = -1;
    for (int k = 0; k < n; k++) {
        if (labels[k] == labels[anchor])
            continue;
        if (row[k] > row[positive] && (nearest < 0 || row[k] < row[nearest]))
            nearest = k;
        if (farthest < 0 || row[k] > row[farthest])
            farthest = k;
    }
    return nearest >= 0 ? nearest : farthest;
}

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

/* The loss of one triplet; its gradient is added to d, not yet divided by the number of triplets.
 * The derivative of |a − b|² by a is 2(a − b), that of |a − b| is (a − b) / |a − b|. */
static double apply(const struct triplet_config *config, const struct triplet *t,
                    const float *distance, const float *embeddings, int n, int dim, float *d)
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
    for (int k = 0; k < dim; k++, a++, p++, q++) {
        float to_positive = pull * (embeddings[a] - embeddings[p]),
              to_negative = push * (embeddings[a] - embeddings[q]);
        d[a] += to_positive - to_negative;
        d[p] -= to_positive;
        d[q] += to_negative;
    }
    return (double)loss;
}

struct triplet_result triplet_loss(const struct triplet_config *config, const float *embeddings,
                                   const int *labels, int n, int dim, float *d_embeddings)
{
    struct triplet_result result = {0};
    size_t count = (size_t)n * (size_t)dim;
    _cleanup_free_ float *distance = mem_calloc((size_t)n * (size_t)n + 1, sizeof(*distance));
    fill_distances(embeddings, n, dim, distance);
    memset(d_embeddings, 0, count * sizeof(*d_embeddings));
    double total = 0;
    for (int i = 0; i < n; i++) {
        const float *row = distance + (size_t)i * (size_t)n;
        /* One triplet an anchor, or one a pair of one person. */
        for (int j = 0; j < (config->mining == TRIPLET_BATCH_HARD ? 1 : n); j++) {
            struct triplet t = {i, j, -1};
            if (config->mining == TRIPLET_BATCH_HARD) {
                if (!batch_hard(row, labels, n, i, &t))
                    continue;
            } else {
                if (j == i || labels[j] != labels[i])
                    continue;
                t.negative = semi_hard_negative(row, labels, n, i, j);
                if (t.negative < 0)
                    continue;
            }
            double loss = apply(config, &t, distance, embeddings, n, dim, d_embeddings);
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
