/* The threads of one worker, which compute its share of a batch in parts. A part is small enough
 * that activations stay in the cache, and large enough to fill the kernels' tiles. The sum of the
 * gradients does not depend on their grouping (exact_sum.h). If every worker's share is a whole
 * number of parts, every bit of the result is therefore the same for any number of workers and
 * threads. Some layers need sums over the whole batch, which are gathered from all workers during a
 * pass, so all workers must run the same passes. Synchronous training uses a team. The caller
 * computes the loss. */
#ifndef TRAINYARD_TRAIN_TEAM_TEAM_H
#define TRAINYARD_TRAIN_TEAM_TEAM_H

#include "train/network/network.h"
#include "train/network/optimizer.h"
#include "train/team/reducer.h"

struct team_options {
    struct network *network; /* network and params must outlive the team */
    struct params *params;
    int samples; /* number of samples in the share of this worker */
    /* samples in the largest share of any worker; needed if a layer sums over the whole batch */
    int share_max;
    int part; /* samples per part */
    int threads;
    struct reducer *reducer; /* NULL: a single worker, so nothing is summed */
    /* The smallest number of gradients that are summed over the workers during the backward pass,
     * while the remaining layers are computed. Used if workers are on several machines and no layer
     * sums over the whole batch. 0: all gradients are summed after the pass. */
    size_t bucket;
};

enum { TEAM_THREADS_MAX = 64, TEAM_BUCKET = 1 << 20 /* floats: 4 MiB */ };

struct team;

int team_new(const struct team_options *options, struct team **ret, struct err *err);
struct team *team_free(struct team *team); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(team)

/* Runs the forward pass of the whole share. `inputs` must stay valid until team_reduce() returns,
 * because it may repeat the backward pass. `draw` is the key of the first sample of the share. */
int team_forward(struct team *team, const float *inputs, const struct layer_draw *draw,
                 float *ret_outputs, struct err *err);

/* Sets params->gradients to the sum over the share, and the PARAMS_TAIL floats after the gradients
 * to zero. Until team_reduce() the caller may change only the floats after the gradients. */
int team_backward(struct team *team, const float *d_outputs, struct err *err);

/* Sums the gradients and the PARAMS_TAIL floats after them over all workers. Must be called after
 * every successful team_backward(). If any part of any worker was too large to be added exactly,
 * all workers repeat the backward pass. This happens in the first step of a new run, because there
 * are no quanta yet. `d_outputs` must still be valid. */
int team_reduce(struct team *team, struct err *err);

/* Chooses the quanta of the next step and updates running statistics. Called after team_reduce(),
 * when params->gradients is the sum over all workers. */
void team_learn(struct team *team);

/* Clips the gradients (see optimizer_clip(); 0: no limit). Then runs the optimizer step and packs
 * the weights of the network, both on several threads. The result does not depend on the number of
 * threads. */
void team_update(struct team *team, struct optimizer *optimizer, float clip, uint64_t step,
                 float rate);

/* Returns the floats that are learned in addition to the parameters. They are equal on all workers.
 * A worker that copies the state of another worker overwrites them. */
float *team_learned(struct team *team, size_t *ret_count);

/* Changes the share of this worker. Replaces *team, but keeps the learned floats. */
int team_share(struct team **team, int samples, int share_max, struct err *err);

#endif
