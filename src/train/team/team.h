/* The threads of one worker, which compute its share of a batch in parts. A part is small enough
 * that activations stay in the cache, and large enough to fill the kernels' tiles. Gradients are
 * added such that the grouping does not matter (exact_sum.h): if every worker's share is a whole
 * number of parts, the parts, and every bit of the result, are the same for any number of workers
 * and threads. Sums that a layer needs over the whole batch are gathered from all workers during
 * the pass; therefore all workers run the same passes. The training of each model uses it. It knows
 * nothing about losses. */
#ifndef TRAINYARD_TRAIN_TEAM_TEAM_H
#define TRAINYARD_TRAIN_TEAM_TEAM_H

#include "train/network/network.h"
#include "train/network/optimizer.h"
#include "train/team/reducer.h"

struct team_options {
    struct network *network; /* both must outlive the team */
    struct params *params;
    int samples; /* of the share of this worker */
    /* the largest share of any worker; needed if a layer sums over the whole batch */
    int share_max;
    int part; /* samples per part */
    int threads;
    struct reducer *reducer; /* NULL: a single worker, nothing is reduced */
    /* Gradients are summed over the workers in pieces of at least this many floats. Each piece is
     * sent as soon as it is complete, while earlier layers are still computed, if workers are on
     * several machines and no layer sums over the whole batch. 0: everything is summed at the end.
     */
    size_t bucket;
};

enum { TEAM_THREADS_MAX = 64, TEAM_BUCKET = 1 << 20 /* floats: 4 MiB */ };

struct team;

int team_new(const struct team_options *options, struct team **ret, struct err *err);
struct team *team_free(struct team *team); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(team)

/* Runs the whole share forward. `inputs` must live until team_backward(). `draw` is that of the
 * first sample. */
int team_forward(struct team *team, const float *inputs, const struct layer_draw *draw,
                 float *ret_outputs, struct err *err);

/* Sets params->gradients to the sum over the share, and the floats behind them to zero. Until
 * team_reduce() the caller may change only those floats behind the gradients. */
int team_backward(struct team *team, const float *d_outputs, struct err *err);

/* Sums the gradients and the floats behind them over all workers. Called after every successful
 * team_backward(). If any part of any worker was too large to be added exactly, all workers repeat
 * the backward pass, as always in the first step of a run; `d_outputs` must still be valid. */
int team_reduce(struct team *team, struct err *err);

/* Called after a successful step, with the sum over all workers in params->gradients: chooses the
 * quanta of the next step and updates running statistics. */
void team_learn(struct team *team);

/* Clips that sum (see optimizer_clip(); 0: never), lets the optimizer step, and packs the weights
 * of the network. All threads take part; their number does not change a bit of the result. */
void team_update(struct team *team, struct optimizer *optimizer, float clip, uint64_t step,
                 float rate);

/* The floats learned beside the parameters, equal in all workers. A worker that copies the state of
 * another overwrites them. */
float *team_learned(struct team *team, size_t *ret_count);

/* Changes the share of this worker. The learned floats stay. */
int team_share(struct team **team, int samples, int share_max, struct err *err);

#endif
