/* Computes how well distances separate pairs of pictures of one person from pairs of pictures of
 * two persons, and how well scores separate positive samples from negative samples; see metrics.h.
 */
#include "train/network/metrics.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <math.h>

static int pair_compare_distance(const void *a, const void *b)
{
    float x = ((const struct metrics_pair *)a)->distance,
          y = ((const struct metrics_pair *)b)->distance;
    return (x > y) - (x < y);
}

struct metrics metrics_of_pairs(struct metrics_pair *pairs, size_t count)
{
    struct metrics m = {.auc = 0.5, .accuracy = 0.5};
    for (size_t i = 0; i < count; i++)
        *(pairs[i].same ? &m.same : &m.different) += 1;
    if (m.same == 0 || m.different == 0)
        return m;
    qsort(pairs, count, sizeof(*pairs), pair_compare_distance);
    /* The number of combinations of a pair of one person and a pair of two persons in which the
     * first pair has the smaller distance. A tie counts as one half. */
    double nearer = 0;
    size_t same = 0, different = 0;
    for (size_t i = 0; i < count;) {
        size_t same_here = 0, different_here = 0, j = i;
        for (; j < count && pairs[j].distance == pairs[i].distance; j++)
            *(pairs[j].same ? &same_here : &different_here) += 1;
        nearer += (double)different_here * ((double)same + (double)same_here / 2);
        same += same_here;
        different += different_here;
        double accuracy = ((double)same / (double)m.same +
                           (double)(m.different - different) / (double)m.different) /
                          2;
        if (accuracy > m.accuracy) {
            m.accuracy = accuracy;
            /* The threshold is in the middle between this distance and the next distance. */
            m.threshold = j < count ? ((double)pairs[i].distance + (double)pairs[j].distance) / 2
                                    : (double)pairs[i].distance;
        }
        i = j;
    }
    m.auc = nearer / ((double)m.same * (double)m.different);
    return m;
}

/* Chooses the points so that `same` + `different` grows by about the same amount from each point to
 * the next. Pairs with the same distance belong to the same point. */
size_t metrics_roc(const struct metrics_pair *sorted, size_t count, struct metrics_point *ret,
                   size_t max)
{
    size_t same = 0, different = 0, points = 0, same_total = 0;
    for (size_t i = 0; i < count; i++)
        same_total += sorted[i].same;
    if (same_total == 0 || same_total == count)
        return 0;
    ret[points++] = (struct metrics_point){0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        *(sorted[i].same ? &same : &different) += 1;
        struct metrics_point here = {.threshold = (double)sorted[i].distance,
                                     .same = (double)same / (double)same_total,
                                     .different = (double)different / (double)(count - same_total)};
        double place = (here.same + here.different) / 2 * (double)(max - 2);
        if (i + 1 == count ||
            (sorted[i + 1].distance > sorted[i].distance && place >= (double)points))
            ret[points++] = here;
    }
    return points;
}

/* Negates the scores, because a small distance means a positive pair. */
double metrics_auc(const float *scores, const bool *positive, size_t count)
{
    _cleanup_free_ struct metrics_pair *pairs = mem_calloc(count + 1, sizeof(*pairs));
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct metrics_pair){-scores[i], positive[i]};
    return metrics_of_pairs(pairs, count).auc;
}

float metrics_distance(const float *a, const float *b, size_t dim)
{
    double sum = 0;
    for (size_t i = 0; i < dim; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return (float)sqrt(sum);
}

struct metrics metrics_of_vectors(const float *vectors, const int *labels, size_t n, size_t dim)
{
    if (n > METRICS_PICTURES_MAX)
        mem_panic("%zu pictures are too many to compare in pairs", n);
    _cleanup_free_ struct metrics_pair *pairs = mem_calloc(n * n / 2 + 1, sizeof(*pairs));
    _cleanup_free_ float *best = mem_calloc(n + 1, sizeof(*best));
    _cleanup_free_ size_t *nearest = mem_calloc(n + 1, sizeof(*nearest));
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        best[i] = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            float distance = metrics_distance(vectors + i * dim, vectors + j * dim, dim);
            pairs[count++] = (struct metrics_pair){distance, labels[i] == labels[j]};
            if (distance < best[i])
                best[i] = distance, nearest[i] = j;
            if (distance < best[j])
                best[j] = distance, nearest[j] = i;
        }
    struct metrics m = metrics_of_pairs(pairs, count);
    size_t correct = 0;
    for (size_t i = 0; i < n; i++)
        correct += n > 1 && labels[nearest[i]] == labels[i];
    m.nearest = n ? (double)correct / (double)n : 0;
    return m;
}
