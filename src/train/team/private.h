/* The inside of a team: its parts, its threads and the passes it makes. Only the files of team/
 * include it. */
#ifndef TRAINYARD_TRAIN_TEAM_PRIVATE_H
#define TRAINYARD_TRAIN_TEAM_PRIVATE_H

#include "train/team/exact_sum.h"
#include "train/team/team.h"

#include <pthread.h>

/* A pass is a list of stretches of layers. All parts of the batch finish one stretch before any
 * part begins the next. A stretch ends where a layer needs sums over the whole batch, or where
 * gradients can be sent while the rest is computed. */
struct team_stretch {
    int first, last; /* layers first … last - 1 */
    int wide;        /* the layer behind the stretch whose sums are needed next; -1: none */
    bool whole;      /* the gradients of the stretch can be summed over the workers after it */
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
    float *gradients; /* of all parts of this member; member 0 uses the arena of the parameters */
    float *largest;   /* largest gradient of any part of this member, per entry of the parameters */
    pthread_t thread;
};

struct team {
    struct team_options options;
    struct exact_sum sum;
    /* About the last backward pass: the number of parts, then the largest gradient of any part, per
     * entry of the parameters. After team_reduce() it covers the whole batch. */
    float *survey;
    float *all_surveys;   /* the surveys of all workers, one row each */
    float *quanta_before; /* the quanta before the step is added again */
    int parts;
    struct network_tape **tapes; /* one per part: activations live until the backward pass */
    /* one per part if the backward pass has several stretches */
    struct network_workspace **workspaces;
    int threads;
    struct team_member *members;
    /* sending: the backward pass that sends gradients while it computes */
    struct team_plan forward, back, sending;
    size_t begun;           /* gradients from this offset on are being summed over the workers */
    size_t rows;            /* parts of the largest share of any worker */
    float *sums, *all_sums; /* the sums of one layer: a row per part; the rows of all workers */
    float *totals;
    /* The current pass. */
    const struct team_plan *plan;
    bool is_back;
    const float *inputs, *d_outputs;
    const struct layer_draw *draw;
    float *outputs;
    int result;
    struct err *err;
    pthread_mutex_t start; /* held until all threads have started */
    pthread_barrier_t barrier;
};

/* How many parts `samples` samples make. */
int team_plan_parts(const struct team_options *options, int samples);
/* Where the parameters of a layer begin. For the number of layers: where all parameters end. */
size_t team_plan_offset(const struct team *team, int layer);
/* Makes the passes, and the memory that lives between their stretches. */
void team_plan_make(struct team *team);
const struct team_plan *team_plan_back(const struct team *team); /* the backward pass to use now */

/* Where slice `index` of `count` slices of `floats` floats begins: at a cache line. */
static inline size_t team_slice(size_t floats, int index, int count)
{
    return index == count ? floats : floats / (size_t)count * (size_t)index / 16 * 16;
}

void team_need_workspaces(struct team *team, const struct team_plan *plan);

#endif
