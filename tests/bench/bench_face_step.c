/* One training step of the face model in one thread: forward, triplet loss, backward, Adam.
 * face_step_torch.py does the same in PyTorch. Prints the best of several steps, in milliseconds of
 * CPU time of this process, so that other processes on the machine do not count.
 *
 *   bench_face_step [fp32|bf16 [SIDE]] */
#include "base/mem.h"
#include "base/rand.h"
#include "models/face/trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PERSONS = 24, PICTURES = 4, BATCH = PERSONS * PICTURES, STEPS = 12 };

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    struct err err = ERR_INIT;
    struct face_config config = FACE_CONFIG_DEFAULT;
    config.side = argc > 2 ? atoi(argv[2]) : 64;
    config.precision = argc > 1 && strcmp(argv[1], "bf16") == 0 ? PRECISION_BF16 : PRECISION_FP32;
    struct reducer reducer = reducer_single();
    struct face_trainer_options options = {
        .batch = BATCH,
        .threads = 1,
        .triplet = {.mining = TRIPLET_SEMI_HARD, .margin = 0.4f},
        .optimizer = OPTIMIZER_ADAM,
        .schedule = {.rate = 1e-3f},
        .reducer = &reducer,
    };
    _cleanup_(cleanup_face_model) struct face_model *model = NULL;
    _cleanup_(cleanup_face_trainer) struct face_trainer *trainer = NULL;
    if (face_model_new(&config, &model, &err) < 0) {
        fprintf(stderr, "bench: %s\n", err.message);
        return 1;
    }
    params_initialise(face_model_params(model), 1);
    face_model_changed(model);
    if (face_trainer_new(&options, model, &trainer, &err) < 0) {
        fprintf(stderr, "bench: %s\n", err.message);
        return 1;
    }
    struct rand rand;
    rand_init(&rand, 2);
    size_t count = (size_t)(BATCH * config.side * config.side * config.channels);
    _cleanup_free_ float *pictures = mem_calloc(count, sizeof(*pictures));
    int labels[BATCH];
    for (size_t i = 0; i < count; i++)
        pictures[i] = (float)rand_normal(&rand);
    for (int i = 0; i < BATCH; i++)
        labels[i] = i / PICTURES;
    double best = 1e9;
    for (uint64_t step = 1; step <= STEPS; step++) {
        struct face_trainer_step done;
        double start = now_ms();
        if (face_trainer_step(trainer, step, pictures, labels, false, &done, &err) < 0) {
            fprintf(stderr, "bench: %s\n", err.message);
            return 1;
        }
        double took = now_ms() - start;
        best = took < best ? took : best;
    }
    printf("{\"name\":\"face step 1 thread %s\",\"value\":%.3f,\"unit\":\"ms\"}\n",
           kernels_precision_name(config.precision), best);
    return 0;
}
