/* The threads of one worker, which work off its share of a batch in parts: small enough that what
 * flows between layers stays in the cache, large enough to fill the kernels' tiles. Gradients are
 * added so that the grouping does not count (exact_sum.h): where every worker's share is whole
 * parts, the parts are the same for any number of workers and threads, and so is every bit of the
 * result. What layers must know of the whole batch is gathered from all workers on the way; all
 * workers therefore run the same passes. Used by the training of each model; knows nothing of
 * losses. */
#ifndef TRAINYARD_TRAIN_TEAM_H
#define TRAINYARD_TRAIN_TEAM_H

#include "train/network/network.h"
#include "train/network/optimizer.h"
#include "train/team/reducer.h"

struct team_options {
    struct network *network; /* both must outlive the team */
    struct params *params;
    int samples;   /* of this worker's share */
    int share_max; /* of any worker's, where a layer looks at the whole batch */
    int part;      /* samples */
    int threads;
    struct reducer *reducer; /* NULL: this worker is alone, and nothing is reduced */
    /* Gradients are summed over the workers in pieces of at least so many floats, each as soon as
     * it is whole, while the layers before it are computed, if some are far away and no layer looks
     * at the whole batch; 0: all at the end. */
    size_t bucket;
};

enum { TEAM_THREADS_MAX = 64, TEAM_BUCKET = 1 << 20 /* floats: 4 MiB */ };

struct team;

int team_new(const struct team_options *options, struct team **ret, struct err *err);
struct team *team_free(struct team *team); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(team)

/* Of the whole share: `inputs` must live until team_backward(). `draw` is that of the first sample.
 */
int team_forward(struct team *team, const float *inputs, const struct layer_draw *draw,
                 float *ret_outputs, struct err *err);

/* Sets params->gradients to the sum over the share. Nobody touches them before team_reduce(), but
 * for the tail behind them, which is zero. */
int team_backward(struct team *team, const float *d_outputs, struct err *err);

/* After every team_backward() that succeeded: gradients and tail, summed over all workers. If parts
 * of them, anywhere, were too large to be added exactly the pass back is made once more by all; so
 * it is in the first step of a run. `d_outputs` must still be there. */
int team_reduce(struct team *team, struct err *err);

/* After a step that succeeded, with the sum over all workers in params->gradients: choose how
 * finely the next step adds, and let running statistics follow. */
void team_learn(struct team *team);

/* With that sum: clip it (see optimizer_clip(); 0: never), let the optimizer step, and pack the
 * network's weights. All threads work at it; how many there are does not change a bit. */
void team_update(struct team *team, struct optimizer *optimizer, float clip, uint64_t step,
                 float rate);

/* What was learned so far, which all workers must have alike: to be read, and to be written by a
 * worker that takes over the state of another. */
float *team_learned(struct team *team, size_t *ret_count);

/* Another share of the batch from now on; what was learned stays. */
int team_share(struct team **team, int samples, int share_max, struct err *err);

#endif
