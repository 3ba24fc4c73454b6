/* One worker's part of training a classifier; see classifier_trainer.h. */
#include "models/classifier_trainer.h"

#include "base/mem.h"
#include "train/shuffle.h"
#include "train/team.h"

/* Pictures in one part of the batch, at most. Each part reads and writes every weight of the large
 * dense layer, so parts are larger than the cache would like. */
enum { PART_MAX = 32 };

struct classifier_trainer {
    struct classifier_trainer_options options;
    struct classifier_model *model;
    const struct idx *data;
    struct team *team;
    struct shuffle shuffle;
    int first, count; /* this worker's share, by position in the batch */
    float *inputs;
    uint8_t *labels;
    float *logits, *d_logits;
};

/* Parts of equal size, which depend on the batch alone. */
static int part_of(int batch)
{
    int parts = (batch + PART_MAX - 1) / PART_MAX;
    return (batch + parts - 1) / parts;
}

int classifier_trainer_new(const struct classifier_trainer_options *options,
                           struct classifier_model *model, const struct idx *data,
                           struct classifier_trainer **ret, struct err *err)
{
    int batch = options->batch;
    if (batch < options->size || batch < 1)
        return err_set(err, ERR_INVALID,
                       "a batch of %d pictures cannot be shared by %d workers: make it larger",
                       batch, options->size);
    if (batch > CLASSIFIER_BATCH_MAX)
        return err_set(err, ERR_INVALID, "a batch of %d pictures is larger than %d", batch,
                       CLASSIFIER_BATCH_MAX);
    _cleanup_(cleanup_classifier_trainer) struct classifier_trainer *trainer =
        mem_zalloc(sizeof(*trainer));
    const struct classifier_config *config = classifier_model_config(model);
    trainer->options = *options;
    trainer->model = model;
    trainer->data = data;
    int rows = (batch + options->size - 1) / options->size;
    trainer->first = options->rank * rows < batch ? options->rank * rows : batch;
    trainer->count = batch - trainer->first < rows ? batch - trainer->first : rows;
    struct team_options team = {.network = classifier_model_network(model),
                                .params = classifier_model_params(model),
                                .samples = trainer->count,
                                .part = part_of(batch),
                                .threads = options->threads};
    int result = team_new(&team, &trainer->team, err);
    if (result < 0)
        return result;
    size_t count = (size_t)trainer->count + 1, classes = (size_t)config->classes;
    shuffle_init(&trainer->shuffle, options->seed, data->count);
    trainer->inputs = mem_calloc(count * classifier_config_sample(config), sizeof(float));
    trainer->labels = mem_calloc(count, sizeof(*trainer->labels));
    trainer->logits = mem_calloc(count * classes, sizeof(float));
    trainer->d_logits = mem_calloc(count * classes, sizeof(float));
    *ret = TAKE(trainer);
    return 0;
}

struct classifier_trainer *classifier_trainer_free(struct classifier_trainer *trainer)
{
    if (!trainer)
        return NULL;
    team_free(trainer->team);
    shuffle_release(&trainer->shuffle);
    free(trainer->inputs);
    free(trainer->labels);
    free(trainer->logits);
    free(trainer->d_logits);
    free(trainer);
    return NULL;
}

static void show_pictures(struct classifier_trainer *trainer, uint64_t step)
{
    const struct idx *data = trainer->data;
    size_t sample = (size_t)data->height * (size_t)data->width;
    uint64_t start = (step - 1) * (uint64_t)trainer->options.batch + (uint64_t)trainer->first;
    for (size_t i = 0; i < (size_t)trainer->count; i++) {
        size_t picture = shuffle_at(&trainer->shuffle, start + i);
        float *input = trainer->inputs + i * sample;
        classifier_pixels(data->pixels + picture * sample, sample, input);
        classifier_prepare(input, sample, input);
        trainer->labels[i] = data->labels[picture];
    }
}

int classifier_trainer_gradient(struct classifier_trainer *trainer, uint64_t step,
                                struct softmax_result *ret, struct err *err)
{
    struct layer_draw draw = {
        .seed = trainer->options.seed, .step = step, .position = (uint64_t)trainer->first};
    show_pictures(trainer, step);
    int result = team_forward(trainer->team, trainer->inputs, &draw, trainer->logits, err);
    if (result < 0)
        return result;
    *ret = softmax_loss(trainer->logits, trainer->labels, (size_t)trainer->count,
                        classifier_model_config(trainer->model)->classes,
                        1 / (float)trainer->options.batch, trainer->d_logits);
    return team_backward(trainer->team, trainer->d_logits, err);
}

void classifier_trainer_learn(struct classifier_trainer *trainer)
{
    team_learn(trainer->team);
}

void classifier_trainer_restart(struct classifier_trainer *trainer)
{
    team_restart(trainer->team);
}
