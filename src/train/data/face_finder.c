/* Implements the search for faces; see face_finder.h. The picture is scaled down step by step,
 * because the window has the fixed size with which the cascade was trained. */
#include "train/data/face_finder.h"

#include "base/mem.h"
#include "base/vec.h"
#include "train/data/cascade.h"

#include <math.h>
#include <string.h>

enum {
    /* longer side of the searched picture, in pixels; a larger picture is scaled down first */
    SIDE_MAX = 400,
    SUPPORT_MIN = 3,   /* number of windows that must agree on a face */
    WINDOWS_MAX = 4096 /* accepted windows per picture; more of them are ignored */
};

#define SHRINK   1.1 /* scale factor from one size to the next */
#define SMALLEST 0.2 /* smallest face, as a fraction of the shorter side */
/* Width of the border around the picture, as a fraction of the shorter side. The border is needed
 * for a face that fills the picture. */
#define BORDER 0.1
/* Largest distance of the edges of two windows that agree, as a fraction of the smaller side. */
#define AGREEMENT 0.2
/* The smallest score of a face, as a fraction of the best score. With this value one face is found
 * on each of the 400 portraits of the ORL data set, and two faces on each of 100 pictures that were
 * made of two portraits. */
#define FACE_SCORE_MIN 0.2

struct face_finder {
    struct cascade *cascade;
    int window; /* side of the window of the cascade, in pixels */
};

struct grey {
    int width, height;
    double border; /* width of the border in pixels, which repeats the pixels at the edge */
    float *pixels;
};

int face_finder_new(const char *path, struct face_finder **ret, struct err *err)
{
    _cleanup_(cleanup_cascade) struct cascade *cascade = NULL;
    int width = 0, height = 0, result = cascade_read(path, &cascade, err);
    if (result == -ERR_NOT_FOUND)
        return err_set(err, ERR_NOT_FOUND,
                       "cannot look for faces: '%s' does not exist; install Debian's package "
                       "opencv-data, or use --crop off",
                       path);
    if (result < 0)
        return result;
    cascade_window(cascade, &width, &height);
    if (width != height)
        return err_set(err, ERR_UNSUPPORTED,
                       "'%s' has a window of %d×%d pixels, but only square windows are supported",
                       path, width, height);
    struct face_finder *finder = mem_zalloc(sizeof(*finder));
    finder->cascade = TAKE(cascade);
    finder->window = width;
    *ret = finder;
    return 0;
}

struct face_finder *face_finder_free(struct face_finder *finder)
{
    if (finder) {
        cascade_free(finder->cascade);
        free(finder);
    }
    return NULL;
}

/* ---- Sizes of the picture */

static float grey_at(const struct picture *picture, size_t x, size_t y)
{
    const uint8_t *p = picture->pixels + (y * picture->width + x) * picture->channels;
    return picture->channels == 1
               ? (float)p[0]
               : 0.299f * (float)p[0] + 0.587f * (float)p[1] + 0.114f * (float)p[2];
}

/* Returns the picture in grey, reduced by `factor` in each direction. Each pixel is the mean of the
 * source pixels that it covers. The caller frees grey.pixels. */
static struct grey shrink_picture(const struct picture *picture, double factor)
{
    struct grey grey = {(int)((double)picture->width / factor),
                        (int)((double)picture->height / factor), 0, NULL};
    grey.width = grey.width < 1 ? 1 : grey.width;
    grey.height = grey.height < 1 ? 1 : grey.height;
    grey.border = BORDER * (grey.width < grey.height ? grey.width : grey.height);
    grey.pixels = mem_calloc((size_t)grey.width * (size_t)grey.height, sizeof(float));
    for (int y = 0; y < grey.height; y++)
        for (int x = 0; x < grey.width; x++) {
            size_t left = (size_t)(x * factor), right = (size_t)((x + 1) * factor);
            size_t top = (size_t)(y * factor), bottom = (size_t)((y + 1) * factor);
            right = right > picture->width ? picture->width : right > left ? right : left + 1;
            bottom = bottom > picture->height ? picture->height : bottom > top ? bottom : top + 1;
            float sum = 0;
            for (size_t v = top; v < bottom; v++)
                for (size_t u = left; u < right; u++)
                    sum += grey_at(picture, u, v);
            grey.pixels[y * grey.width + x] = sum / (float)((right - left) * (bottom - top));
        }
    return grey;
}

/* Interpolates between the four nearest pixels. Outside of the picture, repeats the pixels at its
 * edge. */
static float sample_grey(const struct grey *grey, double x, double y)
{
    x = x < 0 ? 0 : x > grey->width - 1 ? grey->width - 1 : x;
    y = y < 0 ? 0 : y > grey->height - 1 ? grey->height - 1 : y;
    int x0 = (int)x, y0 = (int)y;
    int x1 = x0 + 1 < grey->width ? x0 + 1 : x0, y1 = y0 + 1 < grey->height ? y0 + 1 : y0;
    float fx = (float)(x - x0), fy = (float)(y - y0);
    const float *upper = grey->pixels + (size_t)y0 * (size_t)grey->width,
                *lower = grey->pixels + (size_t)y1 * (size_t)grey->width;
    float top = upper[x0] + (upper[x1] - upper[x0]) * fx;
    float bottom = lower[x0] + (lower[x1] - lower[x0]) * fx;
    return top + (bottom - top) * fy;
}

/* Computes the integral images of the picture and its border, both reduced by `factor`. */
static void sum_level(const struct grey *grey, double factor, struct cascade_sums *sums)
{
    sums->width = (int)((grey->width + 2 * grey->border) / factor);
    sums->height = (int)((grey->height + 2 * grey->border) / factor);
    memset(sums->sums, 0, (size_t)sums->stride * sizeof(*sums->sums));
    memset(sums->squares, 0, (size_t)sums->stride * sizeof(*sums->squares));
    for (int y = 0; y < sums->height; y++) {
        size_t above = (size_t)y * (size_t)sums->stride, here = above + (size_t)sums->stride;
        uint32_t sum = 0;
        uint64_t square = 0;
        sums->sums[here] = 0;
        sums->squares[here] = 0;
        for (int x = 0; x < sums->width; x++) {
            float value = sample_grey(grey, (x + 0.5) * factor - 0.5 - grey->border,
                                      (y + 0.5) * factor - 0.5 - grey->border);
            uint32_t pixel = (uint32_t)(value + 0.5f);
            sum += pixel;
            square += (uint64_t)pixel * pixel;
            above++, here++;
            sums->sums[here] = sums->sums[above] + sum;
            sums->squares[here] = sums->squares[above] + square;
        }
    }
}

/* ---- Windows that agree */

/* The accepted windows, as squares of the picture with its border. */
struct boxes {
    VEC(struct picture_square) list;
};

static bool boxes_agree(const struct picture_square *a, const struct picture_square *b)
{
    double apart = AGREEMENT * fmin(a->side, b->side);
    return fabs(a->x - b->x) <= apart && fabs(a->y - b->y) <= apart &&
           fabs(a->x + a->side - b->x - b->side) <= apart &&
           fabs(a->y + a->side - b->y - b->side) <= apart;
}

static size_t root_of(size_t *parents, size_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

/* A group of windows that agree with each other directly or through other windows of the group. */
struct group {
    struct picture_square sum;
    int support;
};

static struct picture_square mean_of(const struct group *group)
{
    return (struct picture_square){group->sum.x / group->support, group->sum.y / group->support,
                                   group->sum.side / group->support};
}

static int by_score(const void *a, const void *b)
{
    double x = ((const struct group *)a)->sum.side, y = ((const struct group *)b)->sum.side;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Returns whether two groups overlap. They show only one face then: the group with the lower score
 * is a false detection, such as a nose or a collar. */
static bool boxes_overlap(const struct picture_square *a, const struct picture_square *b)
{
    double apart = fmax(a->side, b->side) / 2;
    return fabs(a->x + a->side / 2 - b->x - b->side / 2) < apart &&
           fabs(a->y + a->side / 2 - b->y - b->side / 2) < apart;
}

/* Returns the number of faces among `groups`, which are sorted by score. A face has a score of at
 * least FACE_SCORE_MIN times the best score, and does not overlap a face with a better score. */
static size_t count_faces(const struct group *groups, size_t count)
{
    struct picture_square faces[FACE_FINDER_FACES_MAX];
    size_t found = 0;
    for (size_t i = 0; i < count && found < FACE_FINDER_FACES_MAX; i++) {
        if (groups[i].sum.side < FACE_SCORE_MIN * groups[0].sum.side)
            break;
        faces[found] = mean_of(&groups[i]);
        bool apart = true;
        for (size_t j = 0; j < found; j++)
            apart = apart && !boxes_overlap(&faces[j], &faces[found]);
        found += apart;
    }
    return found;
}

/* Groups the windows that agree, and ignores groups with fewer than SUPPORT_MIN windows. The score
 * of a group is the sum of the sides of its windows. Sets *ret to the mean window of the group with
 * the best score. Returns the number of faces, or 0 if no group is left. */
static size_t choose_face(const struct boxes *boxes, struct picture_square *ret)
{
    size_t count = boxes->list.count;
    const struct picture_square *items = boxes->list.items;
    _cleanup_free_ size_t *parents = mem_calloc(count + 1, sizeof(*parents));
    _cleanup_free_ struct group *groups = mem_calloc(count + 1, sizeof(*groups));
    for (size_t i = 0; i < count; i++) {
        parents[i] = i;
        for (size_t j = 0; j < i; j++)
            if (boxes_agree(&items[i], &items[j]))
                parents[root_of(parents, i)] = root_of(parents, j);
    }
    for (size_t i = 0; i < count; i++) {
        struct group *group = &groups[root_of(parents, i)];
        group->sum.x += items[i].x;
        group->sum.y += items[i].y;
        group->sum.side += items[i].side;
        group->support++;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (groups[i].support >= SUPPORT_MIN)
            groups[kept++] = groups[i];
    if (kept == 0)
        return 0;
    qsort(groups, kept, sizeof(*groups), by_score);
    *ret = mean_of(&groups[0]);
    return count_faces(groups, kept);
}

/* Adds the windows that the cascade accepts at one size of the picture. */
static void search_level(const struct cascade_plan *plan, const struct cascade_sums *sums,
                         int window, double factor, struct boxes *ret)
{
    int step = factor > 2 ? 1 : 2; /* strongly reduced pictures are searched at every position */
    for (int y = 0; y + window <= sums->height; y += step)
        for (int x = 0; x + window <= sums->width; x += step)
            if (ret->list.count < WINDOWS_MAX && cascade_accepts(plan, sums, x, y)) {
                struct picture_square box = {x * factor, y * factor, window * factor};
                vec_push(&ret->list, box);
            }
}

size_t face_finder_find(const struct face_finder *finder, const struct picture *picture,
                        struct picture_square *ret)
{
    size_t longer = picture->width > picture->height ? picture->width : picture->height;
    double reduction = longer > SIDE_MAX ? (double)longer / SIDE_MAX : 1;
    struct grey grey = shrink_picture(picture, reduction);
    double factor =
        SMALLEST * (grey.width < grey.height ? grey.width : grey.height) / finder->window;
    factor = factor < 1 ? 1 : factor;
    struct cascade_sums sums = {.stride = (int)(grey.width + 2 * grey.border) + 1};
    size_t rows = (size_t)(grey.height + 2 * grey.border) + 1;
    sums.sums = mem_calloc(rows * (size_t)sums.stride, sizeof(*sums.sums));
    sums.squares = mem_calloc(rows * (size_t)sums.stride, sizeof(*sums.squares));
    _cleanup_(cleanup_cascade_plan) struct cascade_plan *plan =
        cascade_plan_new(finder->cascade, sums.stride);
    struct boxes boxes = {0};
    for (;; factor *= SHRINK) {
        sum_level(&grey, factor, &sums);
        if (sums.width < finder->window || sums.height < finder->window)
            break;
        search_level(plan, &sums, finder->window, factor, &boxes);
    }
    struct picture_square best = {0};
    size_t found = choose_face(&boxes, &best);
    if (found)
        *ret = (struct picture_square){(best.x - grey.border) * reduction,
                                       (best.y - grey.border) * reduction, best.side * reduction};
    vec_release(&boxes.list);
    free(sums.sums);
    free(sums.squares);
    free(grey.pixels);
    return found;
}
