/* Training the recommender from beginning to end in one process: it learns a taste, the same way
 * each time; rows of their own learn more than shared ones; it stops when asked and goes on with
 * the same bits; and its file gives back the model. */
#include "taste.h"

#include "base/file.h"
#include "models/recommender_fit.h"
#include "models/recommender_top.h"
#include "train/checkpoint.h"
#include "train/kernels/kernels.h"
#include "train/model_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { USERS = 60, ITEMS = 80, RATINGS = 3000 };

static char directory[64];

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_recommender.XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    return file_remove_tree(directory, NULL);
}

static struct recommender_fit_options small_run(enum recommender_kind kind)
{
    struct recommender_fit_options options = RECOMMENDER_FIT_DEFAULT;
    options.model.kind = kind;
    options.model.label = kind == RECOMMENDER_MLP ? RECOMMENDER_RATING : RECOMMENDER_LIKE;
    options.model.dimensions = 8;
    options.batch = 64;
    options.epochs = 12;
    options.test_percent = 20;
    return options;
}

static int try_fit(const struct recommender_fit_options *options, const struct ratings *ratings,
                   struct recommender_fit_result *ret, struct err *err)
{
    _cleanup_(cleanup_ps_client) struct ps_client *client = NULL;
    struct ty_task self = {.role = TY_ROLE_WORKER};
    struct ty_tf_config config = {.tasks = &self, .count = 1};
    struct ps_options ps = {.config = &config, .shape = recommender_fit_hash(options)};
    assert_int_equal(ps_client_open(&ps, &client, err), 0);
    struct recommender_fit_place place = {.client = client, .workers = 1, .chief = true};
    return recommender_fit(options, ratings, &place, ret, err);
}

static struct recommender_fit_result fit(const struct recommender_fit_options *options,
                                         const struct ratings *ratings)
{
    struct recommender_fit_result result = {0};
    struct err err = ERR_INIT;
    if (try_fit(options, ratings, &result, &err) < 0)
        fail_msg("%s", err.message);
    return result;
}

static void both_models_learn_a_taste(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 1);
    for (int kind = 0; kind < 2; kind++) {
        struct recommender_fit_options options = small_run(kind);
        struct recommender_fit_result result = fit(&options, ratings);
        assert_true(result.judged && result.own == result.steps);
        assert_in_range(result.eval.count, RATINGS / 5 - 100, RATINGS / 5 + 100);
        if (result.eval.auc < 0.9)
            fail_msg("%s: AUC %.3f", recommender_kind_name(kind), result.eval.auc);
        if (kind == RECOMMENDER_MLP && !(result.eval.rmse < 0.7)) /* 1.27 by the mean alone */
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
    options.seed = 2;
    struct recommender_fit_result other = fit(&options, ratings);
    assert_true(other.eval.loss != one.eval.loss);
}

static void rows_of_their_own_learn_more_than_shared_ones(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 3);
    struct recommender_fit_options options = small_run(RECOMMENDER_DEEPFM);
    double own = fit(&options, ratings).eval.auc;
    options.model.buckets = (USERS + ITEMS) / 10;
    double shared = fit(&options, ratings).eval.auc;
    if (own < shared + 0.1)
        fail_msg("AUC %.3f with a row an id, %.3f with a tenth of the rows", own, shared);
}

static void it_ends_when_asked(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 4);
    struct recommender_fit_options options = small_run(RECOMMENDER_MLP);
    volatile sig_atomic_t stop = 1;
    options.stop = &stop;
    options.model_dir = directory;
    struct recommender_fit_result result = fit(&options, ratings);
    assert_true(result.stopped && !result.judged && result.own == 1);
    char path[128];
    recommender_fit_model_path(directory, path, sizeof(path));
    assert_false(file_exists(path));
}

/* ---- What was broken off goes on */

/* Two epochs, 76 or so batches, in a directory of their own below the test's. */
static struct recommender_fit_options kept_run(const char *name, char path[128])
{
    struct recommender_fit_options options = small_run(RECOMMENDER_DEEPFM);
    snprintf(path, 128, "%s/%s", directory, name);
    options.epochs = 2;
    options.model_dir = path;
    options.checkpoint_every = 7;
    return options;
}

static void read_model(const struct recommender_fit_options *options, struct buf *ret)
{
    char path[256];
    recommender_fit_model_path(options->model_dir, path, sizeof(path));
    buf_init(ret, 1 << 24);
    assert_int_equal(file_read(path, ret, NULL), 0);
}

static void assert_same_model(const struct recommender_fit_options *a,
                              const struct recommender_fit_options *b)
{
    _cleanup_buf_ struct buf x, y;
    read_model(a, &x);
    read_model(b, &y);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
}

static size_t checkpoints(const struct recommender_fit_options *options, uint64_t *ret_newest)
{
    _cleanup_free_ uint64_t *steps = NULL;
    size_t count = 0;
    assert_int_equal(checkpoint_list(options->model_dir, &steps, &count, NULL), 0);
    *ret_newest = count ? steps[0] : 0;
    return count;
}

/* `times` runs that end after one batch each, as SIGTERM ends one. */
static void fit_in_steps(const struct recommender_fit_options *options,
                         const struct ratings *ratings, int times)
{
    struct recommender_fit_options asked = *options;
    const volatile sig_atomic_t stop = 1;
    asked.stop = &stop;
    for (int i = 0; i < times; i++) {
        struct recommender_fit_result part = fit(&asked, ratings);
        assert_true(part.stopped && part.own == 1);
    }
}

static void a_run_that_was_broken_off_gives_the_same_bits(void **state)
{
    enum { PARTS = 9 };
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 7);
    char path[128], other[128];
    struct recommender_fit_options whole = kept_run("whole", path),
                                   parts = kept_run("parts", other);
    struct recommender_fit_result one = fit(&whole, ratings);
    assert_true(one.own == one.steps && one.steps > 2 * PARTS);
    fit_in_steps(&parts, ratings, PARTS);
    struct recommender_fit_result last = fit(&parts, ratings);
    assert_int_equal(last.own, one.steps - PARTS);
    assert_true(last.eval.auc == one.eval.auc && last.eval.loss == one.eval.loss);
    assert_same_model(&whole, &parts);
}

/* What kill -9 leaves: the newest checkpoint is older than the last batch. */
static void batches_since_the_last_checkpoint_are_done_again(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 8);
    char path[128], other[128], newest[CHECKPOINT_PATH_MAX];
    struct recommender_fit_options whole = kept_run("whole", path),
                                   killed = kept_run("killed", other);
    struct recommender_fit_result one = fit(&whole, ratings);
    fit_in_steps(&killed, ratings, 5);
    checkpoint_path(killed.model_dir, 5, newest);
    assert_int_equal(unlink(newest), 0);
    struct recommender_fit_result two = fit(&killed, ratings);
    assert_int_equal(two.own, one.steps - 4);
    assert_same_model(&whole, &killed);
}

static void a_damaged_checkpoint_is_passed_over(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 9);
    char path[128], other[128], newest[CHECKPOINT_PATH_MAX], aside[CHECKPOINT_PATH_MAX + 16];
    struct recommender_fit_options whole = kept_run("whole", path),
                                   damaged = kept_run("damaged", other);
    struct recommender_fit_result one = fit(&whole, ratings);
    fit_in_steps(&damaged, ratings, 5);
    checkpoint_path(damaged.model_dir, 5, newest);
    assert_int_equal(truncate(newest, 5000), 0);
    struct recommender_fit_result two = fit(&damaged, ratings);
    assert_int_equal(two.own, one.steps - 4);
    assert_same_model(&whole, &damaged);
    snprintf(aside, sizeof(aside), "%s.damaged", newest);
    assert_true(file_exists(aside));
}

static void a_finished_run_is_not_trained_again(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 10);
    FILE *said = tmpfile();
    char path[128], text[4096] = "";
    struct recommender_fit_options options = kept_run("finished", path);
    uint64_t newest;
    options.keep = 2;
    fit_in_steps(&options, ratings, 4);
    assert_int_equal(checkpoints(&options, &newest), 2);
    assert_int_equal(newest, 4);
    struct recommender_fit_result one = fit(&options, ratings);
    assert_int_equal(checkpoints(&options, &newest), 2);
    assert_int_equal(newest, one.steps);
    options.log = (struct run_log_options){.style = PROGRESS_PLAIN, .stream = said};
    struct recommender_fit_result two = fit(&options, ratings);
    assert_int_equal(two.own, 0);
    assert_int_equal(two.steps, one.steps);
    assert_true(two.judged && two.eval.loss == one.eval.loss && two.rows == one.rows);
    rewind(said);
    assert_true(fread(text, 1, sizeof(text) - 1, said) > 0);
    fclose(said);
    if (!strstr(text, "steps were done before: to train further raise --epochs"))
        fail_msg("%s", text);
}

static void a_run_goes_on_as_it_began_and_alone(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 11);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *kept = json_object(arena);
    struct recommender_fit_result result;
    struct err err = ERR_INIT;
    char path[128];
    struct recommender_fit_options options = kept_run("began", path);
    options.epochs = 1;
    json_set_int(arena, kept, "test-percent", 20);
    options.kept = kept;
    (void)fit(&options, ratings);
    json_set_int(arena, kept, "test-percent", 30);
    assert_int_equal(try_fit(&options, ratings, &result, &err), -ERR_USAGE);
    assert_non_null(strstr(err.message, "was trained with --test-percent 20, this run has 30"));

    _cleanup_fd_ int claim = -1;
    options.kept = NULL;
    assert_int_equal(model_dir_claim(path, &claim, &err), 0);
    assert_int_equal(try_fit(&options, ratings, &result, &err), -ERR_CONFLICT);
}

static void what_runs_away_is_not_kept(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 12);
    struct recommender_fit_result result;
    struct err err = ERR_INIT;
    uint64_t newest;
    char path[128];
    struct recommender_fit_options options = kept_run("away", path);
    ratings->items[RATINGS / 2].value = NAN;
    options.model.label = RECOMMENDER_RATING;
    options.checkpoint_every = 0;
    assert_int_equal(try_fit(&options, ratings, &result, &err), -ERR_INVALID);
    if (!strstr(err.message, "not numbers any more: begin anew with a lower --learning-rate") ||
        strstr(err.message, "--clip"))
        fail_msg("%s", err.message);
    assert_int_equal(checkpoints(&options, &newest), 0);
}

static void what_cannot_be_is_refused(void **state)
{
    struct rating one = {1, 2, 3};
    struct ratings ratings = {&one, 1};
    struct recommender_fit_options options = small_run(RECOMMENDER_MLP);
    struct recommender_fit_result result;
    struct recommender_fit_place place = {0};
    struct err err = ERR_INIT;
    options.rate = 0;
    assert_int_equal(recommender_fit(&options, &ratings, &place, &result, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "learning rate 0"));
    options = small_run(RECOMMENDER_MLP);
    options.test_percent = 100;
    assert_int_equal(recommender_fit(&options, &ratings, &place, &result, &err), -ERR_INVALID);
    assert_string_equal(err.message, "none of 1 ratings is left to train on");
}

static void runs_that_differ_have_another_hash(void **state)
{
    struct recommender_fit_options a = small_run(RECOMMENDER_MLP), b = a;
    assert_true(recommender_fit_hash(&a) == recommender_fit_hash(&b));
    b.rate = 0.06f;
    assert_true(recommender_fit_hash(&a) != recommender_fit_hash(&b));
    b = a;
    b.model.buckets = 1;
    assert_true(recommender_fit_hash(&a) != recommender_fit_hash(&b));
}

static void the_file_gives_back_the_model(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 5);
    struct recommender_fit_options options = small_run(RECOMMENDER_DEEPFM);
    struct err err = ERR_INIT;
    char path[128];
    options.model_dir = directory;
    struct recommender_fit_result result = fit(&options, ratings);
    assert_int_equal(result.rows, USERS + ITEMS);
    recommender_fit_model_path(directory, path, sizeof(path));
    _cleanup_(cleanup_recommender_model) struct recommender_model *model = NULL;
    if (recommender_model_load(path, &model, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(recommender_model_knows(model, RECOMMENDER_USER, 3));
    assert_false(recommender_model_knows(model, RECOMMENDER_USER, USERS));

    /* User 0 is at the angle of item 0 and on the other side of item ITEMS/2. */
    const int64_t items[] = {0, ITEMS / 2, ITEMS * 10};
    float scores[3];
    recommender_model_score(model, 0, items, 3, scores);
    if (!(scores[0] > 0.9f && scores[1] < 0.1f && scores[2] > 0 && scores[2] < 1))
        fail_msg("scores %g, %g and %g", (double)scores[0], (double)scores[1], (double)scores[2]);

    /* A file cut short, and one that is no recommender. */
    _cleanup_buf_ struct buf bytes;
    buf_init(&bytes, 1 << 24);
    assert_int_equal(file_read(path, &bytes, NULL), 0);
    struct recommender_model *none = NULL;
    assert_int_equal(file_write_atomic(path, bytes.data, bytes.size - 5, 0644, NULL), 0);
    assert_int_equal(recommender_model_load(path, &none, &err), -ERR_BAD_REQUEST);
    assert_null(none);
}

static void the_best_items_are_new_to_the_user(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 6);
    struct recommender_fit_options options = small_run(RECOMMENDER_DEEPFM);
    struct err err = ERR_INIT;
    char path[128];
    options.model_dir = directory;
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
    /* Near the user on the circle, a quarter of it at most. */
    double apart = fabs((double)top.items[0].item / ITEMS - (double)user / USERS);
    assert_true(fmin(apart, 1 - apart) < 0.25);
    recommender_top_release(&top);
    assert_int_equal(recommender_top_find(model, ratings, 12345, 5, 6, &top, &err), -ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_models_learn_a_taste),
        cmocka_unit_test(the_same_seed_gives_the_same_model),
        cmocka_unit_test(rows_of_their_own_learn_more_than_shared_ones),
        cmocka_unit_test_setup_teardown(it_ends_when_asked, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(a_run_that_was_broken_off_gives_the_same_bits,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(batches_since_the_last_checkpoint_are_done_again,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(a_damaged_checkpoint_is_passed_over, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(a_finished_run_is_not_trained_again, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(a_run_goes_on_as_it_began_and_alone, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(what_runs_away_is_not_kept, make_directory,
                                        remove_directory),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(runs_that_differ_have_another_hash),
        cmocka_unit_test_setup_teardown(the_file_gives_back_the_model, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(the_best_items_are_new_to_the_user, make_directory,
                                        remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
