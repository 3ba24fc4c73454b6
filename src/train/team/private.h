/* What the files of a team share: its parts, its threads and the passes it is to make. Included by
 * team*.c only. */
#ifndef TRAINYARD_TRAIN_TEAM_PRIVATE_H
#define TRAINYARD_TRAIN_TEAM_PRIVATE_H

#include "train/team/exact_sum.h"
#include "train/team/team.h"

#include <pthread.h>

/* A pass is a list of stretches of layers: all parts go through one before any goes on to the
 * next, where a layer has to look at the whole batch, or where gradients can be sent while the rest
 * is computed. */
struct team_stretch {
    int first, last; /* layers first … last - 1 */
    int wide;        /* behind it: the layer whose sums are wanted now, or -1 */
    bool whole;      /* behind it: its gradients can be summed with those of the others */
};

struct team_plan {
    struct team_stretch *stretches;
    int count;
};

struct team_member {
    struct team *team;
    int index;
    struct network_workspace *workspace;
    float *part;      /* gradients of one part of the batch */
    float *gradients; /* of all its parts; the first one's is the arena of the parameters itself */
    float *largest;   /* gradient of any of its parts, for each entry of the parameters */
    pthread_t thread;
};

struct team {
    struct team_options options;
    struct exact_sum sum;
    /* Of the last pass back: the parts, and the largest gradient of any, for each entry of the
     * parameters, in one row; the rows of all workers. After team_reduce() the first row is about
     * the whole batch. */
    float *survey, *all_surveys;
    float *quanta_before; /* while a step is added once more */
    int parts;
    struct network_tape **tapes;           /* one a part: activations live until the way back */
    struct network_workspace **workspaces; /* one a part where the way back has several stretches */
    int threads;
    struct team_member *members;
    struct team_plan forward, back, sending; /* the last: back, with gradients sent on the way */
    size_t begun;           /* gradients from here on are being summed over the workers */
    size_t rows;            /* parts of the largest share */
    float *sums, *all_sums; /* rows of one layer; those of all workers */
    float *totals;
    /* Of the pass under way. */
    const struct team_plan *plan;
    bool is_back;
    const float *inputs, *d_outputs;
    const struct layer_draw *draw;
    float *outputs;
    int result;
    struct err *err;
    pthread_mutex_t start; /* held until all threads are there */
    pthread_barrier_t barrier;
};

/* How many parts so many samples are. */
int team_plan_parts(const struct team_options *options, int samples);
/* Where the parameters of a layer begin; of the one behind the last: where all end. */
size_t team_plan_offset(const struct team *team, int layer);
/* The passes, and the memory that is between their stretches. */
void team_plan_make(struct team *team);
const struct team_plan *team_plan_back(const struct team *team); /* which one is taken now */

/* Where slice `index` of `count` slices begins in so many floats, at a line of the cache. */
static inline size_t team_slice(size_t floats, int index, int count)
{
    return index == count ? floats : floats / (size_t)count * (size_t)index / 16 * 16;
}

void team_need_workspaces(struct team *team, const struct team_plan *plan);

#endif
