/* Implements one worker's part of training a face model; see trainer.h. */
#include "models/face/trainer.h"

#include "base/mem.h"
#include "train/team/team.h"

#include <math.h>
#include <string.h>

/* The number of pictures per part of the batch: enough to fill the kernels' tiles even with the
 * smallest pictures. */
enum { PART = 8 };

/* The floats that are summed over the workers together with the gradients. A worker sets TAIL_STOP
 * to 1 if it was asked to stop, and TAIL_JOIN_REQUESTED to 1 if it knows of a new worker that waits
 * to join. Otherwise it sets 0. */
enum { TAIL_STOP, TAIL_JOIN_REQUESTED };

struct face_trainer {
    struct face_trainer_options options;
    struct face_model *model;
    struct optimizer *optimizer;
    struct team *team;
    int first, count;  /* this worker's share: position in the batch, and number of pictures */
    int rows;          /* embeddings per worker in `gathered`: the size of the largest share */
    float *embeddings; /* `rows` embeddings of this worker, of which the first `count` are used */
    float *gathered;   /* workers × rows embeddings; the first `batch` of them are the batch */
    float *d_gathered; /* gradient of the loss for `gathered` */
};

/* Sets this worker's share of the batch. The first workers have full shares, so that the gathered
 * embeddings are the batch in order, without gaps. */
static int face_trainer_take_share(struct face_trainer *trainer, struct err *err)
{
    int workers = trainer->options.reducer->size, rank = trainer->options.reducer->rank;
    int batch = trainer->options.batch;
    if (batch < workers)
        return err_set(err, ERR_INVALID,
                       "a batch of %d pictures cannot be shared by %d workers: make it larger",
                       batch, workers);
    trainer->rows = (batch + workers - 1) / workers;
    trainer->first = rank * trainer->rows < batch ? rank * trainer->rows : batch;
    trainer->count =
        batch - trainer->first < trainer->rows ? batch - trainer->first : trainer->rows;
    size_t dimensions = face_model_dimensions(trainer->model);
    size_t rows = (size_t)trainer->rows, all = (size_t)workers * rows;
    trainer->embeddings = mem_realloc(trainer->embeddings, rows * dimensions * sizeof(float));
    trainer->gathered = mem_realloc(trainer->gathered, all * dimensions * sizeof(float));
    trainer->d_gathered = mem_realloc(trainer->d_gathered, all * dimensions * sizeof(float));
    memset(trainer->embeddings, 0,
           rows * dimensions * sizeof(float)); /* clears the unused embeddings of a short share */
    return 0;
}

int face_trainer_new(const struct face_trainer_options *options, struct face_model *model,
                     struct face_trainer **ret, struct err *err)
{
    int batch = options->batch;
    if (batch > TRIPLET_BATCH_MAX)
        return err_set(err, ERR_INVALID, "the batch has %d pictures, but the limit is %d", batch,
                       TRIPLET_BATCH_MAX);
    _cleanup_(cleanup_face_trainer) struct face_trainer *trainer = mem_zalloc(sizeof(*trainer));
    struct params *params = face_model_params(model);
    trainer->options = *options;
    trainer->model = model;
    trainer->optimizer = optimizer_new(options->optimizer, options->weight_decay, params);
    int result = face_trainer_take_share(trainer, err);
    if (result < 0)
        return result;
    struct team_options team = {.network = face_model_network(model),
                                .params = params,
                                .samples = trainer->count,
                                .share_max = trainer->rows,
                                .part = PART,
                                .threads = options->threads,
                                .reducer = options->reducer,
                                .bucket = TEAM_BUCKET};
    result = team_new(&team, &trainer->team, err);
    if (result == 0)
        *ret = TAKE(trainer);
    return result;
}

struct face_trainer *face_trainer_free(struct face_trainer *trainer)
{
    if (!trainer)
        return NULL;
    team_free(trainer->team);
    optimizer_free(trainer->optimizer);
    free(trainer->embeddings);
    free(trainer->gathered);
    free(trainer->d_gathered);
    free(trainer);
    return NULL;
}

struct optimizer *face_trainer_optimizer(struct face_trainer *trainer)
{
    return trainer->optimizer;
}

float *face_trainer_learned(struct face_trainer *trainer, size_t *ret_count)
{
    return team_learned(trainer->team, ret_count);
}

int face_trainer_regroup(struct face_trainer *trainer, struct err *err)
{
    int result = face_trainer_take_share(trainer, err);
    return result < 0 ? result : team_set_share(&trainer->team, trainer->count, trainer->rows, err);
}

void face_trainer_share(const struct face_trainer *trainer, int *ret_first, int *ret_count)
{
    *ret_first = trainer->first;
    *ret_count = trainer->count;
}

int face_trainer_step(struct face_trainer *trainer, uint64_t step, const float *pictures,
                      const int *labels, bool stop, struct face_trainer_step *ret, struct err *err)
{
    struct reducer *reducer = trainer->options.reducer;
    struct params *params = face_model_params(trainer->model);
    int dimensions = (int)face_model_dimensions(trainer->model);
    float join_requested =
        reducer_join_requested(reducer); /* must be called before any sum is begun */
    struct layer_draw draw = {.step = step, .position = (uint64_t)trainer->first};
    int result = team_forward(trainer->team, pictures, &draw, trainer->embeddings, err);
    if (result == 0)
        result =
            reducer->allgather(reducer, trainer->embeddings,
                               (size_t)trainer->rows * (size_t)dimensions, trainer->gathered, err);
    if (result < 0)
        return result;
    struct triplet_result loss =
        loss_triplet(&trainer->options.triplet, trainer->gathered, labels, trainer->options.batch,
                     dimensions, trainer->d_gathered);
    if (!isfinite(loss.loss)) /* the loss is equal on all workers, so all fail here */
        return err_set(err, ERR_INVALID, "the loss is nan or infinite");
    result = team_backward(trainer->team,
                           trainer->d_gathered + (size_t)trainer->first * (size_t)dimensions, err);
    if (result < 0)
        return result;
    float *tail = params->gradients + params->floats;
    tail[TAIL_STOP] = stop ? 1 : 0;
    tail[TAIL_JOIN_REQUESTED] = join_requested;
    result = team_reduce(trainer->team, err);
    if (result < 0)
        return result;
    team_learn(trainer->team);
    float rate = optimizer_schedule_rate(&trainer->options.schedule, step);
    team_update(trainer->team, trainer->optimizer, trainer->options.clip, step, rate);
    *ret = (struct face_trainer_step){.loss = loss,
                                      .rate = rate,
                                      .stop = tail[TAIL_STOP] > 0,
                                      .join_requested = tail[TAIL_JOIN_REQUESTED] > 0};
    return 0;
}
