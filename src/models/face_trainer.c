/* One worker's part of training a face model; see face_trainer.h. */
#include "models/face_trainer.h"

#include "base/mem.h"
#include "train/exact_sum.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* Pictures in one part of the batch: few enough that what flows between layers stays in the cache,
 * many enough that the smallest pictures fill the kernels' tiles. Where every worker's share is
 * whole parts, the parts are the same for any number of workers, and so is every bit of the result.
 */
enum { PART = 8, THREADS_MAX = 64 };

struct team_member {
    struct face_trainer *trainer;
    int index;
    bool back;
    struct workspace *workspace;
    float *part;      /* gradients of one part of the batch */
    float *gradients; /* of all its parts; the first one's is the arena of the parameters itself */
    pthread_t thread;
};

struct face_trainer {
    struct face_trainer_options options;
    struct face_model *model;
    struct optimizer *optimizer;
    struct exact_sum sum;
    int first, count; /* this worker's share */
    int rows;         /* what every worker gives to the gather: the largest share */
    struct tape **tapes;
    int parts;
    int threads;
    struct team_member *team;
    const float *pictures; /* of the step under way */
    float *own;            /* rows embeddings */
    float *gathered;       /* workers · rows embeddings; the first `batch` are the batch */
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
    if (options->threads < 1 || options->threads > THREADS_MAX)
        return err_set(err, ERR_INVALID, "%d threads are not in 1 … %d", options->threads,
                       THREADS_MAX);
    struct face_trainer *trainer = mem_zalloc(sizeof(*trainer));
    struct params *params = face_model_params(model);
    trainer->options = *options;
    trainer->model = model;
    trainer->optimizer = optimizer_new(options->optimizer, options->weight_decay, params);
    exact_sum_init(&trainer->sum, params);
    /* Full shares first, so that the gathered rows are the batch in order without a gap. */
    trainer->rows = (batch + workers - 1) / workers;
    trainer->first = rank * trainer->rows < batch ? rank * trainer->rows : batch;
    trainer->count =
        batch - trainer->first < trainer->rows ? batch - trainer->first : trainer->rows;
    trainer->parts = (trainer->count + PART - 1) / PART;
    trainer->threads = options->threads < trainer->parts ? options->threads : trainer->parts;
    trainer->threads = trainer->threads < 1 ? 1 : trainer->threads;
    trainer->tapes = mem_calloc((size_t)trainer->parts + 1, sizeof(struct tape *));
    for (int i = 0; i < trainer->parts; i++)
        trainer->tapes[i] = tape_new(face_model_network(model), PART);
    trainer->team = mem_calloc((size_t)trainer->threads, sizeof(*trainer->team));
    for (int i = 0; i < trainer->threads; i++) {
        struct team_member *member = &trainer->team[i];
        member->trainer = trainer;
        member->index = i;
        member->workspace = workspace_new(face_model_network(model), PART);
        member->part = mem_calloc(params->floats, sizeof(float));
        member->gradients = i ? mem_calloc(params->floats, sizeof(float)) : params->gradients;
    }
    size_t dimensions = face_model_dimensions(model);
    size_t all = (size_t)workers * (size_t)trainer->rows * dimensions;
    trainer->own = mem_calloc((size_t)trainer->rows * dimensions, sizeof(float));
    trainer->gathered = mem_calloc(all, sizeof(float));
    trainer->d_gathered = mem_calloc(all, sizeof(float));
    *ret = trainer;
    return 0;
}

struct face_trainer *face_trainer_free(struct face_trainer *trainer)
{
    if (!trainer)
        return NULL;
    for (int i = 0; i < trainer->parts; i++)
        tape_free(trainer->tapes[i]);
    for (int i = 0; i < trainer->threads; i++) {
        workspace_free(trainer->team[i].workspace);
        free(trainer->team[i].part);
        if (i)
            free(trainer->team[i].gradients);
    }
    exact_sum_release(&trainer->sum);
    optimizer_free(trainer->optimizer);
    free(trainer->tapes);
    free(trainer->team);
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
    exact_sum_release(&trainer->sum);
    exact_sum_init(&trainer->sum, face_model_params(trainer->model));
}

void face_trainer_share(const struct face_trainer *trainer, int *ret_first, int *ret_count)
{
    *ret_first = trainer->first;
    *ret_count = trainer->count;
}

/* Every thread takes the parts whose number is its own modulo the number of threads. */
static void *run_member(void *argument)
{
    struct team_member *member = argument;
    struct face_trainer *trainer = member->trainer;
    const struct network *network = face_model_network(trainer->model);
    size_t dimensions = face_model_dimensions(trainer->model);
    size_t sample = face_config_sample(face_model_config(trainer->model));
    for (int part = member->index; part < trainer->parts; part += trainer->threads) {
        size_t at = (size_t)part * PART;
        int n = trainer->count - (int)at < PART ? trainer->count - (int)at : PART;
        if (member->back) {
            const struct params *params = face_model_params(trainer->model);
            memset(member->part, 0, params->floats * sizeof(float));
            network_backward(network, trainer->tapes[part], member->workspace,
                             trainer->d_gathered + ((size_t)trainer->first + at) * dimensions,
                             member->part);
            exact_sum_add(&trainer->sum, params, member->part, member->gradients);
        } else {
            const float *out = network_forward(network, trainer->tapes[part], member->workspace,
                                               trainer->pictures + at * sample, n);
            memcpy(trainer->own + at * dimensions, out, (size_t)n * dimensions * sizeof(*out));
        }
    }
    return NULL;
}

static int run_team(struct face_trainer *trainer, bool back, struct err *err)
{
    int started = 1, failed = 0;
    for (int i = 0; i < trainer->threads; i++)
        trainer->team[i].back = back;
    for (; started < trainer->threads && !failed; started += !failed)
        failed = pthread_create(&trainer->team[started].thread, NULL, run_member,
                                &trainer->team[started]);
    if (!failed)
        run_member(&trainer->team[0]);
    for (int i = 1; i < started; i++)
        pthread_join(trainer->team[i].thread, NULL);
    return failed ? err_set_errno(err, failed, "cannot start a thread") : 0;
}

static int backward(struct face_trainer *trainer, struct err *err)
{
    struct params *params = face_model_params(trainer->model);
    params_clear_gradients(params);
    for (int i = 1; i < trainer->threads; i++)
        memset(trainer->team[i].gradients, 0, params->floats * sizeof(float));
    int result = run_team(trainer, true, err);
    for (int i = 1; result == 0 && i < trainer->threads; i++)
        for (size_t j = 0; j < params->floats; j++)
            params->gradients[j] += trainer->team[i].gradients[j];
    return result;
}

int face_trainer_step(struct face_trainer *trainer, uint64_t step, const float *pictures,
                      const int *labels, bool stop, struct face_trainer_step *ret, struct err *err)
{
    struct reducer *reducer = trainer->options.reducer;
    struct params *params = face_model_params(trainer->model);
    int dimensions = (int)face_model_dimensions(trainer->model);
    trainer->pictures = pictures;
    int result = run_team(trainer, false, err);
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
    result = backward(trainer, err);
    if (result < 0)
        return result;
    params->gradients[params->floats] = stop ? 1 : 0;
    result = reducer->allreduce(reducer, params->gradients, params->floats + PARAMS_TAIL, err);
    if (result < 0)
        return result;
    exact_sum_learn(&trainer->sum, params, params->gradients);
    float rate = schedule_rate(&trainer->options.schedule, step);
    optimizer_step(trainer->optimizer, params, step, rate);
    face_model_changed(trainer->model);
    *ret = (struct face_trainer_step){
        .loss = loss, .rate = rate, .stop = params->gradients[params->floats] > 0};
    return 0;
}
