/* Tests the face model: its shape, its files, and embeddings of unusual pictures. */
#include "base/mem.h"
#include "base/rand.h"
#include "base/system/file.h"
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

static const struct face_config SMALL = {.side = 32, .channels = 1, .embedding = 32, .width = 8};

static void invalid_configurations_are_rejected_with_advice(void **state)
{
    struct err err = ERR_INIT;
    struct face_config config = SMALL;
    config.side = 50;
    assert_int_equal(face_config_check(&config, &err), -ERR_INVALID);
    assert_string_equal(err.message,
                        "a picture side of 50 does not fit the face model: use 32, 48, "
                        "64, 80, 96, 112 or 128");
    config = SMALL;
    config.channels = 2;
    assert_int_equal(face_config_check(&config, &err), -ERR_INVALID);
    config = SMALL;
    config.embedding = 1;
    assert_int_equal(face_config_check(&config, &err), -ERR_INVALID);
    config = SMALL;
    config.width = 12;
    assert_int_equal(face_config_check(&config, &err), -ERR_INVALID);
}

static void missing_fields_of_a_configuration_have_old_defaults(void **state)
{
    struct arena *arena = arena_new();
    struct err err = ERR_INIT;
    struct face_config config = SMALL, read = {0};
    config.norm = FACE_NORM_BATCH;
    struct json *json = face_config_to_json(arena, &config);
    assert_int_equal(face_config_from_json(json, &read, &err), 0);
    assert_int_equal(read.norm, FACE_NORM_BATCH);
    json_remove(json, "norm");
    assert_int_equal(face_config_from_json(json, &read, &err), 0);
    assert_int_equal(read.norm, FACE_NORM_GROUP);
    json_set_string(arena, json, "norm", "layer");
    assert_int_equal(face_config_from_json(json, &read, &err), -ERR_INVALID);
    config.light = FACE_LIGHT_KEEP;
    json = face_config_to_json(arena, &config);
    assert_int_equal(face_config_from_json(json, &read, &err), 0);
    assert_int_equal(read.light, FACE_LIGHT_KEEP);
    json_remove(json, "light");
    assert_int_equal(face_config_from_json(json, &read, &err), 0);
    assert_int_equal(read.light, FACE_LIGHT_EVEN);
    json_set_string(arena, json, "light", "dim");
    assert_int_equal(face_config_from_json(json, &read, &err), -ERR_INVALID);
    arena_free(arena);
}

static void configuration_stores_the_crop(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct face_config config = SMALL, read = {0};
    config.crop = FACE_CROP_CASCADE;
    struct json *json = face_config_to_json(arena, &config);
    assert_int_equal(face_config_from_json(json, &read, &err), 0);
    assert_int_equal(read.crop, FACE_CROP_CASCADE);
    json_remove(json, "crop"); /* an older model */
    assert_int_equal(face_config_from_json(json, &read, &err), 0);
    assert_int_equal(read.crop, FACE_CROP_OFF);
    json_set_string(arena, json, "crop", "sideways");
    assert_int_equal(face_config_from_json(json, &read, &err), -ERR_INVALID);
}

static void configuration_stores_the_number_of_views(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct face_config config = SMALL, read = {0};
    config.five_views = true;
    struct json *json = face_config_to_json(arena, &config);
    assert_int_equal(face_config_from_json(json, &read, &err), 0);
    assert_true(read.five_views);
    json_remove(json, "views"); /* an older model */
    assert_int_equal(face_config_from_json(json, &read, &err), 0);
    assert_false(read.five_views);
    json_set_int(arena, json, "views", 3);
    assert_int_equal(face_config_from_json(json, &read, &err), -ERR_INVALID);
}

/* Moves the picture by whole pixels, and repeats its edge. */
static void move_picture(const float *from, int side, int right, int down, float *to)
{
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            int sx = x - right, sy = y - down;
            sx = sx < 0 ? 0 : sx >= side ? side - 1 : sx;
            sy = sy < 0 ? 0 : sy >= side ? side - 1 : sy;
            to[y * side + x] = from[sy * side + sx];
        }
}

static void five_views_embed_the_mean_of_five_pictures(void **state)
{
    (void)state;
    enum { SIDE = 32, DIM = 32, STEP = 1 /* a 24th of the side, rounded */ };
    static const int moves[5][2] = {{0, 0}, {STEP, 0}, {-STEP, 0}, {0, STEP}, {0, -STEP}};
    struct err err = ERR_INIT;
    struct face_config config = SMALL;
    _cleanup_(cleanup_face_model) struct face_model *one = NULL, *five = NULL;
    assert_int_equal(face_model_new(&config, &one, &err), 0);
    config.five_views = true;
    assert_int_equal(face_model_new(&config, &five, &err), 0);
    params_initialise(face_model_params(one), 3);
    params_initialise(face_model_params(five), 3);
    face_model_changed(one);
    face_model_changed(five);
    struct rand rand;
    rand_init(&rand, 5);
    float pictures[2][SIDE * SIDE], views[5][SIDE * SIDE], single[5][DIM], got[2][DIM];
    for (int picture = 0; picture < 2; picture++)
        for (int i = 0; i < SIDE * SIDE; i++)
            pictures[picture][i] = (float)rand_unit(&rand);
    assert_int_equal(face_model_embed(five, pictures[0], 2, got[0], &err), 0);
    for (int picture = 0; picture < 2; picture++) {
        double sum[DIM] = {0}, square = 0;
        for (int i = 0; i < 5; i++)
            move_picture(pictures[picture], SIDE, moves[i][0], moves[i][1], views[i]);
        assert_int_equal(face_model_embed(one, views[0], 5, single[0], &err), 0);
        for (int k = 0; k < DIM; k++) {
            for (int i = 0; i < 5; i++)
                sum[k] += (double)single[i][k];
            square += sum[k] * sum[k];
        }
        for (int k = 0; k < DIM; k++)
            assert_float_equal(got[picture][k], sum[k] / sqrt(square), 1e-5);
        /* The mean of five views differs from the embedding of the picture alone. */
        double apart = 0;
        for (int k = 0; k < DIM; k++)
            apart += fabs((double)(got[picture][k] - single[0][k]));
        assert_true(apart > 1e-3);
    }
}

static void models_of_every_side_can_be_built(void **state)
{
    for (int side = 32; side <= 128; side += 16) {
        struct face_config config = FACE_CONFIG_DEFAULT;
        config.side = side;
        config.channels = side % 32 ? 3 : 1;
        struct face_model *model = NULL;
        assert_int_equal(face_model_new(&config, &model, NULL), 0);
        assert_int_equal(face_model_dimensions(model), 128);
        assert_int_equal(network_output_shape(face_model_network(model))->c, 128);
        face_model_free(model);
    }
}

static struct face_model *new_model(void)
{
    struct face_model *model = NULL;
    assert_int_equal(face_model_new(&SMALL, &model, NULL), 0);
    params_initialise(face_model_params(model), 4);
    face_model_changed(model);
    return model;
}

static void write_model(const char *path, struct face_model *model, const char *kind)
{
    struct arena *arena = arena_new();
    struct checkpoint_info info = {.model = kind,
                                   .config = face_config_to_json(arena, face_model_config(model))};
    assert_int_equal(checkpoint_write(path, face_model_params(model), NULL, &info, NULL), 0);
    arena_free(arena);
}

static void loaded_model_embeds_like_the_saved_one(void **state)
{
    enum { PICTURES = 11 }; /* several passes, the last one not full */
    char path[] = "/tmp/test_face.XXXXXX";
    close(mkstemp(path));
    struct face_model *model = new_model(), *loaded = NULL;
    write_model(path, model, "face");
    struct err err = ERR_INIT;
    if (face_model_load(path, &loaded, &err) < 0)
        fail_msg("%s", err.message);
    static float pixels[PICTURES * 32 * 32], a[PICTURES * 32], b[PICTURES * 32];
    struct rand rand;
    rand_init(&rand, 6);
    for (size_t i = 0; i < ARRAY_SIZE(pixels); i++)
        pixels[i] = (float)rand_unit(&rand);
    assert_int_equal(face_model_embed(model, pixels, PICTURES, a, NULL), 0);
    for (int i = 0; i < PICTURES; i++) { /* one by one gives the same result as together */
        assert_int_equal(face_model_embed(loaded, pixels + i * 32 * 32, 1, b + i * 32, NULL), 0);
        double length = 0;
        for (int j = 0; j < 32; j++)
            length += (double)a[i * 32 + j] * (double)a[i * 32 + j];
        assert_true(fabs(length - 1) < 1e-5);
    }
    assert_memory_equal(a, b, sizeof(a));
    face_model_free(model), face_model_free(loaded);
    unlink(path);
}

static void embedding_ignores_light_and_contrast(void **state)
{
    struct face_model *model = new_model();
    static float pixels[2 * 32 * 32], embedding[2 * 32];
    struct rand rand;
    rand_init(&rand, 7);
    for (int i = 0; i < 32 * 32; i++) {
        pixels[i] = (float)rand_unit(&rand);
        pixels[32 * 32 + i] = 0.2f + 0.5f * pixels[i];
    }
    assert_int_equal(face_model_embed(model, pixels, 2, embedding, NULL), 0);
    for (int j = 0; j < 32; j++)
        assert_true(fabsf(embedding[j] - embedding[32 + j]) < 0.02f);
    face_model_free(model);
}

static void blank_pictures_are_accepted_and_nan_is_rejected(void **state)
{
    struct face_model *model = new_model();
    static float pixels[32 * 32], embedding[32];
    struct err err = ERR_INIT;
    assert_int_equal(face_model_embed(model, pixels, 1, embedding, &err), 0);
    for (int j = 0; j < 32; j++)
        assert_true(isfinite(embedding[j]));
    pixels[77] = NAN;
    assert_int_equal(face_model_embed(model, pixels, 1, embedding, &err), -ERR_INVALID);
    assert_string_equal(err.message, "the picture has a pixel that is not a number");
    face_model_free(model);
}

static void other_files_are_rejected(void **state)
{
    char path[] = "/tmp/test_face.XXXXXX", expected[256];
    close(mkstemp(path));
    struct err err = ERR_INIT;
    struct face_model *model = new_model(), *loaded = NULL;
    assert_int_equal(face_model_load(path, &loaded, &err), -ERR_BAD_REQUEST);
    snprintf(expected, sizeof(expected), "'%s' is not a model or checkpoint file", path);
    assert_string_equal(err.message, expected);
    write_model(path, model, "digits");
    assert_int_equal(face_model_load(path, &loaded, &err), -ERR_INVALID);
    snprintf(expected, sizeof(expected), "'%s' holds a model of kind 'digits', not a face model",
             path);
    assert_string_equal(err.message, expected);
    assert_int_equal(face_model_load("/nowhere", &loaded, &err), -ERR_NOT_FOUND);
    face_model_free(model);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_configurations_are_rejected_with_advice),
        cmocka_unit_test(missing_fields_of_a_configuration_have_old_defaults),
        cmocka_unit_test(configuration_stores_the_crop),
        cmocka_unit_test(models_of_every_side_can_be_built),
        cmocka_unit_test(loaded_model_embeds_like_the_saved_one),
        cmocka_unit_test(embedding_ignores_light_and_contrast),
        cmocka_unit_test(configuration_stores_the_number_of_views),
        cmocka_unit_test(five_views_embed_the_mean_of_five_pictures),
        cmocka_unit_test(blank_pictures_are_accepted_and_nan_is_rejected),
        cmocka_unit_test(other_files_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
