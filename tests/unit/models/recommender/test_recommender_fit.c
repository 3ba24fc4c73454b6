/* Tests the training of the recommender in one process. It learns the preferences of the users with
 * the same result each time, separate rows learn more than shared ones, it stops on request, and a
 * loaded model scores like the trained one. */
#include "recommender_run.h"

#include "models/recommender/top.h"

#include <string.h>

static void both_models_learn_the_preferences(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 1);
    for (int kind = 0; kind < 2; kind++) {
        struct recommender_fit_options options = small_run(kind);
        struct recommender_fit_result result = fit(&options, ratings);
        assert_true(result.evaluated && result.own_steps == result.steps);
        assert_in_range(result.eval.count, RATINGS / 5 - 100, RATINGS / 5 + 100);
        if (result.eval.auc < 0.9)
            fail_msg("%s: AUC %.3f", recommender_kind_name(kind), result.eval.auc);
        if (kind == RECOMMENDER_MLP && !(result.eval.rmse < 0.7)) /* the mean alone gives 1.27 */
            fail_msg("RMSE %.3f", result.eval.rmse);
    }
}

static void the_same_seed_gives_the_same_model(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 2);
    struct recommender_fit_options options = small_run(RECOMMENDER_DEEPFM);
    options.epochs = 2;
    struct recommender_fit_result one = fit(&options, ratings), two = fit(&options, ratings);
    assert_true(one.eval.auc == two.eval.auc && one.eval.loss == two.eval.loss);
    options.fit.seed = 2;
    struct recommender_fit_result other = fit(&options, ratings);
    assert_true(other.eval.loss != one.eval.loss);
}

static void own_rows_learn_more_than_shared_buckets(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 3);
    struct recommender_fit_options options = small_run(RECOMMENDER_DEEPFM);
    double own = fit(&options, ratings).eval.auc;
    options.model.buckets = (USERS + ITEMS) / 10;
    double shared = fit(&options, ratings).eval.auc;
    if (own < shared + 0.1)
        fail_msg("AUC %.3f with a row an id, %.3f with a tenth of the rows", own, shared);
}

static void run_stops_on_request(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 4);
    struct recommender_fit_options options = small_run(RECOMMENDER_MLP);
    volatile sig_atomic_t stop = 1;
    options.fit.stop = &stop;
    options.fit.model_dir = directory;
    struct recommender_fit_result result = fit(&options, ratings);
    assert_true(result.stopped && !result.evaluated && result.own_steps == 1);
    char path[128];
    recommender_fit_model_path(directory, path, sizeof(path));
    assert_false(file_exists(path));
}

static void invalid_options_are_rejected(void **state)
{
    struct rating one = {1, 2, 3};
    struct ratings ratings = {&one, 1};
    struct recommender_fit_options options = small_run(RECOMMENDER_MLP);
    struct recommender_fit_result result;
    struct recommender_fit_cluster cluster = {0};
    struct err err = ERR_INIT;
    options.rate = 0;
    assert_int_equal(recommender_fit(&options, &ratings, &cluster, &result, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "learning rate 0"));
    options = small_run(RECOMMENDER_MLP);
    options.test_percent = 100;
    assert_int_equal(recommender_fit(&options, &ratings, &cluster, &result, &err), -ERR_INVALID);
    assert_string_equal(
        err.message,
        "no rating is left to train on, out of 1: use more ratings, or a lower --test-percent");
}

static void hash_depends_on_the_options(void **state)
{
    struct recommender_fit_options a = small_run(RECOMMENDER_MLP), b = a;
    assert_true(hash_of(&a) == hash_of(&b));
    b.rate = 0.06f;
    assert_true(hash_of(&a) != hash_of(&b));
    b = a;
    b.model.buckets = 1;
    assert_true(hash_of(&a) != hash_of(&b));
}

static void loaded_model_scores_like_the_trained_one(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 5);
    struct recommender_fit_options options = small_run(RECOMMENDER_DEEPFM);
    struct err err = ERR_INIT;
    char path[128];
    options.fit.model_dir = directory;
    struct recommender_fit_result result = fit(&options, ratings);
    assert_int_equal(result.rows, USERS + ITEMS);
    recommender_fit_model_path(directory, path, sizeof(path));
    _cleanup_(cleanup_recommender_model) struct recommender_model *model = NULL;
    if (recommender_model_load(path, &model, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(recommender_model_knows(model, RECOMMENDER_USER, 3));
    assert_false(recommender_model_knows(model, RECOMMENDER_USER, USERS));

    /* User 0 is at the angle of item 0, and opposite to item ITEMS/2. */
    const int64_t items[] = {0, ITEMS / 2, ITEMS * 10};
    float scores[3];
    recommender_model_score(model, 0, items, 3, scores);
    if (!(scores[0] > 0.9f && scores[1] < 0.1f && scores[2] > 0 && scores[2] < 1))
        fail_msg("scores %g, %g and %g", (double)scores[0], (double)scores[1], (double)scores[2]);

    /* A truncated file, and a file of another kind. */
    _cleanup_buf_ struct buf bytes;
    buf_init(&bytes, 1 << 24);
    assert_int_equal(file_read(path, &bytes, NULL), 0);
    struct recommender_model *none = NULL;
    assert_int_equal(file_write_atomic(path, bytes.data, bytes.size - 5, 0644, NULL), 0);
    assert_int_equal(recommender_model_load(path, &none, &err), -ERR_BAD_REQUEST);
    assert_null(none);
}

static void best_items_exclude_rated_ones(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 6);
    struct recommender_fit_options options = small_run(RECOMMENDER_DEEPFM);
    struct err err = ERR_INIT;
    char path[128];
    options.fit.model_dir = directory;
    (void)fit(&options, ratings);
    recommender_fit_model_path(directory, path, sizeof(path));
    _cleanup_(cleanup_recommender_model) struct recommender_model *model = NULL;
    assert_int_equal(recommender_model_load(path, &model, NULL), 0);
    struct recommender_top top = {0};
    const int64_t user = 15;
    assert_int_equal(recommender_top_find(model, ratings, user, 5, 6, &top, NULL), 0);
    assert_int_equal(top.count, 6);
    assert_true(top.rated > 20);
    for (size_t i = 0; i < top.count; i++) {
        assert_true(top.items[i].ratings >= 5);
        assert_true(i == 0 || top.items[i - 1].score >= top.items[i].score);
        for (size_t j = 0; j < ratings->count; j++)
            assert_false(ratings->items[j].user == user &&
                         ratings->items[j].item == top.items[i].item);
    }
    /* The item is near the user on the circle, at most a quarter of it away. */
    double apart = fabs((double)top.items[0].item / ITEMS - (double)user / USERS);
    assert_true(fmin(apart, 1 - apart) < 0.25);
    recommender_top_release(&top);
    assert_int_equal(recommender_top_find(model, ratings, 12345, 5, 6, &top, &err), -ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_models_learn_the_preferences),
        cmocka_unit_test(the_same_seed_gives_the_same_model),
        cmocka_unit_test(own_rows_learn_more_than_shared_buckets),
        cmocka_unit_test_setup_teardown(run_stops_on_request, make_directory, remove_directory),
        cmocka_unit_test(invalid_options_are_rejected),
        cmocka_unit_test(hash_depends_on_the_options),
        cmocka_unit_test_setup_teardown(loaded_model_scores_like_the_trained_one, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(best_items_exclude_rated_ones, make_directory,
                                        remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
