/* Tests the training of a classifier on drawn pictures: it learns, N workers give the result of
 * one, a stopped run is resumed, workers with parameter servers learn together, and the model is
 * exported. */
#include "thread_reducer.h"

#include "base/rand.h"
#include "base/system/file.h"
#include "comm/cluster/tf_config.h"
#include "models/classifier/fit.h"
#include "train/run/checkpoint.h"
#include "train/run/model_versions.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIDE = 8, CLASSES = 4, TRAIN = 600, TEST = 100 };

static char directory[64];

static void put_number(struct buf *buf, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    buf_append(buf, bytes, sizeof(bytes));
}

static void put_file(const char *name, const struct buf *buf)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    assert_int_equal(file_write_atomic(path, buf->data, buf->size, 0644, NULL), 0);
}

/* Writes pictures with noise in which one quarter is bright. The quarter is the class. */
static void put_part(const char *part, uint32_t count)
{
    _cleanup_buf_ struct buf images, labels;
    buf_init(&images, 1 << 20);
    buf_init(&labels, 1 << 20);
    struct rand rand;
    rand_init(&rand, count);
    put_number(&images, 0x803);
    put_number(&images, count);
    put_number(&images, SIDE);
    put_number(&images, SIDE);
    put_number(&labels, 0x801);
    put_number(&labels, count);
    for (uint32_t i = 0; i < count; i++) {
        int label = (int)rand_below(&rand, CLASSES);
        buf_append_char(&labels, (char)label);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                int quarter = y / (SIDE / 2) * 2 + x / (SIDE / 2);
                buf_append_char(&images,
                                (char)(rand_below(&rand, 180) + (quarter == label ? 60 : 0)));
            }
    }
    char name[64];
    snprintf(name, sizeof(name), "%s-images-idx3-ubyte", part);
    put_file(name, &images);
    snprintf(name, sizeof(name), "%s-labels-idx1-ubyte", part);
    put_file(name, &labels);
}

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_classifier_fit.XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    put_part("train", TRAIN);
    put_part("t10k", TEST);
    return 0;
}

static int remove_directory(void **state)
{
    return file_remove_tree(directory, NULL);
}

static struct classifier_fit_options small_run(uint64_t steps)
{
    struct classifier_fit_options options = CLASSIFIER_FIT_DEFAULT;
    options.data = directory;
    options.steps = steps;
    options.batch = 48;
    options.warm_up = 5;
    return options;
}

static struct classifier_fit_result fit_alone(const struct classifier_fit_options *options)
{
    struct reducer reducer = reducer_single();
    struct classifier_fit_result result = {0};
    struct err err = ERR_INIT;
    if (classifier_fit(options, &reducer, &result, &err) < 0)
        fail_msg("%s", err.message);
    return result;
}

static struct idx *open_data(enum idx_part part)
{
    struct idx *data = NULL;
    struct err err = ERR_INIT;
    if (idx_open(directory, part, &data, &err) < 0)
        fail_msg("%s", err.message);
    return data;
}

/* The error comes before the first step, and no log is begun. */
static void unsuitable_test_pictures_are_rejected_at_the_start(void **state)
{
    struct classifier_fit_options options = small_run(20);
    _cleanup_free_ char *model_dir = mem_printf("%s/model", directory);
    options.fit.model_dir = model_dir;
    _cleanup_(cleanup_idx) struct idx *test = open_data(IDX_TEST);
    test->labels[0] = 7;
    assert_int_equal(idx_write(test, directory, IDX_TEST, NULL), 0);
    struct reducer reducer = reducer_single();
    struct classifier_fit_result result = {0};
    struct err err = ERR_INIT;
    assert_int_equal(classifier_fit(&options, &reducer, &result, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "test pictures of '"));
    assert_non_null(strstr(err.message, "the model has 4 classes, but the data set has label 7"));
    _cleanup_free_ char *images = mem_printf("%s/t10k-images-idx3-ubyte", directory);
    assert_int_equal(unlink(images), 0);
    assert_true(classifier_fit(&options, &reducer, &result, &err) < 0);
    assert_non_null(strstr(err.message, "has neither 't10k-images-idx3-ubyte'"));
    assert_int_not_equal(access(model_dir, F_OK), 0);
}

static void both_models_learn_with_each_optimizer(void **state)
{
    static const struct {
        enum classifier_kind kind;
        enum optimizer_kind optimizer;
        float rate;
        enum precision precision;
    } CASES[] = {
        {CLASSIFIER_CNN, OPTIMIZER_ADAGRAD, 0.01f},
        {CLASSIFIER_CNN, OPTIMIZER_ADAGRAD, 0.01f, PRECISION_BF16},
        {CLASSIFIER_CNN, OPTIMIZER_ADAM, 0.001f},
        {CLASSIFIER_LINEAR, OPTIMIZER_SGD, 0.3f},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct classifier_fit_options options = small_run(20);
        options.kind = CASES[i].kind;
        options.optimizer = CASES[i].optimizer;
        options.rate = CASES[i].rate;
        options.precision = CASES[i].precision;
        struct classifier_fit_result result = fit_alone(&options);
        assert_true(result.evaluated);
        assert_int_equal(result.eval.pictures, TEST);
        if (result.eval.accuracy < 0.9)
            fail_msg("case %zu: test accuracy %.3f", i, result.eval.accuracy);
        size_t pictures = 0, right = 0;
        for (int c = 0; c < result.eval.classes; c++) {
            pictures += result.eval.rows[c].pictures;
            right += result.eval.rows[c].correct;
        }
        assert_int_equal(pictures, TEST);
        assert_int_equal(right, result.eval.correct);
        classifier_fit_result_release(&result);
    }
}

struct worker {
    struct thread_reducer reducer;
    struct classifier_fit_options options;
    pthread_t thread;
    int failed;
};

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    struct classifier_fit_result result = {0};
    worker->failed = classifier_fit(&worker->options, &worker->reducer.reducer, &result, NULL);
    classifier_fit_result_release(&result);
    return NULL;
}

static struct checkpoint *fit_together(int workers, int threads, enum precision precision,
                                       int batch, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    struct thread_group group = {.size = workers};
    struct worker worker[THREAD_WORKERS_MAX];
    pthread_barrier_init(&group.barrier, NULL, (unsigned)workers);
    for (int i = 0; i < workers; i++) {
        worker[i] = (struct worker){.reducer = thread_reducer(&group, i), .options = small_run(3)};
        worker[i].options.batch = batch;
        worker[i].options.fit.model_dir = path;
        worker[i].options.fit.threads = threads;
        worker[i].options.precision = precision;
        assert_int_equal(pthread_create(&worker[i].thread, NULL, run_worker, &worker[i]), 0);
    }
    for (int i = 0; i < workers; i++) {
        pthread_join(worker[i].thread, NULL);
        assert_int_equal(worker[i].failed, 0);
    }
    pthread_barrier_destroy(&group.barrier);
    char file[300];
    struct checkpoint *checkpoint = NULL;
    classifier_fit_model_path(path, file, sizeof(file));
    assert_int_equal(checkpoint_read(file, &checkpoint, NULL), 0);
    return checkpoint;
}

static void check_any_number_of_workers(enum precision precision)
{
    static const int WORKERS[] = {1, 2, 3, 1}, THREADS[] = {1, 1, 2, 3};
    struct checkpoint *first = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(WORKERS); i++) {
        char name[32];
        snprintf(name, sizeof(name), "run-%s-%zu", kernels_precision_name(precision), i);
        /* the shares are whole parts: 192 = 6 · 32 */
        struct checkpoint *other = fit_together(WORKERS[i], THREADS[i], precision, 192, name);
        if (first) {
            assert_int_equal(other->floats, first->floats);
            assert_memory_equal(other->values, first->values, first->floats * sizeof(float));
            checkpoint_free(other);
        } else {
            first = other;
        }
    }
    checkpoint_free(first);
}

static void training_is_bit_identical_for_any_number_of_workers(void **state)
{
    check_any_number_of_workers(PRECISION_FP32);
    check_any_number_of_workers(PRECISION_BF16);
}

static void stopped_run_is_resumed(void **state)
{
    char whole[256], broken[256], file[2][300];
    snprintf(whole, sizeof(whole), "%s/whole", directory);
    snprintf(broken, sizeof(broken), "%s/broken", directory);
    struct classifier_fit_options options = small_run(9);
    options.optimizer =
        OPTIMIZER_SGD; /* other optimizers amplify small differences in the first steps */
    options.rate = 0.05f;
    options.fit.model_dir = whole;
    struct classifier_fit_result result = fit_alone(&options);
    classifier_fit_result_release(&result);

    static const volatile sig_atomic_t asked = 1;
    options.fit.model_dir = broken;
    options.fit.stop = &asked;
    for (int i = 1; i < 9; i++) {
        result = fit_alone(&options);
        assert_true(result.stopped);
        assert_false(result.evaluated);
        assert_int_equal(result.last, i);
    }
    result = fit_alone(&options);
    assert_false(result.stopped);
    assert_int_equal(result.first, 8);
    classifier_fit_result_release(&result);
    struct classifier_model *model[2] = {0};
    for (int i = 0; i < 2; i++) {
        classifier_fit_model_path(i ? broken : whole, file[i], sizeof(file[i]));
        assert_int_equal(classifier_model_load(file[i], &model[i], NULL), 0);
    }
    /* The first step after a resume adds without known quanta, so the results are equal only within
     * rounding. */
    const struct params *a = classifier_model_params(model[0]),
                        *b = classifier_model_params(model[1]);
    float largest = 0;
    for (size_t i = 0; i < a->floats; i++)
        largest = fmaxf(largest, fabsf(a->values[i] - b->values[i]));
    if (largest > 1e-3f)
        fail_msg("values differ by %g", (double)largest);
    classifier_model_free(model[0]);
    classifier_model_free(model[1]);
}

static void model_is_exported_with_its_labels(void **state)
{
    char exports[256], path[MODEL_VERSIONS_PATH_MAX];
    snprintf(exports, sizeof(exports), "%s/export", directory);
    struct classifier_fit_options options = small_run(4);
    options.export_dir = exports;
    struct buf labels = {.data = (char *)"north-west\nnorth-east\n", .size = 22};
    put_file("LABELS", &labels);
    for (int64_t before = 0, i = 0; i < 2; i++) {
        struct classifier_fit_result result = fit_alone(&options);
        assert_true(result.version > before);
        before = result.version;
        int64_t newest;
        assert_int_equal(
            model_versions_newest(exports, CLASSIFIER_MODEL_FILE, INT64_MAX, &newest, path, NULL),
            0);
        assert_int_equal(newest, result.version);
        struct classifier_model *model = NULL;
        assert_int_equal(classifier_model_load(path, &model, NULL), 0);
        assert_true(classifier_model_accuracy(model) == result.eval.accuracy);
        assert_string_equal(classifier_model_label(model, 1), "north-east");
        assert_string_equal(classifier_model_label(model, 2), "2");
        classifier_model_free(model);
        classifier_fit_result_release(&result);
    }
}

static struct ps_client *local_client(struct ty_tf_config **ret_config)
{
    struct ps_client *client = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(tf_config_parse("{}", 2, ret_config, &err), 0);
    struct ps_options options = {.config = *ret_config, .shape = 1};
    if (ps_client_open(&options, &client, &err) < 0)
        fail_msg("%s", err.message);
    return client;
}

static void async_training_with_a_parameter_server_learns(void **state)
{
    struct classifier_fit_options options = small_run(20);
    struct classifier_fit_result result = {0};
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    struct ps_client *client = local_client(&config);
    char text[4096] = "";
    options.fit.log.stream = fmemopen(text, sizeof(text), "w");
    options.fit.log.style = PROGRESS_PLAIN;
    if (classifier_fit_async(&options, client, true, 1, &result, &err) < 0)
        fail_msg("%s", err.message);
    fclose(options.fit.log.stream);
    assert_int_equal(result.last, 20);
    assert_true(result.evaluated);
    if (result.eval.accuracy < 0.9)
        fail_msg("test accuracy %.3f", result.eval.accuracy);
    assert_non_null(strstr(text, "step 20/20"));
    classifier_fit_result_release(&result);
    ps_client_free(client);
    ty_tf_config_free(config);
}

static void invalid_options_are_rejected(void **state)
{
    struct reducer reducer = reducer_single();
    struct classifier_fit_result result;
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    struct classifier_fit_options options = small_run(1);
    options.data = "/nowhere";
    assert_int_equal(classifier_fit(&options, &reducer, &result, &err), -ERR_NOT_FOUND);
    options = small_run(1);
    options.rate = 0;
    assert_int_equal(classifier_fit(&options, &reducer, &result, &err), -ERR_INVALID);
    options = small_run(200);
    options.rate = 50;
    options.optimizer = OPTIMIZER_SGD;
    assert_int_equal(classifier_fit(&options, &reducer, &result, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "a lower --learning-rate"));
    options = small_run(1);
    options.optimizer = OPTIMIZER_ADAM;
    struct ps_client *client = local_client(&config);
    assert_int_equal(classifier_fit_async(&options, client, true, 1, &result, &err),
                     -ERR_UNSUPPORTED);
    ps_client_free(client);
    ty_tf_config_free(config);
}

static uint64_t hash_of(const struct classifier_fit_options *options, const struct idx *train)
{
    uint64_t numbers[MODEL_NUMBERS_MAX];
    return model_hash(numbers, classifier_fit_numbers_data(options, train, numbers));
}

static void hash_depends_on_the_data(void **state)
{
    struct classifier_fit_options options = small_run(1);
    const struct idx idx = {.count = 60, .height = 8, .width = 8, .classes = 4};
    struct idx more = idx, larger = idx, finer = idx;
    more.count = 61;
    larger.height = larger.width = 9;
    finer.classes = 5;
    uint64_t hash = hash_of(&options, &idx);
    assert_true(hash_of(&options, &more) != hash);
    assert_true(hash_of(&options, &larger) != hash);
    assert_true(hash_of(&options, &finer) != hash);
    options.fit.seed++;
    assert_true(hash_of(&options, &idx) != hash);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(both_models_learn_with_each_optimizer),
        CASE(training_is_bit_identical_for_any_number_of_workers),
        CASE(stopped_run_is_resumed),
        CASE(model_is_exported_with_its_labels),
        CASE(async_training_with_a_parameter_server_learns),
        CASE(invalid_options_are_rejected),
        CASE(unsuitable_test_pictures_are_rejected_at_the_start),
        CASE(hash_depends_on_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
