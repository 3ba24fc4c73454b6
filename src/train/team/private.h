/* The struct of a team, with its parts of the batch, its threads and its passes. Only the files of
 * team/ include this header. */
#ifndef TRAINYARD_TRAIN_TEAM_PRIVATE_H
#define TRAINYARD_TRAIN_TEAM_PRIVATE_H

#include "train/team/exact_sum.h"
#include "train/team/team.h"

#include <pthread.h>

/* A pass is a list of stretches of layers. All parts of the batch finish one stretch before any
 * part begins the next. A stretch ends where a wide layer needs sums over the whole batch, or where
 * gradients can be sent while the remaining layers are computed. */
struct team_stretch {
    int first, last; /* layers first … last - 1 */
    int wide;        /* the wide layer that needs its sums after the stretch; -1: none */
    bool whole;      /* after the stretch, its gradients are sent to the other workers */
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
    float *gradients; /* sum over the parts of this thread; member 0 uses params->gradients */
    float *largest;   /* per parameter entry: the largest gradient in any part of this thread */
    pthread_t thread;
};

struct team {
    struct team_options options;
    struct exact_sum sum;
    /* A record of the last backward pass: the number of parts, then the largest gradient of any
     * part for each parameter entry. After team_reduce() it covers the whole batch. */
    float *survey;
    float *all_surveys;   /* the surveys of all workers, one row per worker */
    float *quanta_before; /* the quanta before the backward pass was repeated */
    int parts;
    struct network_tape **tapes; /* one per part; keeps its activations until the backward pass */
    /* one per part if the backward pass has several stretches; otherwise unused */
    struct network_workspace **workspaces;
    int threads;
    struct team_member *members;
    /* the passes; `sending` is a backward pass that sends gradients while it computes */
    struct team_plan forward, back, sending;
    size_t begun; /* reducer->begin() was called for the gradients from this offset to the end */
    size_t rows;  /* number of parts in the largest share of any worker */
    /* The sums of one wide layer, one row per part. `sums` has the rows of this worker, and
     * all_sums the rows of all workers. */
    float *sums, *all_sums;
    float *totals;
    /* The current pass. */
    const struct team_plan *plan;
    bool is_back;
    const float *inputs, *d_outputs;
    const struct layer_draw *draw;
    float *outputs;
    int result;
    struct err *err;
    pthread_mutex_t start; /* locked until all threads have started */
    pthread_barrier_t barrier;
};

/* Returns the number of parts into which `samples` samples are divided. */
int team_plan_parts(const struct team_options *options, int samples);
/* Returns the offset of the first parameter of a layer. If `layer` is the number of layers, returns
 * the end of all parameters. */
size_t team_plan_offset(const struct team *team, int layer);
/* Plans the passes, and allocates the memory for sums over the whole batch. */
void team_plan_make(struct team *team);
const struct team_plan *team_plan_back(const struct team *team); /* the backward pass to use now */

/* Returns the offset at which slice `index` of `count` slices of `floats` floats begins, aligned to
 * a cache line. */
static inline size_t team_slice(size_t floats, int index, int count)
{
    return index == count ? floats : floats / (size_t)count * (size_t)index / 16 * 16;
}

void team_need_workspaces(struct team *team, const struct team_plan *plan);

#endif
