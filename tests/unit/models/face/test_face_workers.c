/* Tests the face model with default settings, trained by 1, 2, 3, 4, 5 and 8 processes that form a
 * real group. The losses are the same with either norm. The bits are the same on all workers, from
 * run to run, and for any number of workers whose shares are whole parts. */
#include "../comm/members.h"

#include "base/hash.h"
#include "base/mem.h"
#include "models/face/pictures.h"
#include "models/face/trainer.h"
#include "train/team/reducer_comm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { PERSONS = 24, PICTURES = 4, BATCH = PERSONS * PICTURES, STEPS = 4, SEED = 5 };

/* The results that the processes leave for the test. */
struct outcome {
    double loss[STEPS];
    uint64_t values[MEMBERS_MAX]; /* hashes of all parameters at the end */
};

/* Set before the processes are started. */
static struct face_config config;
static struct outcome *outcome;

static void train(struct reducer *reducer)
{
    struct err err = ERR_INIT;
    struct dataset *dataset = NULL;
    struct dataset_split split = {0};
    struct face_model *model = NULL;
    struct face_trainer *trainer = NULL;
    CHECK_OK(dataset_open_procedural(SEED, PERSONS + 4, PICTURES, &dataset, &err), &err);
    CHECK_OK(dataset_split_persons(dataset, SEED, 0, &split, &err), &err);
    CHECK_OK(face_model_new(&config, &model, &err), &err);
    params_initialise(face_model_params(model), SEED);
    face_model_changed(model);
    struct face_trainer_options options = {
        .batch = BATCH,
        .threads = 1 + reducer->rank % 2,
        .triplet = {.mining = TRIPLET_SEMI_HARD, .margin = 0.4f},
        /* Adam would make a full step from a gradient that is only rounding error. */
        .optimizer = OPTIMIZER_SGD,
        .weight_decay = 1e-3f,
        .clip = 0.5f, /* small enough to take effect */
        .schedule = {.kind = SCHEDULE_CONSTANT, .rate = 0.05f, .steps = STEPS},
        .reducer = reducer,
    };
    CHECK_OK(face_trainer_new(&options, model, &trainer, &err), &err);
    struct face_pictures *pictures = face_pictures_new(dataset, &config);
    struct augment augment = {.shift = 0.05f, .gamma = 0.3f};
    struct face_batch_entry entries[BATCH];
    const struct face_batch_options draw = {
        .seed = SEED, .persons = PERSONS, .pictures = PICTURES, .blended = 1};
    size_t sample = face_config_sample(&config);
    int first, count, labels[BATCH];
    face_trainer_share(trainer, &first, &count);
    float *inputs = mem_calloc((size_t)count * sample + 1, sizeof(*inputs));
    for (uint64_t step = 1; step <= STEPS; step++) {
        CHECK_OK(face_batch_draw(dataset, &split.train, &draw, step, entries, &err), &err);
        for (int i = 0; i < BATCH; i++)
            labels[i] = entries[i].label;
        for (int i = 0; i < count; i++)
            CHECK_OK(face_pictures_load_input(pictures, &augment, &entries[first + i], SEED, step,
                                              (uint64_t)(first + i), inputs + (size_t)i * sample,
                                              &err),
                     &err);
        struct face_trainer_step done;
        CHECK_OK(face_trainer_step(trainer, step, inputs, labels, false, &done, &err), &err);
        if (reducer->rank == 0)
            outcome->loss[step - 1] = done.loss.loss;
    }
    const struct params *params = face_model_params(model);
    outcome->values[reducer->rank] =
        hash_fnv1a(HASH_FNV_START, params->values, params->floats * sizeof(float));
    free(inputs);
    face_pictures_free(pictures);
    face_trainer_free(trainer);
    face_model_free(model);
    dataset_split_release(&split);
    dataset_free(dataset);
}

static void run_worker(const struct members *members, int rank)
{
    if (members->size == 1) {
        struct reducer alone = reducer_single();
        train(&alone);
        return;
    }
    struct err err = ERR_INIT;
    struct reducer_comm reducer = {0};
    struct ty_tf_config *cluster = members_config(members, true, rank);
    struct comm_options options = members_options(cluster);
    CHECK_OK(reducer_comm_open(&reducer, &options, NULL, &err), &err);
    train(&reducer.reducer);
    reducer_comm_close(&reducer);
    ty_tf_config_free(cluster);
}

static struct outcome train_together(int workers)
{
    struct members members;
    memset(outcome, 0, sizeof(*outcome));
    members_init(&members, workers);
    members_start_all(&members, run_worker);
    assert_int_equal(members_wait(&members), 0);
    for (int i = 1; i < workers; i++)
        assert_true(outcome->values[i] == outcome->values[0]);
    return *outcome;
}

static void check_workers(enum face_norm norm)
{
    static const struct {
        int workers;
        bool whole; /* the shares are whole parts: 96 pictures in parts of 8 */
    } runs[] = {{2, true}, {3, true}, {4, true}, {8, false}, {5, false}, {8, false}};
    config = FACE_CONFIG_DEFAULT;
    config.norm = norm;
    struct outcome one = train_together(1), eight = {0};
    assert_true(one.loss[STEPS - 1] < one.loss[0]);
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        struct outcome several = train_together(runs[i].workers);
        for (int step = 0; step < STEPS; step++)
            if (fabs(several.loss[step] - one.loss[step]) > 1e-5 * one.loss[step])
                fail_msg("%s norm, %d workers, step %d: loss %.9f, one worker has %.9f",
                         face_norm_name(norm), runs[i].workers, step + 1, several.loss[step],
                         one.loss[step]);
        if (runs[i].whole)
            assert_memory_equal(several.loss, one.loss, sizeof(one.loss));
        if (runs[i].whole)
            assert_true(several.values[0] == one.values[0]);
        if (runs[i].workers == 8 && eight.values[0])
            assert_memory_equal(&several, &eight, sizeof(several));
        if (runs[i].workers == 8)
            eight = several;
    }
}

static void workers_agree_with_one_worker_with_group_norm(void **state)
{
    check_workers(FACE_NORM_GROUP);
}

static void workers_agree_with_one_worker_with_batch_norm(void **state)
{
    check_workers(FACE_NORM_BATCH);
}

int main(void)
{
    outcome =
        mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_agree_with_one_worker_with_group_norm),
        cmocka_unit_test(workers_agree_with_one_worker_with_batch_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
