/* One worker's part of training a face model; see face_trainer.h. */
#include "models/face_trainer.h"

#include "base/mem.h"
#include "train/team.h"

#include <math.h>

/* Pictures in one part of the batch: the smallest pictures still fill the kernels' tiles. */
enum { PART = 8 };

struct face_trainer {
    struct face_trainer_options options;
    struct face_model *model;
    struct optimizer *optimizer;
    struct team *team;
    int first, count; /* this worker's share */
    int rows;         /* what every worker gives to the gather: the largest share */
    float *own;       /* rows embeddings */
    float *gathered;  /* workers · rows embeddings; the first `batch` are the batch */
    float *d_gathered;
};

int face_trainer_new(const struct face_trainer_options *options, struct face_model *model,
                     struct face_trainer **ret, struct err *err)
{
    int workers = options->reducer->size, rank = options->reducer->rank, batch = options->batch;
    if (batch < workers)
        return err_set(err, ERR_INVALID,
                       "a batch of %d pictures cannot be shared by %d workers: make it larger",
                       batch, workers);
    if (batch > TRIPLET_BATCH_MAX)
        return err_set(err, ERR_INVALID, "a batch of %d pictures is larger than %d", batch,
                       TRIPLET_BATCH_MAX);
    _cleanup_(cleanup_face_trainer) struct face_trainer *trainer = mem_zalloc(sizeof(*trainer));
    struct params *params = face_model_params(model);
    trainer->options = *options;
    trainer->model = model;
    trainer->optimizer = optimizer_new(options->optimizer, options->weight_decay, params);
    /* Full shares first, so that the gathered rows are the batch in order without a gap. */
    trainer->rows = (batch + workers - 1) / workers;
    trainer->first = rank * trainer->rows < batch ? rank * trainer->rows : batch;
    trainer->count =
        batch - trainer->first < trainer->rows ? batch - trainer->first : trainer->rows;
    struct team_options team = {.network = face_model_network(model),
                                .params = params,
                                .samples = trainer->count,
                                .share_max = trainer->rows,
                                .part = PART,
                                .threads = options->threads,
                                .reducer = options->reducer};
    int result = team_new(&team, &trainer->team, err);
    if (result < 0)
        return result;
    size_t dimensions = face_model_dimensions(model);
    size_t all = (size_t)workers * (size_t)trainer->rows * dimensions;
    trainer->own = mem_calloc((size_t)trainer->rows * dimensions, sizeof(float));
    trainer->gathered = mem_calloc(all, sizeof(float));
    trainer->d_gathered = mem_calloc(all, sizeof(float));
    *ret = TAKE(trainer);
    return 0;
}

struct face_trainer *face_trainer_free(struct face_trainer *trainer)
{
    if (!trainer)
        return NULL;
    team_free(trainer->team);
    optimizer_free(trainer->optimizer);
    free(trainer->own);
    free(trainer->gathered);
    free(trainer->d_gathered);
    free(trainer);
    return NULL;
}

struct optimizer *face_trainer_optimizer(struct face_trainer *trainer)
{
    return trainer->optimizer;
}

void face_trainer_restart(struct face_trainer *trainer)
{
    team_restart(trainer->team);
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
    struct layer_draw draw = {.step = step, .position = (uint64_t)trainer->first};
    int result = team_forward(trainer->team, pictures, &draw, trainer->own, err);
    if (result == 0)
        result =
            reducer->allgather(reducer, trainer->own, (size_t)trainer->rows * (size_t)dimensions,
                               trainer->gathered, err);
    if (result < 0)
        return result;
    struct triplet_result loss =
        triplet_loss(&trainer->options.triplet, trainer->gathered, labels, trainer->options.batch,
                     dimensions, trainer->d_gathered);
    if (!isfinite(loss.loss)) /* every worker sees the same, so all end here */
        return err_set(err, ERR_INVALID,
                       "the loss is not a number any more: lower the learning rate");
    result = team_backward(trainer->team,
                           trainer->d_gathered + (size_t)trainer->first * (size_t)dimensions, err);
    if (result < 0)
        return result;
    params->gradients[params->floats] = stop ? 1 : 0;
    result = reducer->allreduce(reducer, params->gradients, params->floats + PARAMS_TAIL, err);
    if (result < 0)
        return result;
    team_learn(trainer->team);
    float rate = schedule_rate(&trainer->options.schedule, step);
    optimizer_clip(params, trainer->options.clip);
    optimizer_step(trainer->optimizer, params, step, rate);
    face_model_changed(trainer->model);
    *ret = (struct face_trainer_step){
        .loss = loss, .rate = rate, .stop = params->gradients[params->floats] > 0};
    return 0;
}
