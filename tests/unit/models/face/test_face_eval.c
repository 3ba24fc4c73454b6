/* Tests the evaluation of a face model: its counts, its sentence, and data that cannot be
 * compared. */
#include "models/face/eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct face_model *model;
static struct dataset *dataset;

static int set_up(void **state)
{
    const struct face_config config = {.side = 32, .channels = 1, .embedding = 16, .width = 8};
    if (face_model_new(&config, &model, NULL) < 0 ||
        dataset_open_procedural(4, 6, 5, &dataset, NULL) < 0)
        return -1;
    params_initialise(face_model_params(model), 1);
    face_model_changed(model);
    return 0;
}

static int tear_down(void **state)
{
    face_model_free(model);
    dataset_free(dataset);
    return 0;
}

static void pairs_and_people_are_counted(void **state)
{
    size_t chosen[] = {1, 3, 5};
    struct face_eval eval = {0};
    assert_int_equal(
        face_eval_run(model, dataset, &(struct dataset_persons_list){chosen, 3}, &eval, NULL), 0);
    assert_int_equal(eval.persons, 3);
    assert_int_equal(eval.pictures, 15);
    assert_int_equal(eval.model.same, 3 * 10);
    assert_int_equal(eval.model.different, 75);
    assert_int_equal(eval.pixels.same, eval.model.same);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(eval.rows[i].person, chosen[i]);
        assert_int_equal(eval.rows[i].pictures, 5);
        assert_true(eval.rows[i].same > 0 && eval.rows[i].same <= 2);
        assert_true(eval.rows[i].nearest > 0 && eval.rows[i].nearest <= 2);
        assert_true(eval.rows[i].correct >= 0 && eval.rows[i].correct <= 1);
    }
    char text[512];
    face_eval_sentence(&eval, text, sizeof(text));
    assert_non_null(strstr(text, "3 people, 15 pictures, 105 pairs: pair AUC 0."));
    assert_non_null(strstr(text, "with raw pixels"));
    struct arena *arena = arena_new();
    struct json *json = face_eval_to_json(arena, &eval);
    assert_int_equal(json_get_int(json, "pairs", 0), 105);
    assert_true(json_number(json_at(json, "model", "auc", NULL), -1) == eval.model.auc);
    assert_true(json_number(json_at(json, "rawPixels", "auc", NULL), -1) == eval.pixels.auc);
    arena_free(arena);
    face_eval_release(&eval);
}

static void single_person_is_rejected(void **state)
{
    size_t chosen[] = {2};
    struct face_eval eval = {0};
    struct err err = ERR_INIT;
    assert_int_equal(
        face_eval_run(model, dataset, &(struct dataset_persons_list){chosen, 1}, &eval, &err),
        -ERR_INVALID);
    assert_string_equal(err.message, "1 persons cannot be compared: use 2 to 4096");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_and_people_are_counted),
        cmocka_unit_test(single_person_is_rejected),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
