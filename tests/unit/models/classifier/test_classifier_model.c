/* Tests the shape of the classifier, and its model file: a loaded model predicts like the saved
 * one, and any other file is rejected. */
#include "base/rand.h"
#include "base/system/file.h"
#include "models/classifier/model.h"
#include "models/face/model.h"
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

static char directory[64], path[128];

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_classifier.XXXXXX");
    bool made = mkdtemp(directory);
    snprintf(path, sizeof(path), "%s/%s", directory, CLASSIFIER_MODEL_FILE);
    return made ? 0 : -1;
}

static int remove_directory(void **state)
{
    return file_remove_tree(directory, NULL);
}

static const struct classifier_config WORKSHOP = {
    .kind = CLASSIFIER_CNN, .side = 28, .channels = 1, .classes = 10};

static struct classifier_model *new_model(const struct classifier_config *config)
{
    struct classifier_model *model = NULL;
    struct err err = ERR_INIT;
    if (classifier_model_new(config, &model, &err) < 0)
        fail_msg("%s", err.message);
    params_initialise(classifier_model_params(model), 4);
    classifier_model_changed(model);
    return model;
}

static void network_has_the_parameters_of_the_workshop(void **state)
{
    struct classifier_model *model = new_model(&WORKSHOP);
    assert_int_equal(params_trainable(classifier_model_params(model)),
                     5 * 5 * 32 + 32 + 5 * 5 * 32 * 64 + 64 + 7 * 7 * 64 * 1024 + 1024 + 1024 * 10 +
                         10);
    classifier_model_free(model);
    struct classifier_config linear = WORKSHOP;
    linear.kind = CLASSIFIER_LINEAR;
    model = new_model(&linear);
    assert_int_equal(params_trainable(classifier_model_params(model)), 784 * 10 + 10);
    classifier_model_free(model);
}

static void loaded_model_predicts_like_the_saved_one(void **state)
{
    enum { COUNT = 37 };
    struct classifier_config config = WORKSHOP;
    config.side = 12;
    struct classifier_model *model = new_model(&config), *loaded = NULL;
    classifier_model_set_label(model, 9, "Ankle boot");
    assert_true(classifier_model_accuracy(model) < 0);
    classifier_model_set_accuracy(model, 0.875);
    assert_int_equal(classifier_model_save(model, path, 12, 4, NULL), 0);
    assert_int_equal(classifier_model_load(path, &loaded, NULL), 0);
    assert_string_equal(classifier_model_label(loaded, 9), "Ankle boot");
    assert_string_equal(classifier_model_label(loaded, 3), "3");
    assert_true(classifier_model_accuracy(loaded) == 0.875);

    float pixels[COUNT * 144], one[COUNT * 10], other[COUNT * 10];
    struct rand rand;
    rand_init(&rand, 8);
    for (size_t i = 0; i < COUNT * 144; i++)
        pixels[i] = (float)rand_unit(&rand);
    assert_int_equal(classifier_model_predict(model, pixels, COUNT, one, NULL), 0);
    assert_int_equal(classifier_model_predict(loaded, pixels, COUNT, other, NULL), 0);
    assert_memory_equal(one, other, sizeof(one));
    for (int i = 0; i < COUNT; i++) {
        double sum = 0;
        for (int c = 0; c < 10; c++)
            sum += (double)one[i * 10 + c];
        assert_true(fabs(sum - 1) < 1e-5);
    }
    /* A prediction depends neither on the other pictures nor on random numbers. */
    assert_int_equal(classifier_model_predict(loaded, pixels + 36 * 144, 1, other, NULL), 0);
    for (int c = 0; c < 10; c++)
        assert_true(fabsf(other[c] - one[360 + c]) < 1e-6f);
    pixels[5] = NAN;
    assert_int_equal(classifier_model_predict(loaded, pixels, 1, other, NULL), -ERR_INVALID);
    classifier_model_free(model);
    classifier_model_free(loaded);
}

static void other_files_are_rejected(void **state)
{
    struct face_config config = FACE_CONFIG_DEFAULT;
    struct face_model *face = NULL;
    struct classifier_model *model = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(face_model_new(&config, &face, NULL), 0);
    struct arena *arena = arena_new();
    struct checkpoint_info info = {.model = "face", .config = face_config_to_json(arena, &config)};
    assert_int_equal(checkpoint_write(path, face_model_params(face), NULL, &info, NULL), 0);
    assert_int_equal(classifier_model_load(path, &model, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "of kind 'face', not a classifier"));
    info.model = "classifier";
    assert_int_equal(checkpoint_write(path, face_model_params(face), NULL, &info, NULL), 0);
    assert_int_equal(classifier_model_load(path, &model, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "no valid 'kind'"));
    arena_free(arena);
    face_model_free(face);
}

static void invalid_shapes_are_rejected(void **state)
{
    struct err err = ERR_INIT;
    struct classifier_config config = WORKSHOP;
    config.side = 3;
    assert_int_equal(classifier_config_check(&config, &err), -ERR_INVALID);
    config.side = 129;
    assert_int_equal(classifier_config_check(&config, &err), -ERR_INVALID);
    config = WORKSHOP;
    config.classes = 1;
    assert_int_equal(classifier_config_check(&config, &err), -ERR_INVALID);
    config = WORKSHOP;
    config.channels = 0;
    assert_int_equal(classifier_config_check(&config, &err), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(network_has_the_parameters_of_the_workshop),
        cmocka_unit_test_setup_teardown(loaded_model_predicts_like_the_saved_one, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(other_files_are_rejected, make_directory, remove_directory),
        cmocka_unit_test(invalid_shapes_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
