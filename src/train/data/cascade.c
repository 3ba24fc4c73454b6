/* Evaluates a cascade; see cascade.h. */
#include "train/data/cascade_internal.h"

#include <math.h>

/* A cascade of Haar features rejects windows in which the standard deviation of the pixels is less
 * than DEVIATION_MIN, because they show no object. THRESHOLD_SLACK allows for thresholds that were
 * rounded when the file was written. */
#define DEVIATION_MIN   10.0
#define THRESHOLD_SLACK 1e-5f

/* Offsets of the corners of a rectangle in the integral image. The sum of the pixels in the
 * rectangle is a - b - c + d. */
struct corners {
    int a, b, c, d;
};

struct planned_feature {
    int count;
    float weights[CASCADE_RECTANGLES];
    struct corners corners[CASCADE_RECTANGLES];
    int cells[4][4]; /* local binary patterns: offsets of the corners of the 3 × 3 cells */
};

struct cascade_plan {
    const struct cascade *cascade;
    int stride;
    struct planned_feature *features;
    struct corners inner; /* the window without its outer pixels, for measuring the contrast */
};

void cascade_window(const struct cascade *cascade, int *ret_width, int *ret_height)
{
    *ret_width = cascade->width;
    *ret_height = cascade->height;
}

struct cascade *cascade_free(struct cascade *cascade)
{
    if (!cascade)
        return NULL;
    vec_release(&cascade->stages);
    vec_release(&cascade->trees);
    vec_release(&cascade->nodes);
    vec_release(&cascade->leaves);
    vec_release(&cascade->features);
    free(cascade);
    return NULL;
}

static struct corners corners_of(int x, int y, int width, int height, int stride)
{
    return (struct corners){
        .a = y * stride + x,
        .b = y * stride + x + width,
        .c = (y + height) * stride + x,
        .d = (y + height) * stride + x + width,
    };
}

struct cascade_plan *cascade_plan_new(const struct cascade *cascade, int stride)
{
    struct cascade_plan *plan = mem_zalloc(sizeof(*plan));
    plan->cascade = cascade;
    plan->stride = stride;
    plan->inner = corners_of(1, 1, cascade->width - 2, cascade->height - 2, stride);
    plan->features = mem_calloc(cascade->features.count, sizeof(*plan->features));
    for (size_t i = 0; i < cascade->features.count; i++) {
        const struct cascade_feature *from = &cascade->features.items[i];
        struct planned_feature *to = &plan->features[i];
        to->count = from->count;
        for (int k = 0; k < from->count; k++) {
            const struct cascade_rectangle *r = &from->rectangles[k];
            to->weights[k] = r->weight;
            to->corners[k] = corners_of(r->x, r->y, r->width, r->height, stride);
        }
        const struct cascade_rectangle *cell = &from->rectangles[0];
        for (int row = 0; cascade->patterns && row < 4; row++)
            for (int column = 0; column < 4; column++)
                to->cells[row][column] =
                    (cell->y + row * cell->height) * stride + cell->x + column * cell->width;
    }
    return plan;
}

struct cascade_plan *cascade_plan_free(struct cascade_plan *plan)
{
    if (plan) {
        free(plan->features);
        free(plan);
    }
    return NULL;
}

/* Returns the weighted sum over the rectangles of a Haar feature, for the window whose top left
 * element is *at. The integral image may wrap around, but the differences are correct, because no
 * window has a sum of 2^32 or more. */
static float feature_sum(const struct planned_feature *feature, const uint32_t *at)
{
    float sum = 0;
    for (int i = 0; i < feature->count; i++) {
        const struct corners *c = &feature->corners[i];
        sum += feature->weights[i] * (float)(at[c->a] - at[c->b] - at[c->c] + at[c->d]);
    }
    return sum;
}

/* Returns the local binary pattern of the window: one bit per neighbour of the centre cell,
 * clockwise from the upper left. A bit is set if the neighbour is not darker than the centre. */
static unsigned feature_pattern(const struct planned_feature *feature, const uint32_t *at)
{
    static const uint8_t AROUND[8][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 2},
                                         {2, 2}, {2, 1}, {2, 0}, {1, 0}};
    uint32_t cells[3][3];
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            cells[row][column] =
                at[feature->cells[row][column]] - at[feature->cells[row][column + 1]] -
                at[feature->cells[row + 1][column]] + at[feature->cells[row + 1][column + 1]];
    unsigned code = 0;
    for (int i = 0; i < 8; i++)
        code = code << 1 | (cells[AROUND[i][0]][AROUND[i][1]] >= cells[1][1]);
    return code;
}

static bool goes_left(const struct cascade_plan *plan, const struct cascade_node *node,
                      const uint32_t *at, float scale)
{
    const struct planned_feature *feature = &plan->features[node->feature];
    if (!plan->cascade->patterns)
        return feature_sum(feature, at) * scale < node->threshold;
    unsigned code = feature_pattern(feature, at);
    return node->subset[code >> 5] >> (code & 31) & 1;
}

static float evaluate_tree(const struct cascade_plan *plan, const struct cascade_tree *tree,
                           const uint32_t *at, float scale)
{
    const struct cascade_node *nodes = plan->cascade->nodes.items + tree->first_node;
    int next = 0;
    do
        next = goes_left(plan, &nodes[next], at, scale) ? nodes[next].left : nodes[next].right;
    while (next > 0);
    return plan->cascade->leaves.items[tree->first_leaf + (uint32_t)-next];
}

/* Returns 1 / (area × standard deviation) of the window, or 0 if the window has too little
 * contrast. Haar features are multiplied by this number. */
static float window_scale(const struct cascade_plan *plan, const uint32_t *at,
                          const uint64_t *squares)
{
    const struct corners *c = &plan->inner;
    double area = (double)(plan->cascade->width - 2) * (plan->cascade->height - 2);
    double sum = (double)(at[c->a] - at[c->b] - at[c->c] + at[c->d]);
    double square = (double)(squares[c->a] - squares[c->b] - squares[c->c] + squares[c->d]);
    double spread = area * square - sum * sum;
    if (spread < area * area * DEVIATION_MIN * DEVIATION_MIN)
        return 0;
    return (float)(1 / sqrt(spread));
}

bool cascade_accepts(const struct cascade_plan *plan, const struct cascade_sums *sums, int x, int y)
{
    const struct cascade *cascade = plan->cascade;
    size_t place = (size_t)y * (size_t)plan->stride + (size_t)x;
    const uint32_t *at = sums->sums + place;
    float scale = 1;
    if (!cascade->patterns) {
        scale = window_scale(plan, at, sums->squares + place);
        if (scale == 0)
            return false;
    }
    for (size_t i = 0; i < cascade->stages.count; i++) {
        const struct cascade_stage *stage = &cascade->stages.items[i];
        float sum = 0;
        for (uint32_t k = 0; k < stage->tree_count; k++)
            sum += evaluate_tree(plan, &cascade->trees.items[stage->first_tree + k], at, scale);
        if (sum < stage->threshold - THRESHOLD_SLACK)
            return false;
    }
    return true;
}
