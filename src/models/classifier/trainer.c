/* Implements one worker's part of training a classifier; see trainer.h. */
#include "models/classifier/trainer.h"

#include "base/mem.h"
#include "train/data/batch_feed.h"
#include "train/data/shuffle.h"
#include "train/team/team.h"

#include <pthread.h>

/* The largest number of pictures per part of the batch. Each part reads every weight of the large
 * dense layer and writes every gradient. A few large parts are therefore faster than many small
 * parts that fit into the cache. */
enum { PART_MAX = 32 };

struct classifier_trainer {
    struct classifier_trainer_options options;
    struct classifier_model *model;
    const struct idx *data;
    struct team *team;
    struct batch_feed *feed;
    pthread_mutex_t lock; /* protects `shuffle`, which the loader threads share */
    struct shuffle shuffle;
    int first, count; /* this worker's share: position in the batch, and number of pictures */
    uint8_t *labels;
    float *logits, *d_logits;
};

/* Returns the number of pictures per part of the batch. The batch is divided into parts of about
 * equal size, whatever the number of workers. */
static int part_of(int batch)
{
    int parts = (batch + PART_MAX - 1) / PART_MAX;
    return (batch + parts - 1) / parts;
}

/* Fills this worker's share of a batch. Several loader threads call it at the same time. */
static int fill_batch(void *context, uint64_t step, size_t first, size_t count, struct batch *batch,
                      struct err *err)
{
    (void)err;
    struct classifier_trainer *trainer = context;
    const struct idx *data = trainer->data;
    size_t sample = (size_t)data->height * (size_t)data->width;
    uint64_t start = (step - 1) * (uint64_t)trainer->options.batch + first;
    _cleanup_free_ size_t *pictures = mem_calloc(count + 1, sizeof(*pictures));
    pthread_mutex_lock(&trainer->lock);
    for (size_t i = 0; i < count; i++)
        pictures[i] = shuffle_at(&trainer->shuffle, start + i);
    pthread_mutex_unlock(&trainer->lock);
    for (size_t i = 0; i < count; i++) {
        float *input = batch->inputs + i * sample;
        classifier_pixels(data->pixels + pictures[i] * sample, sample, input);
        classifier_prepare(input, sample, input);
        batch->labels[first + i] = data->labels[pictures[i]];
    }
    return 0;
}

static int classifier_trainer_take_share(struct classifier_trainer *trainer, int rank, int size,
                                         struct err *err)
{
    int batch = trainer->options.batch, rows = (batch + size - 1) / size;
    if (batch < size || batch < 1)
        return err_set(err, ERR_INVALID,
                       "a batch of %d pictures cannot be shared by %d workers: make it larger",
                       batch, size);
    trainer->first = rank * rows < batch ? rank * rows : batch;
    trainer->count = batch - trainer->first < rows ? batch - trainer->first : rows;
    size_t count = (size_t)trainer->count + 1;
    size_t logits = count * (size_t)classifier_model_config(trainer->model)->classes;
    trainer->labels = mem_realloc(trainer->labels, count);
    trainer->logits = mem_realloc(trainer->logits, logits * sizeof(float));
    trainer->d_logits = mem_realloc(trainer->d_logits, logits * sizeof(float));
    return 0;
}

int classifier_trainer_new(const struct classifier_trainer_options *options,
                           struct classifier_model *model, const struct idx *data,
                           struct classifier_trainer **ret, struct err *err)
{
    int batch = options->batch;
    if (batch > CLASSIFIER_BATCH_MAX)
        return err_set(err, ERR_INVALID, "the batch has %d pictures, but the limit is %d", batch,
                       CLASSIFIER_BATCH_MAX);
    _cleanup_(cleanup_classifier_trainer) struct classifier_trainer *trainer =
        mem_zalloc(sizeof(*trainer));
    const struct classifier_config *config = classifier_model_config(model);
    pthread_mutex_init(&trainer->lock, NULL);
    trainer->options = *options;
    trainer->model = model;
    trainer->data = data;
    int result = classifier_trainer_take_share(trainer, options->rank, options->size, err);
    if (result < 0)
        return result;
    struct team_options team = {.network = classifier_model_network(model),
                                .params = classifier_model_params(model),
                                .samples = trainer->count,
                                .part = part_of(batch),
                                .threads = options->threads,
                                .reducer = options->reducer,
                                .bucket = TEAM_BUCKET};
    result = team_new(&team, &trainer->team, err);
    if (result < 0)
        return result;
    shuffle_init(&trainer->shuffle, options->seed, data->count);
    struct batch_feed_options feed = {.batch = (size_t)batch,
                                      .sample = classifier_config_sample(config),
                                      .loaders = options->loaders,
                                      .context = trainer,
                                      .fill = fill_batch};
    result = batch_feed_new(&feed, &trainer->feed, err);
    if (result < 0)
        return result;
    batch_feed_share(trainer->feed, (size_t)trainer->first, (size_t)trainer->count);
    *ret = TAKE(trainer);
    return 0;
}

struct classifier_trainer *classifier_trainer_free(struct classifier_trainer *trainer)
{
    if (!trainer)
        return NULL;
    batch_feed_free(trainer->feed);
    pthread_mutex_destroy(&trainer->lock);
    team_free(trainer->team);
    shuffle_release(&trainer->shuffle);
    free(trainer->labels);
    free(trainer->logits);
    free(trainer->d_logits);
    free(trainer);
    return NULL;
}

int classifier_trainer_gradient(struct classifier_trainer *trainer, uint64_t step,
                                struct softmax_result *ret, struct err *err)
{
    struct layer_draw draw = {
        .seed = trainer->options.seed, .step = step, .position = (uint64_t)trainer->first};
    const struct batch *batch = NULL;
    int result = batch_feed_take(trainer->feed, step, &batch, err);
    if (result == 0)
        result = team_forward(trainer->team, batch->inputs, &draw, trainer->logits, err);
    if (result < 0)
        return result;
    for (int i = 0; i < trainer->count; i++)
        trainer->labels[i] = (uint8_t)batch->labels[trainer->first + i];
    *ret = loss_softmax(trainer->logits, trainer->labels, (size_t)trainer->count,
                        classifier_model_config(trainer->model)->classes,
                        1 / (float)trainer->options.batch, trainer->d_logits);
    return team_backward(trainer->team, trainer->d_logits, err);
}

int classifier_trainer_reduce(struct classifier_trainer *trainer, struct err *err)
{
    return team_reduce(trainer->team, err);
}

void classifier_trainer_learn(struct classifier_trainer *trainer)
{
    team_learn(trainer->team);
}

void classifier_trainer_update(struct classifier_trainer *trainer, struct optimizer *optimizer,
                               float clip, uint64_t step, float rate)
{
    team_update(trainer->team, optimizer, clip, step, rate);
}

float *classifier_trainer_learned(struct classifier_trainer *trainer, size_t *ret_count)
{
    return team_learned(trainer->team, ret_count);
}

int classifier_trainer_regroup(struct classifier_trainer *trainer, int rank, int size,
                               struct err *err)
{
    int result = classifier_trainer_take_share(trainer, rank, size, err);
    if (result == 0)
        result = team_set_share(&trainer->team, trainer->count, trainer->count, err);
    if (result == 0)
        batch_feed_share(trainer->feed, (size_t)trainer->first, (size_t)trainer->count);
    return result;
}
