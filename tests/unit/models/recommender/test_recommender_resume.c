/* Tests that an interrupted run of the recommender is resumed with the same bits, that unusable
 * checkpoints are skipped or rejected, and that a finished run is not trained again. */
#include "recommender_run.h"

#include "train/run/checkpoint.h"
#include "train/run/model_dir.h"

#include <string.h>
#include <unistd.h>

/* Two epochs, about 76 batches, in a separate directory. */
static struct recommender_fit_options run_in_directory(const char *name, char path[128])
{
    struct recommender_fit_options options = small_run(RECOMMENDER_DEEPFM);
    snprintf(path, 128, "%s/%s", directory, name);
    options.epochs = 2;
    options.fit.model_dir = path;
    options.fit.checkpoint_every = 7;
    return options;
}

static void read_model(const struct recommender_fit_options *options, struct buf *ret)
{
    char path[256];
    recommender_fit_model_path(options->fit.model_dir, path, sizeof(path));
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
    assert_int_equal(checkpoint_list(options->fit.model_dir, &steps, &count, NULL), 0);
    *ret_newest = count ? steps[0] : 0;
    return count;
}

/* Makes `times` runs that end after one batch each, as after SIGTERM. */
static void fit_in_steps(const struct recommender_fit_options *options,
                         const struct ratings *ratings, int times)
{
    struct recommender_fit_options asked = *options;
    const volatile sig_atomic_t stop = 1;
    asked.fit.stop = &stop;
    for (int i = 0; i < times; i++) {
        struct recommender_fit_result part = fit(&asked, ratings);
        assert_true(part.stopped && part.own_steps == 1);
    }
}

static void resumed_run_is_bit_identical(void **state)
{
    enum { PARTS = 9 };
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 7);
    char path[128], other[128];
    struct recommender_fit_options whole = run_in_directory("whole", path),
                                   parts = run_in_directory("parts", other);
    struct recommender_fit_result one = fit(&whole, ratings);
    assert_true(one.own_steps == one.steps && one.steps > 2 * PARTS);
    fit_in_steps(&parts, ratings, PARTS);
    struct recommender_fit_result last = fit(&parts, ratings);
    assert_int_equal(last.own_steps, one.steps - PARTS);
    assert_true(last.eval.auc == one.eval.auc && last.eval.loss == one.eval.loss);
    assert_same_model(&whole, &parts);
}

/* After kill -9 the newest checkpoint is older than the last batch. */
static void batches_since_the_last_checkpoint_are_repeated(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 8);
    char path[128], other[128], newest[CHECKPOINT_PATH_MAX];
    struct recommender_fit_options whole = run_in_directory("whole", path),
                                   killed = run_in_directory("killed", other);
    struct recommender_fit_result one = fit(&whole, ratings);
    fit_in_steps(&killed, ratings, 5);
    checkpoint_path(killed.fit.model_dir, 5, newest);
    assert_int_equal(unlink(newest), 0);
    struct recommender_fit_result two = fit(&killed, ratings);
    assert_int_equal(two.own_steps, one.steps - 4);
    assert_same_model(&whole, &killed);
}

static void damaged_checkpoint_is_skipped(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 9);
    char path[128], other[128], newest[CHECKPOINT_PATH_MAX], aside[CHECKPOINT_PATH_MAX + 16];
    struct recommender_fit_options whole = run_in_directory("whole", path),
                                   damaged = run_in_directory("damaged", other);
    struct recommender_fit_result one = fit(&whole, ratings);
    fit_in_steps(&damaged, ratings, 5);
    checkpoint_path(damaged.fit.model_dir, 5, newest);
    assert_int_equal(truncate(newest, 5000), 0);
    struct recommender_fit_result two = fit(&damaged, ratings);
    assert_int_equal(two.own_steps, one.steps - 4);
    assert_same_model(&whole, &damaged);
    snprintf(aside, sizeof(aside), "%s.damaged", newest);
    assert_true(file_exists(aside));
}

static void finished_run_is_not_trained_again(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 10);
    FILE *said = tmpfile();
    char path[128], text[4096] = "";
    struct recommender_fit_options options = run_in_directory("finished", path);
    uint64_t newest;
    options.fit.keep = 2;
    fit_in_steps(&options, ratings, 4);
    assert_int_equal(checkpoints(&options, &newest), 2);
    assert_int_equal(newest, 4);
    struct recommender_fit_result one = fit(&options, ratings);
    assert_int_equal(checkpoints(&options, &newest), 2);
    assert_int_equal(newest, one.steps);
    options.fit.log = (struct run_log_options){.style = PROGRESS_PLAIN, .stream = said};
    struct recommender_fit_result two = fit(&options, ratings);
    assert_int_equal(two.own_steps, 0);
    assert_int_equal(two.steps, one.steps);
    assert_true(two.evaluated && two.eval.loss == one.eval.loss && two.rows == one.rows);
    rewind(said);
    assert_true(fread(text, 1, sizeof(text) - 1, said) > 0);
    fclose(said);
    if (!strstr(text, "steps are done already: to train further, raise --epochs"))
        fail_msg("%s", text);
}

static void resume_rejects_other_settings_and_a_used_directory(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 11);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *kept = json_object(arena);
    struct recommender_fit_result result;
    struct err err = ERR_INIT;
    char path[128];
    struct recommender_fit_options options = run_in_directory("began", path);
    options.epochs = 1;
    json_set_int(arena, kept, "test-percent", 20);
    options.fit.kept = kept;
    (void)fit(&options, ratings);
    json_set_int(arena, kept, "test-percent", 30);
    assert_int_equal(try_fit(&options, ratings, &result, &err), -ERR_USAGE);
    assert_non_null(strstr(err.message, "was trained with --test-percent 20, but this run has 30"));

    _cleanup_fd_ int claim = -1;
    options.fit.kept = NULL;
    assert_int_equal(model_dir_claim(path, 0, &claim, &err), 0);
    assert_int_equal(try_fit(&options, ratings, &result, &err), -ERR_CONFLICT);
}

static void diverged_run_saves_no_checkpoint(void **state)
{
    _cleanup_(cleanup_ratings) struct ratings *ratings = taste_ratings(USERS, ITEMS, RATINGS, 12);
    struct recommender_fit_result result;
    struct err err = ERR_INIT;
    uint64_t newest;
    char path[128];
    struct recommender_fit_options options = run_in_directory("away", path);
    ratings->items[RATINGS / 2].value = NAN;
    options.model.label = RECOMMENDER_RATING;
    options.fit.checkpoint_every = 0;
    assert_int_equal(try_fit(&options, ratings, &result, &err), -ERR_INVALID);
    if (!strstr(err.message, "nan or infinite: start again with a lower --learning-rate") ||
        strstr(err.message, "--clip"))
        fail_msg("%s", err.message);
    assert_int_equal(checkpoints(&options, &newest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(resumed_run_is_bit_identical, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(batches_since_the_last_checkpoint_are_repeated,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(damaged_checkpoint_is_skipped, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(finished_run_is_not_trained_again, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(resume_rejects_other_settings_and_a_used_directory,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(diverged_run_saves_no_checkpoint, make_directory,
                                        remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
