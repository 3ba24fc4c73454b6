/* Tests the parts of the recommender: ids and their rows, configuration, and the gradients of both
 * models with both labels, compared with finite differences. */
#include "base/mem.h"
#include "base/rand.h"
#include "models/recommender/batch.h"
#include "train/kernels/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void each_id_has_its_own_row(void **state)
{
    struct recommender_config config = {.dimensions = 8};
    assert_true(recommender_row_id(&config, RECOMMENDER_USER, 7) == ((int64_t)1 << 48 | 7));
    assert_true(recommender_row_id(&config, RECOMMENDER_ITEM, 7) == ((int64_t)2 << 48 | 7));
    /* ids that need more than 48 bits, negative ones among them, stay in their slot */
    const int64_t wide[] = {(int64_t)1 << 48, INT64_MAX, -1, INT64_MIN};
    for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
        int64_t fid = recommender_row_id(&config, RECOMMENDER_ITEM, wide[i]);
        assert_int_equal(fid >> 48, 2);
        for (size_t j = 0; j < i; j++)
            assert_true(fid != recommender_row_id(&config, RECOMMENDER_ITEM, wide[j]));
    }
}

static void ids_are_spread_evenly_over_buckets(void **state)
{
    enum { BUCKETS = 16, IDS = 16000 };
    struct recommender_config config = {.dimensions = 8, .buckets = BUCKETS};
    int hits[BUCKETS] = {0};
    for (int64_t id = 0; id < IDS; id++) {
        int64_t fid = recommender_row_id(&config, id % 2 ? RECOMMENDER_USER : RECOMMENDER_ITEM, id);
        assert_in_range(fid, 0, BUCKETS - 1);
        hits[fid]++;
    }
    for (int i = 0; i < BUCKETS; i++)
        assert_in_range(hits[i], IDS / BUCKETS - 150, IDS / BUCKETS + 150);
}

static void configuration_round_trips_through_json(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct recommender_config config = {.kind = RECOMMENDER_DEEPFM,
                                        .label = RECOMMENDER_LIKE,
                                        .dimensions = 24,
                                        .buckets = 1000},
                              back;
    struct json *json = recommender_config_to_json(arena, &config);
    assert_int_equal(recommender_config_from_json(json, &back, NULL), 0);
    assert_true(back.kind == config.kind && back.label == config.label);
    assert_true(back.dimensions == config.dimensions && back.buckets == config.buckets);
    struct err err = ERR_INIT;
    json_set_string(arena, json, "kind", "transformer");
    assert_int_equal(recommender_config_from_json(json, &back, &err), -ERR_INVALID);
    assert_string_equal(err.message, "the configuration of the recommender has no valid 'kind'");
    config.dimensions = 0;
    assert_int_equal(recommender_config_check(&config, &err), -ERR_INVALID);
    config.dimensions = 1;
    config.buckets = -1;
    assert_int_equal(recommender_config_check(&config, &err), -ERR_INVALID);
}

static void loss_derivatives_agree_with_finite_differences(void **state)
{
    const float scores[] = {-30, -2, -0.1f, 0, 0.5f, 3, 30}, ratings[] = {0.5f, 3, 3.5f, 5};
    for (int label = 0; label < 2; label++)
        for (size_t i = 0; i < ARRAY_SIZE(scores); i++)
            for (size_t j = 0; j < ARRAY_SIZE(ratings); j++) {
                const float step = 1e-2f;
                float d, ignored;
                double loss = recommender_loss(label, scores[i], ratings[j], &d);
                double up = recommender_loss(label, scores[i] + step, ratings[j], &ignored);
                double down = recommender_loss(label, scores[i] - step, ratings[j], &ignored);
                assert_true(isfinite(loss) && loss >= 0);
                assert_true(fabs((up - down) / 0.02 - (double)d) < 1e-3 * (1 + fabs((double)d)));
            }
    float d;
    assert_true(fabs(recommender_loss(RECOMMENDER_LIKE, 0, 4, &d) - log(2)) < 1e-12);
    assert_true(recommender_loss(RECOMMENDER_RATING, 3, 5, &d) == 4);
}

enum { SAMPLES = 5, DIMENSIONS = 6 };

static void gradients_agree_with_finite_differences(void **state)
{
    const float ratings[SAMPLES] = {1, 4.5f, 3.5f, 3, 2};
    for (int round = 0; round < 4; round++) {
        struct recommender_config config = {
            .kind = round % 2, .label = round / 2, .dimensions = DIMENSIONS};
        struct recommender_batch *batch = NULL;
        assert_int_equal(recommender_batch_new(&config, SAMPLES + 2, &batch, NULL), 0);
        recommender_batch_initialise(batch, 3, 0.6);
        size_t count = SAMPLES * 2 * (size_t)recommender_row_floats(&config);
        float rows[SAMPLES * 2 * (DIMENSIONS + 1)], d_rows[ARRAY_SIZE(rows)],
            ignored[ARRAY_SIZE(rows)];
        struct rand rand;
        rand_init(&rand, (uint64_t)round);
        for (size_t i = 0; i < count; i++)
            rows[i] = (float)rand_normal(&rand);
        struct params *params = recommender_batch_params(batch);
        (void)recommender_batch_gradients(batch, rows, ratings, SAMPLES, d_rows);
        _cleanup_free_ float *gradients = mem_calloc(params->floats, sizeof(float));
        memcpy(gradients, params->gradients, params->floats * sizeof(float));

        int checked = 0, wrong = 0;
        const float step = 4e-3f;
        for (size_t i = 0; i < count + params->floats; i += i < count ? 1 : 97) {
            float *value = i < count ? &rows[i] : &params->values[i - count];
            float expected = i < count ? d_rows[i] : gradients[i - count], kept = *value;
            double loss[2];
            for (int side = 0; side < 2; side++) {
                *value = kept + (side ? -step : step);
                recommender_batch_changed(batch);
                loss[side] = recommender_batch_gradients(batch, rows, ratings, SAMPLES, ignored);
            }
            *value = kept;
            double slope = (loss[0] - loss[1]) / (2 * (double)step);
            checked++;
            wrong += fabs(slope - (double)expected) > 0.02 * (0.02 + fabs(slope));
        }
        recommender_batch_changed(batch);
        assert_true(checked > 150);
        if (wrong * 20 > checked)
            fail_msg("model %d label %d: %d of %d gradients differ from finite differences",
                     config.kind, config.label, wrong, checked);
        recommender_batch_free(batch);
    }
}

static void initial_prediction_is_the_mean(void **state)
{
    float rows[2 * (DIMENSIONS + 1)] = {0}, score;
    for (int label = 0; label < 2; label++) {
        struct recommender_config config = {
            .kind = RECOMMENDER_DEEPFM, .label = label, .dimensions = DIMENSIONS};
        struct recommender_batch *batch = NULL;
        assert_int_equal(recommender_batch_new(&config, 1, &batch, NULL), 0);
        recommender_batch_initialise(batch, 1, label ? 0.62 : 3.54);
        recommender_batch_predict(batch, rows, 1, &score);
        double start = label ? 1 / (1 + exp(-(double)score)) : (double)score;
        assert_true(fabs(start - (label ? 0.62 : 3.54)) < 1e-5);
        recommender_batch_free(batch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_id_has_its_own_row),
        cmocka_unit_test(ids_are_spread_evenly_over_buckets),
        cmocka_unit_test(configuration_round_trips_through_json),
        cmocka_unit_test(loss_derivatives_agree_with_finite_differences),
        cmocka_unit_test(gradients_agree_with_finite_differences),
        cmocka_unit_test(initial_prediction_is_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
