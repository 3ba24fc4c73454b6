/* Tests the training of a face model: it learns, N workers give the result of one, a stopped run is
 * resumed, a damaged checkpoint is skipped, and a checkpoint of another run is rejected. */
#include "thread_reducer.h"

#include "base/system/file.h"
#include "models/face/fit.h"
#include "train/run/checkpoint.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t hash_of(const struct face_fit_options *options, const struct dataset *dataset)
{
    uint64_t numbers[MODEL_NUMBERS_MAX];
    return model_hash(numbers, face_fit_numbers(options, dataset, numbers));
}

static char directory[64];

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_face_fit.XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    return file_remove_tree(directory, NULL);
}

static struct dataset *open_people(size_t persons, size_t pictures)
{
    struct dataset *dataset = NULL;
    assert_int_equal(dataset_open_procedural(9, persons, pictures, &dataset, NULL), 0);
    return dataset;
}

static struct face_fit_options small_run(uint64_t steps)
{
    struct face_fit_options options = FACE_FIT_DEFAULT;
    options.model = (struct face_config){.side = 32, .channels = 1, .embedding = 32, .width = 8};
    options.steps = steps;
    options.batch_persons = 12;
    options.batch_pictures = 4;
    options.held_out = 0;
    options.warm_up = 5;
    return options;
}

static struct face_fit_result fit_alone(const struct face_fit_options *options,
                                        const struct dataset *dataset)
{
    struct reducer reducer = reducer_single();
    struct face_fit_result result = {0};
    struct err err = ERR_INIT;
    if (face_fit(options, dataset, &reducer, &result, &err) < 0)
        fail_msg("%s", err.message);
    return result;
}

static void model_learns_to_compare_unseen_people(void **state)
{
    struct dataset *dataset = open_people(48, 6);
    for (int norm = FACE_NORM_GROUP; norm <= FACE_NORM_BATCH; norm++) {
        struct face_fit_options options = small_run(60);
        options.held_out = 12;
        options.model.norm = norm;
        struct face_fit_result result = fit_alone(&options, dataset);
        assert_true(result.evaluated);
        assert_int_equal(result.eval.persons, 12);
        assert_int_equal(result.eval.pictures, 72);
        if (result.eval.model.auc < result.eval.pixels.auc + 0.05)
            fail_msg("%s norm: pair AUC %.3f with the model, %.3f with raw pixels",
                     face_norm_name(norm), result.eval.model.auc, result.eval.pixels.auc);
        face_fit_result_release(&result);
    }
    dataset_free(dataset);
}

static void bf16_training_reaches_a_similar_auc(void **state)
{
    struct dataset *dataset = open_people(48, 6);
    double auc[2];
    for (int precision = PRECISION_FP32; precision <= PRECISION_BF16; precision++) {
        struct face_fit_options options = small_run(60);
        options.held_out = 12;
        options.model.width = 16;
        options.model.precision = precision;
        struct face_fit_result result = fit_alone(&options, dataset);
        auc[precision] = result.eval.model.auc;
        print_message("%s: pair AUC %.4f, raw pixels %.4f, loss %.4f\n",
                      kernels_precision_name(precision), auc[precision], result.eval.pixels.auc,
                      result.loss);
        assert_true(auc[precision] > result.eval.pixels.auc + 0.05);
        face_fit_result_release(&result);
    }
    assert_true(fabs(auc[0] - auc[1]) < 0.03);
    dataset_free(dataset);
}

/* Checkpoints contain float32 for every precision. */
static void run_is_resumed_in_another_precision(void **state)
{
    struct dataset *dataset = open_people(24, 5);
    char path[128];
    snprintf(path, sizeof(path), "%s/precision", directory);
    uint64_t hash[2];
    for (int precision = PRECISION_FP32; precision <= PRECISION_BF16; precision++) {
        struct face_fit_options options = small_run(precision ? 6 : 4);
        options.fit.model_dir = path;
        options.model.precision = precision;
        struct face_fit_result result = fit_alone(&options, dataset);
        assert_int_equal(result.first, precision ? 4 : 0);
        options.steps = 6;
        hash[precision] = hash_of(&options, dataset);
        face_fit_result_release(&result);
    }
    assert_int_not_equal(hash[0], hash[1]); /* but workers of one run must agree */
    dataset_free(dataset);
}

struct worker {
    struct thread_reducer reducer;
    struct face_fit_options options;
    const struct dataset *dataset;
    char *text;
    pthread_t thread;
    int failed;
};

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    struct face_fit_result result = {0};
    worker->failed =
        face_fit(&worker->options, worker->dataset, &worker->reducer.reducer, &result, NULL);
    face_fit_result_release(&result);
    return NULL;
}

/* Trains with several workers. Returns the final parameters in `ret`. */
static void fit_together(int workers, int threads, const struct face_config *model,
                         const struct dataset *dataset, const char *path, struct checkpoint **ret)
{
    struct thread_group group = {.size = workers};
    struct worker worker[THREAD_WORKERS_MAX];
    pthread_barrier_init(&group.barrier, NULL, (unsigned)workers);
    for (int i = 0; i < workers; i++) {
        worker[i] = (struct worker){
            .reducer = thread_reducer(&group, i), .options = small_run(8), .dataset = dataset};
        worker[i].options.fit.model_dir = path;
        worker[i].options.fit.threads = threads;
        worker[i].options.model = *model;
        assert_int_equal(pthread_create(&worker[i].thread, NULL, run_worker, &worker[i]), 0);
    }
    for (int i = 0; i < workers; i++) {
        pthread_join(worker[i].thread, NULL);
        assert_int_equal(worker[i].failed, 0);
    }
    pthread_barrier_destroy(&group.barrier);
    char file[256];
    face_fit_model_path(path, file, sizeof(file));
    assert_int_equal(checkpoint_read(file, ret, NULL), 0);
}

static void training_is_bit_identical_for_any_number_of_workers(void **state)
{
    static const struct {
        int workers, threads;
    } runs[] = {{1, 1}, {3, 1}, {2, 2}, {6, 1}, {1, 3}};
    static const struct face_config models[] = {
        {.side = 32, .channels = 1, .embedding = 32, .width = 8},
        {.side = 32, .channels = 1, .embedding = 32, .width = 8, .norm = FACE_NORM_BATCH},
        {.side = 32, .channels = 1, .embedding = 32, .width = 16, .precision = PRECISION_BF16},
    };
    struct dataset *dataset = open_people(24, 5);
    for (size_t m = 0; m < ARRAY_SIZE(models); m++) {
        struct checkpoint *first = NULL;
        for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
            char path[128];
            snprintf(path, sizeof(path), "%s/same%zu.%zu", directory, m, i);
            struct checkpoint *checkpoint = NULL;
            fit_together(runs[i].workers, runs[i].threads, &models[m], dataset, path, &checkpoint);
            if (!first) {
                first = checkpoint;
                continue;
            }
            assert_int_equal(first->floats, checkpoint->floats);
            assert_memory_equal(first->values, checkpoint->values, first->floats * sizeof(float));
            checkpoint_free(checkpoint);
        }
        checkpoint_free(first);
    }
    dataset_free(dataset);
}

/* The shares are not whole parts: results are equal only within rounding, which another choice of
 * triplets amplifies over eight steps. */
static void unequal_shares_give_nearly_the_same_result(void **state)
{
    struct dataset *dataset = open_people(24, 5);
    struct checkpoint *one = NULL, *five = NULL;
    struct face_config model = small_run(8).model;
    char path[128];
    snprintf(path, sizeof(path), "%s/one", directory);
    fit_together(1, 1, &model, dataset, path, &one);
    snprintf(path, sizeof(path), "%s/five", directory);
    fit_together(5, 1, &model, dataset, path, &five);
    double apart = 0, length = 0;
    for (size_t i = 0; i < one->floats; i++) {
        double difference = (double)one->values[i] - (double)five->values[i];
        apart += difference * difference;
        length += (double)one->values[i] * (double)one->values[i];
    }
    assert_true(apart < 4e-4 * length);
    checkpoint_free(one), checkpoint_free(five);
    dataset_free(dataset);
}

static void run_can_start_from_another_model(void **state)
{
    struct dataset *dataset = open_people(16, 6);
    struct face_fit_options options = small_run(10);
    char first[128], path[256], missing[256];
    snprintf(first, sizeof(first), "%s/first", directory);
    options.fit.model_dir = first;
    fit_alone(&options, dataset);
    face_fit_model_path(first, path, sizeof(path));
    struct face_fit_options next = small_run(1);
    next.start_from = path;
    struct face_fit_result from_it = fit_alone(&next, dataset);
    next.start_from = NULL;
    struct face_fit_result from_chance = fit_alone(&next, dataset);
    assert_true(from_it.loss < from_chance.loss);

    struct reducer reducer = reducer_single();
    struct face_fit_result result = {0};
    struct err err = ERR_INIT;
    snprintf(missing, sizeof(missing), "%s/none.model", directory);
    next.start_from = missing;
    assert_true(face_fit(&next, dataset, &reducer, &result, &err) < 0);
    assert_non_null(strstr(err.message, "none.model"));
    next.start_from = path;
    next.model.width = 16;
    assert_int_equal(face_fit(&next, dataset, &reducer, &result, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "cannot start from another model"));
    dataset_free(dataset);
}

static void stopped_run_is_resumed(void **state)
{
    struct dataset *dataset = open_people(16, 5);
    char path[128], file[256];
    snprintf(path, sizeof(path), "%s/stop", directory);
    face_fit_model_path(path, file, sizeof(file));
    volatile sig_atomic_t stop = 1;
    struct face_fit_options options = small_run(6);
    options.fit.model_dir = path;
    options.fit.stop = &stop;
    struct face_fit_result result = fit_alone(&options, dataset);
    assert_true(result.stopped);
    assert_int_equal(result.last, 1);
    assert_false(file_exists(file));
    stop = 0;
    result = fit_alone(&options, dataset);
    assert_false(result.stopped);
    assert_int_equal(result.first, 1);
    assert_int_equal(result.last, 6);
    assert_true(file_exists(file));
    double loss = result.loss;
    result = fit_alone(&options, dataset); /* all steps were done before */
    assert_int_equal(result.first, 6);

    /* The resumed run has the same bits as an uninterrupted run. */
    char whole[128], other[256];
    snprintf(whole, sizeof(whole), "%s/whole", directory);
    face_fit_model_path(whole, other, sizeof(other));
    options.fit.model_dir = whole;
    result = fit_alone(&options, dataset);
    assert_true(result.loss == loss);
    struct checkpoint *a = NULL, *b = NULL;
    assert_int_equal(checkpoint_read(file, &a, NULL), 0);
    assert_int_equal(checkpoint_read(other, &b, NULL), 0);
    assert_memory_equal(a->values, b->values, a->floats * sizeof(float));
    checkpoint_free(a);
    checkpoint_free(b);
    dataset_free(dataset);
}

/* A single worker whose connections break in the sum of a given step. The first step needs two
 * sums. */
enum { STEPS_BEFORE = 4 };

struct breaking_reducer {
    struct reducer reducer;
    int sums_left;
};

static int breaking_allreduce(struct reducer *reducer, float *data, size_t count, struct err *err)
{
    struct breaking_reducer *self = CONTAINER_OF(reducer, struct breaking_reducer, reducer);
    if (self->sums_left-- > 0)
        return 0;
    data[0] = 12345; /* a half-finished sum is unusable */
    return err_set(err, ERR_UNAVAILABLE, "lost worker 2");
}

static int breaking_reform(struct reducer *reducer, struct err *err)
{
    CONTAINER_OF(reducer, struct breaking_reducer, reducer)->sums_left = 1000;
    return 0;
}

static void run_resumes_after_a_lost_worker(void **state)
{
    struct dataset *dataset = open_people(16, 5);
    char path[128];
    snprintf(path, sizeof(path), "%s/lost", directory);
    struct face_fit_options options = small_run(9);
    options.fit.model_dir = path;
    struct breaking_reducer broken = {.reducer = reducer_single(), .sums_left = STEPS_BEFORE + 1};
    broken.reducer.allreduce = breaking_allreduce;
    struct face_fit_result result = {0};
    struct err err = ERR_INIT;
    assert_int_equal(face_fit(&options, dataset, &broken.reducer, &result, &err), -ERR_UNAVAILABLE);
    assert_string_equal(err.message, "step 5: lost worker 2");
    result = fit_alone(&options, dataset);
    assert_int_equal(result.first, 4);
    dataset_free(dataset);
}

static void reformed_group_continues(void **state)
{
    struct dataset *dataset = open_people(16, 5);
    struct face_fit_options options = small_run(9);
    char *text = NULL;
    size_t size = 0;
    options.fit.log.stream = open_memstream(&text, &size);
    options.fit.log.style = PROGRESS_PLAIN;
    struct breaking_reducer broken = {.reducer = reducer_single(), .sums_left = STEPS_BEFORE + 1};
    broken.reducer.allreduce = breaking_allreduce;
    broken.reducer.reform = breaking_reform;
    struct face_fit_result result = {0};
    struct err err = ERR_INIT;
    if (face_fit(&options, dataset, &broken.reducer, &result, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(result.last, 9);
    fclose(options.fit.log.stream);
    const char *lost = strstr(text, "lost worker 2; waiting until all workers are back\n");
    assert_non_null(lost);
    assert_non_null(strstr(lost, "going on after step 4 with all workers\nstep 5/9 loss "));
    free(text);
    dataset_free(dataset);
}

static void damaged_checkpoint_is_skipped(void **state)
{
    struct dataset *dataset = open_people(16, 5);
    char path[128], newest[CHECKPOINT_PATH_MAX];
    snprintf(path, sizeof(path), "%s/damage", directory);
    struct face_fit_options options = small_run(4);
    options.fit.model_dir = path;
    options.fit.checkpoint_every = 2;
    fit_alone(&options, dataset);
    checkpoint_path(path, 4, newest);
    assert_int_equal(truncate(newest, 1000), 0);
    char *text = NULL;
    size_t size = 0;
    options.fit.log.stream = open_memstream(&text, &size);
    options.fit.log.style = PROGRESS_PLAIN;
    struct face_fit_result result = fit_alone(&options, dataset);
    assert_int_equal(result.first, 2);
    fclose(options.fit.log.stream);
    assert_non_null(strstr(text, "is damaged: its checksum is wrong; looking for an older one\n"));
    assert_non_null(strstr(text, "resumed after step 2\n"));
    assert_non_null(strstr(text, "step 4/4 loss "));
    free(text);
    dataset_free(dataset);
}

/* Measured on held-out people, or on the training people if there are too few held-out ones. */
static void model_file_stores_distances_of_strangers(void **state)
{
    struct dataset *dataset = open_people(24, 5);
    static const size_t HELD_OUT[] = {0, 4, 6};
    for (size_t i = 0; i < ARRAY_SIZE(HELD_OUT); i++) {
        char path[128], file[256];
        struct face_fit_options options = small_run(4);
        snprintf(path, sizeof(path), "%s/strangers-%zu", directory, HELD_OUT[i]);
        options.fit.model_dir = path;
        options.held_out = HELD_OUT[i];
        struct face_fit_result result = fit_alone(&options, dataset);
        face_fit_result_release(&result);
        face_fit_model_path(path, file, sizeof(file));
        struct face_model *model = NULL;
        assert_int_equal(face_model_load(file, &model, NULL), 0);
        const struct face_strangers *strangers = face_model_strangers(model);
        bool trained_on = HELD_OUT[i] < FACE_STRANGERS_PEOPLE_MIN;
        size_t measured = trained_on ? 24 - HELD_OUT[i] : HELD_OUT[i];
        assert_int_equal(strangers->trained_on, trained_on);
        assert_int_equal(strangers->people, measured);
        assert_int_equal(strangers->pairs, measured * 5 * (measured - 1));
        assert_true(strangers->quantiles[0] > 0);
        face_model_free(model);
    }
    dataset_free(dataset);
}

static void invalid_options_are_rejected(void **state)
{
    struct dataset *dataset = open_people(16, 5);
    struct reducer reducer = reducer_single();
    struct face_fit_result result;
    struct err err = ERR_INIT;
    struct face_fit_options options = small_run(3);
    options.held_out = 6;
    assert_int_equal(face_fit(&options, dataset, &reducer, &result, &err), -ERR_INVALID);
    assert_string_equal(err.message,
                        "10 persons are left to train on (6 held out), fewer than the 12 of a "
                        "batch: hold out fewer, or make the batch smaller");
    options = small_run(3);
    options.rate = -1;
    assert_int_equal(face_fit(&options, dataset, &reducer, &result, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "learning rate -1"));
    options = small_run(60);
    options.rate = 99;
    options.optimizer = OPTIMIZER_SGD;
    options.schedule = SCHEDULE_CONSTANT;
    options.warm_up = 0;
    options.weight_decay = 99;
    assert_int_equal(face_fit(&options, dataset, &reducer, &result, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "the loss is nan or infinite"));
    options = small_run(3);
    options.batch_pictures = 1;
    assert_int_equal(face_fit(&options, dataset, &reducer, &result, &err), -ERR_INVALID);

    char path[128];
    snprintf(path, sizeof(path), "%s/seeds", directory);
    options = small_run(2);
    options.fit.model_dir = path;
    fit_alone(&options, dataset);
    options.fit.seed = 77;
    assert_int_equal(face_fit(&options, dataset, &reducer, &result, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "was made with seed 1, but this run has 77"));
    options = small_run(2);
    options.fit.model_dir = path;
    options.model.embedding = 16;
    assert_int_equal(face_fit(&options, dataset, &reducer, &result, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "'embedding.weights' has shape"));
    struct face_fit_options other = options;
    other.triplet.margin = 0.3f;
    assert_true(hash_of(&options, dataset) != hash_of(&other, dataset));
    other = options;
    other.augment.mirror = !options.augment.mirror;
    assert_true(hash_of(&options, dataset) != hash_of(&other, dataset));
    other = options;
    other.augment.turn += 0.01f;
    assert_true(hash_of(&options, dataset) != hash_of(&other, dataset));
    other = options;
    other.start_from = path;
    assert_true(hash_of(&options, dataset) != hash_of(&other, dataset));
    other = options;
    other.model.norm = FACE_NORM_BATCH;
    assert_true(hash_of(&options, dataset) != hash_of(&other, dataset));
    dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_learns_to_compare_unseen_people),
        cmocka_unit_test(bf16_training_reaches_a_similar_auc),
        cmocka_unit_test(run_is_resumed_in_another_precision),
        cmocka_unit_test(training_is_bit_identical_for_any_number_of_workers),
        cmocka_unit_test(unequal_shares_give_nearly_the_same_result),
        cmocka_unit_test(run_can_start_from_another_model),
        cmocka_unit_test(stopped_run_is_resumed),
        cmocka_unit_test(run_resumes_after_a_lost_worker),
        cmocka_unit_test(reformed_group_continues),
        cmocka_unit_test(damaged_checkpoint_is_skipped),
        cmocka_unit_test(model_file_stores_distances_of_strangers),
        cmocka_unit_test(invalid_options_are_rejected),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
