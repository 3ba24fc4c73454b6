/* The struct of a team, with its parts of the batch, its threads and its passes. team.c, plan.c,
 * pass.c, reduce.c and update.c implement team.h with it. No other file may include this header. */
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
    bool sends;      /* after the stretch, its gradients are sent to the other workers */
};

struct team_plan {
    struct team_stretch *stretches;
    int count;
};

/* One of the threads of a team. */
struct team_member {
    struct team *team;
    int index; /* 0: the thread that calls the functions of team.h */
    /* the workspace for parts that have none in team->workspaces; may be NULL */
    struct network_workspace *workspace;
    float *part; /* gradients of one part of the batch */
    /* sum of the gradients over the parts of this thread; member 0 uses params->gradients */
    float *gradients;
    /* per parameter entry: the largest magnitude of a gradient in any part of this thread */
    float *largest;
    pthread_t thread; /* unused in member 0 */
};

struct team {
    struct team_options options;
    struct exact_sum sum; /* the quanta of the current step */
    /* A record of the latest backward pass: the number of parts, then for each parameter entry the
     * largest magnitude of a gradient in any part. The record covers the share of this worker.
     * After team_reduce() with a reducer it covers the whole batch. */
    float *survey;
    float *all_surveys;          /* the surveys of all workers, one row per worker */
    float *quanta_before;        /* the quanta before the backward pass was repeated */
    int parts;                   /* number of parts in the share of this worker */
    struct network_tape **tapes; /* one per part; keeps its activations until the backward pass */
    /* one per part; NULL until a backward pass with several stretches needs them */
    struct network_workspace **workspaces;
    int threads;                 /* number of members; at most options.threads */
    struct team_member *members; /* one per thread */
    struct team_plan forward, back;
    struct team_plan sending; /* a backward pass that sends gradients while it computes */
    /* reducer->begin() was called for the gradients from this offset to the end */
    size_t begun;
    size_t rows;     /* number of parts in the largest share of any worker */
    float *sums;     /* the sums of one wide layer, one row per part of this worker */
    float *all_sums; /* the sums of one wide layer, one row per part of all workers */
    float *totals;   /* the merged sums of all wide layers; see network_tape_use_totals() */

    /* The members below describe the current pass. */
    const struct team_plan *plan;
    bool is_back; /* it is a backward pass */
    const float *inputs, *d_outputs;
    const struct layer_draw *draw;
    float *outputs;
    int result;            /* 0, or the first error of the pass */
    struct err *err;       /* the error object of the caller; may be NULL */
    pthread_mutex_t start; /* locked until all threads have started, or one could not be started */
    pthread_barrier_t barrier; /* all threads wait here after each stretch */
};

/* Returns the number of parts into which `samples` samples are divided. */
int team_plan_parts(const struct team_options *options, int samples);
/* Returns the offset of the first parameter that layer `layer` or a later layer has declared. If
 * there is none, returns the end of all parameters. */
size_t team_plan_offset(const struct team *team, int layer);
/* Plans the passes, and allocates the memory for sums over the whole batch. */
void team_plan_make(struct team *team);
/* Returns the plan of the next backward pass: team->sending or team->back. */
const struct team_plan *team_plan_back(const struct team *team);

/* Divides `floats` floats into `count` slices. Returns the offset of slice `index`, which is
 * aligned to a cache line. If `index` is `count`, returns the end of the last slice. */
static inline size_t team_slice(size_t floats, int index, int count)
{
    return index == count ? floats : floats / (size_t)count * (size_t)index / 16 * 16;
}

/* Creates one workspace per part if the plan has several stretches, unless they exist already,
 * because the gradients of activations must be kept from one stretch to the next. */
void team_need_workspaces(struct team *team, const struct team_plan *plan);

#endif
