/* The threads of one worker, which compute its share of a batch. The share is the samples that this
 * worker processes. The share is divided into parts of equal size; only the last part may be
 * smaller. A part is small enough that activations stay in the cache, and large enough to fill the
 * kernels' tiles. The sum of the gradients does not depend on their grouping (exact_sum.h). If the
 * team has a reducer that does not round (struct reducer), and every worker's share is a whole
 * number of parts, every bit of the result is therefore the same for any number of workers and
 * threads. Some layers need sums over the whole batch, which are gathered from all workers during a
 * pass, so all workers must run the same passes.
 *
 * The trainers of the models (trainer.c in src/models/) use a team, and compute the loss between
 * its forward and its backward pass. Only the thread that trains may call these functions. */
#ifndef TRAINYARD_TRAIN_TEAM_TEAM_H
#define TRAINYARD_TRAIN_TEAM_TEAM_H

#include "train/network/network.h"
#include "train/network/optimizer.h"
#include "train/team/reducer.h"

struct team_options {
    struct network *network; /* must be finished, and outlive the team */
    struct params *params;   /* the parameters of `network`; must outlive the team */
    int samples;             /* number of samples in the share of this worker */
    /* samples in the largest share of any worker; needed if a layer sums over the whole batch */
    int share_max;
    int part;    /* samples per part */
    int threads; /* number of compute threads, 1 to TEAM_THREADS_MAX */
    /* Connects the workers; must outlive the team. NULL: a single worker. Then team_reduce() does
     * nothing, so it does not check whether the sums are exact. */
    struct reducer *reducer;
    /* The smallest number of gradients per background sum. Background sums run during the backward
     * pass, while the remaining layers are computed. Used only if the reducer is `far` and no layer
     * sums over the whole batch. 0: all gradients are summed after the pass. */
    size_t bucket;
};

enum { TEAM_THREADS_MAX = 64, TEAM_BUCKET = 1 << 20 /* in floats; 4 MiB */ };

struct team;

/* Creates a team. Its threads exist only during the calls below. Returns 0, or -ERR_INVALID if
 * `threads` is not from 1 to TEAM_THREADS_MAX. The caller frees the team. */
int team_new(const struct team_options *options, struct team **ret, struct err *err);
struct team *team_free(struct team *team); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(team)

/* Runs the forward pass of the whole share. `inputs` must stay valid until team_reduce() returns,
 * because team_reduce() may repeat the backward pass. `draw` is the random key of the first sample
 * of the share. Sets ret_outputs to the outputs of all samples of the share. Returns 0, or an error
 * if a thread cannot be started or a collective of the reducer fails. */
int team_forward(struct team *team, const float *inputs, const struct layer_draw *draw,
                 float *ret_outputs, struct err *err);

/* Runs the backward pass. Adds up the gradients of the share in params->gradients, and sets the
 * PARAMS_TAIL floats after the gradients to zero. Until team_reduce() returns, the caller must not
 * access the gradients, because a background sum over the workers may change them. The caller may
 * set the floats after the gradients. Fails like team_forward(). */
int team_backward(struct team *team, const float *d_outputs, struct err *err);

/* Sums the gradients and the PARAMS_TAIL floats after them over all workers. Must be called after
 * every successful team_backward(). If the gradients of any part of any worker were too large to be
 * added exactly, all workers repeat the backward pass. This also happens in the first step of a new
 * run, because there are no quanta yet (exact_sum.h). `d_outputs` of team_backward() must still be
 * valid. Fails like team_forward(). */
int team_reduce(struct team *team, struct err *err);

/* Chooses the quanta of the next step, and updates the running statistics of the network. Called
 * after a successful team_reduce(). */
void team_learn(struct team *team);

/* Clips the gradients to the norm `clip` (see optimizer_clip(); 0: no limit). Then runs optimizer
 * step number `step` and packs the weights of the network, both on several threads. The result does
 * not depend on the number of threads. */
void team_update(struct team *team, struct optimizer *optimizer, float clip, uint64_t step,
                 float rate);

/* Returns the quanta, one per parameter entry. They are the state of the team that one step passes
 * to the next. The team owns them. They are equal on all workers. Checkpoints store them, and a
 * worker that resumes or joins a run overwrites them. */
float *team_learned(struct team *team, size_t *ret_count);

/* Changes the number of samples in the share of this worker, and in the largest share of any
 * worker. Replaces *team by a new team with the same quanta and frees the old team. Returns 0, or
 * the error of team_new(); then *team is unchanged. */
int team_set_share(struct team **team, int samples, int share_max, struct err *err);

#endif
