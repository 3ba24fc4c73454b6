/* One training step of the classifier in one thread: forward, softmax loss, backward, SGD.
 * classifier_step_torch.py does the same in PyTorch. Prints the best of several steps, in
 * milliseconds of CPU time of this process, so that other processes on the machine do not count.
 *
 *   bench_classifier_step [fp32|bf16] */
#include "base/mem.h"
#include "base/rand.h"
#include "models/classifier/trainer.h"
#include "train/network/optimizer.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BATCH = 100, STEPS = 12, PICTURES = 1000, SIDE = 28, CLASSES = 10 };

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "bench: %s\n", err->message);
    return 1;
}

int main(int argc, char **argv)
{
    static uint8_t pixels[PICTURES * SIDE * SIDE], labels[PICTURES];
    struct idx data = {.count = PICTURES,
                       .height = SIDE,
                       .width = SIDE,
                       .pixels = pixels,
                       .labels = labels,
                       .classes = CLASSES};
    struct rand rand;
    rand_init(&rand, 2);
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)rand_next(&rand);
    for (size_t i = 0; i < PICTURES; i++)
        labels[i] = (uint8_t)rand_below(&rand, CLASSES);

    struct err err = ERR_INIT;
    struct classifier_config config = {
        .kind = CLASSIFIER_CNN, .side = SIDE, .channels = 1, .classes = CLASSES};
    config.precision = argc > 1 && strcmp(argv[1], "bf16") == 0 ? PRECISION_BF16 : PRECISION_FP32;
    struct classifier_trainer_options options = {
        .seed = 1, .batch = BATCH, .size = 1, .threads = 1};
    _cleanup_(cleanup_classifier_model) struct classifier_model *model = NULL;
    _cleanup_(cleanup_classifier_trainer) struct classifier_trainer *trainer = NULL;
    if (classifier_model_new(&config, &model, &err) < 0)
        return fail(&err);
    struct params *params = classifier_model_params(model);
    params_initialise(params, 1);
    classifier_model_changed(model);
    if (classifier_trainer_new(&options, model, &data, &trainer, &err) < 0)
        return fail(&err);
    _cleanup_(cleanup_optimizer) struct optimizer *optimizer =
        optimizer_new(OPTIMIZER_SGD, 0, params);
    double best = 1e9;
    for (uint64_t step = 1; step <= STEPS; step++) {
        struct softmax_result done;
        double start = now_ms();
        if (classifier_trainer_gradient(trainer, step, &done, &err) < 0)
            return fail(&err);
        classifier_trainer_learn(trainer);
        classifier_trainer_update(trainer, optimizer, 0, step, 0.01f);
        double took = now_ms() - start;
        best = took < best ? took : best;
    }
    printf("{\"name\":\"classifier step 1 thread %s\",\"value\":%.3f,\"unit\":\"ms\"}\n",
           kernels_precision_name(config.precision), best);
    return 0;
}
