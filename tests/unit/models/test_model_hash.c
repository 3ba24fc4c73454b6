/* Tests the hashes that workers and parameter servers compare before they train together. They must
 * never change, because snapshots of parameter servers and peers of an earlier version have the
 * same. */
#include "models/classifier/fit.h"
#include "models/face/fit.h"
#include "models/recommender/fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void hash_of_a_face_run_is_stable(void **state)
{
    struct face_fit_options options = FACE_FIT_DEFAULT;
    struct dataset *dataset = NULL;
    uint64_t numbers[MODEL_NUMBERS_MAX];
    assert_int_equal(dataset_open_procedural(1, 12, 5, &dataset, NULL), 0);
    assert_true(model_hash(numbers, face_fit_numbers(&options, dataset, numbers)) ==
                0xc43ec21044a95d50);
    options.model.norm = FACE_NORM_BATCH;
    options.fit.clip = 2.5f;
    options.start_from = "x";
    options.augment.mirror = false;
    options.blend = 0.25f;
    assert_true(model_hash(numbers, face_fit_numbers(&options, dataset, numbers)) ==
                0x876101805269cc8f);
    dataset_free(dataset);
}

static void hash_of_a_classifier_run_is_stable(void **state)
{
    struct classifier_fit_options options = CLASSIFIER_FIT_DEFAULT;
    const struct idx idx = {.count = 600, .height = 28, .width = 28, .classes = 10};
    uint64_t numbers[MODEL_NUMBERS_MAX];
    assert_true(model_hash(numbers, classifier_fit_numbers(&options, numbers)) ==
                0xe88f7910bb6a5c92);
    assert_true(model_hash(numbers, classifier_fit_numbers_data(&options, &idx, numbers)) ==
                0x94357bbf7a555728);
    options.kind = CLASSIFIER_LINEAR;
    options.fit.clip = 1;
    options.fit.seed = 9;
    assert_true(model_hash(numbers, classifier_fit_numbers(&options, numbers)) ==
                0x5e9b46cb3698764a);
    assert_true(model_hash(numbers, classifier_fit_numbers_data(&options, &idx, numbers)) ==
                0x09bc6daf461589f3);
}

static void hash_of_a_recommender_run_is_stable(void **state)
{
    struct recommender_fit_options options = RECOMMENDER_FIT_DEFAULT;
    uint64_t numbers[MODEL_NUMBERS_MAX];
    assert_true(model_hash(numbers, recommender_fit_numbers(&options, numbers)) ==
                0x90a16d5aea99b1d4);
    options.model.kind = RECOMMENDER_MLP;
    options.model.buckets = 1000;
    options.range = 0.1f;
    assert_true(model_hash(numbers, recommender_fit_numbers(&options, numbers)) ==
                0x47d7d7e080a66e40);
}

/* The settings of workers that train synchronously are added to the hash of the model. */
static void hash_of_terms_is_stable(void **state)
{
    static const struct option OPTIONS[] = {
        {.name = "seed", .type = OPTION_INT, .offset = offsetof(struct fit_values, seed)},
        {.name = "threads",
         .type = OPTION_INT,
         .offset = offsetof(struct fit_values, threads),
         .marks = FIT_FREE},
        {0},
    };
    const struct command command = {.name = "fit", .options = OPTIONS};
    const struct fit_values values = {.seed = 7, .threads = 3};
    struct fit_terms terms;
    fit_terms_init(&terms, &command, &values);
    fit_terms_set(&terms, "data", "60 pictures");
    assert_string_equal(fit_terms_text(&terms), "--seed 7\n--data 60 pictures\n");
    assert_true(fit_terms_hash(&terms, 0x94357bbf7a555728) == 0xbe3fed39bf2a81b3);
    fit_terms_release(&terms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_of_a_face_run_is_stable),
        cmocka_unit_test(hash_of_a_classifier_run_is_stable),
        cmocka_unit_test(hash_of_a_recommender_run_is_stable),
        cmocka_unit_test(hash_of_terms_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
