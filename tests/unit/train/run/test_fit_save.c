/* Tests the checkpoints of a run, with a model of a few numbers: it is resumed from the newest
 * complete checkpoint, a failing disk causes warnings and does not end the run, and only a failure
 * to write the last checkpoint is an error. */
#include "scratch_directory.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "train/run/checkpoint.h"
#include "train/run/fit_agree.h"
#include "train/run/fit_loop.h"
#include "train/run/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A model in which every value is the number of steps so far. */
struct counting {
    struct params *params;
    struct optimizer *optimizer;
    struct run_state *state;
    uint64_t hide_at; /* the step at which the directory disappears; 0: never */
    /* The directory comes back once its loss was noticed. Then the run is requested to stop. */
    bool comes_back;
    volatile sig_atomic_t stop;
    uint64_t stop_at;
    uint64_t lose_at;          /* the step at which a worker is lost; 0: never */
    enum err_code loss;        /* the error code of the loss */
    enum err_code cannot_form; /* forming the group fails with this code, and the run is asked to
                                  stop; 0: it succeeds */
    uint64_t spoil_at;         /* the step that makes a value NaN; 0: never */
    uint64_t fail_at;          /* the step whose loss is NaN; 0: never */
    const char *model;         /* NULL: "counting" */
    const struct json *kept;
    int *claim;
};

/* A group that breaks and forms again. */
struct others {
    struct reducer reducer;
    struct counting *counting;
};

static int reform_group(struct reducer *reducer, struct err *err)
{
    struct counting *counting = CONTAINER_OF(reducer, struct others, reducer)->counting;
    if (!counting->cannot_form)
        return 0;
    counting->stop = 1;
    return err_set(err, counting->cannot_form, "the other workers are missing");
}

/* Hides or restores the directory in one step, even while a file is written there. */
static void hide_directory(bool hidden)
{
    _cleanup_free_ char *elsewhere = mem_printf("%s.away", directory);
    assert_int_equal(hidden ? rename(directory, elsewhere) : rename(elsewhere, directory), 0);
}

static int count_step(void *context, uint64_t step, bool stop, struct fit_loop_step *ret,
                      struct err *err)
{
    struct counting *counting = context;
    if (step == counting->lose_at) {
        counting->lose_at = 0;
        counting->stop = step == counting->stop_at;
        return err_set(err, counting->loss, "lost worker 1");
    }
    if (step == counting->fail_at)
        return err_set(err, ERR_INVALID, "the loss is nan or infinite");
    for (size_t i = 0; i < counting->params->floats; i++)
        counting->params->values[i] += 1;
    if (step == counting->spoil_at)
        counting->params->values[2] = NAN;
    struct run_state_view view;
    run_state_read(counting->state, 0, &view);
    if (step == counting->hide_at)
        hide_directory(true);
    if (view.failed_saves && counting->comes_back) {
        hide_directory(false);
        counting->comes_back = false;
        counting->stop = 1;
    }
    if (step == counting->stop_at)
        counting->stop = 1;
    *ret = (struct fit_loop_step){.loss = 1.0 / (double)step, .rate = 1, .stop = stop};
    return 0;
}

static void values_changed(void *context)
{
}

static struct json *config_of(void *context, struct arena *arena)
{
    return json_object(arena);
}

static const struct model_steps COUNTING_STEPS = {
    .step = count_step, .changed = values_changed, .config = config_of};

/* Returns the log. */
static char *run_counting(struct counting *counting, uint64_t steps, int expected,
                          struct fit_loop_result *ret, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct others others = {.reducer = reducer_single(), .counting = counting};
    others.reducer.elastic = true;
    others.reducer.reform = reform_group;
    counting->params = params_new();
    params_declare(counting->params, "count", (int[]){4, 1, 1, 1}, PARAM_ZERO, 0);
    params_allocate(counting->params, NULL);
    params_initialise(counting->params, 1);
    counting->optimizer = optimizer_new(OPTIMIZER_SGD, 0, counting->params);
    counting->state = run_state_new();
    struct run_log_options options = {
        .style = PROGRESS_PLAIN, .stream = stream, .state = counting->state};
    struct run_log *log = run_log_new(&options, &(struct run_log_subject){.unit = "images"});
    const struct model model = {
        .command = {.name = counting->model ? counting->model : "counting"},
        .steps = &COUNTING_STEPS,
    };
    const struct fit_options fit = {
        .seed = 1,
        .model_dir = directory,
        .checkpoint_every = 1,
        .keep = 2,
        .kept = counting->kept,
        .stop = &counting->stop,
    };
    struct fit_loop loop = {
        .model = &model,
        .options = &fit,
        .claim = counting->claim,
        .steps = steps,
        .batch = 1,
        .log = log,
        .start = "counting",
        .reducer = &others.reducer,
        .params = counting->params,
        .optimizer = counting->optimizer,
        .context = counting,
    };
    assert_int_equal(fit_loop_run(&loop, ret, err), expected);
    if (expected == 0)
        assert_true(params_value(counting->params, 0)[0] == (float)ret->last);
    run_log_free(log);
    run_state_free(counting->state);
    optimizer_free(counting->optimizer);
    params_free(counting->params);
    fclose(stream);
    return text;
}

static bool has_checkpoint(uint64_t step)
{
    char path[CHECKPOINT_PATH_MAX];
    checkpoint_path(directory, step, path);
    return file_exists(path);
}

static void damage_checkpoint(uint64_t step)
{
    char path[CHECKPOINT_PATH_MAX];
    checkpoint_path(directory, step, path);
    assert_int_equal(file_write_into(path, "damaged", NULL), 0);
}

static void stopped_run_is_resumed(void **state)
{
    struct counting first = {.stop_at = 3}, second = {0};
    struct fit_loop_result result;
    _cleanup_free_ char *said = run_counting(&first, 10, 0, &result, NULL);
    assert_true(result.stopped);
    assert_int_equal(result.last, 4); /* all workers learn of the stop in the step after it */
    assert_true(has_checkpoint(4));
    assert_non_null(strstr(said, "stopped after step 4; the next run goes on from there\n"));
    _cleanup_free_ char *more = run_counting(&second, 10, 0, &result, NULL);
    assert_int_equal(result.first, 4);
    assert_int_equal(result.last, 10);
    assert_non_null(strstr(more, "resumed after step 4\n"));
}

/* If all checkpoints are damaged, they must neither be used nor displace the new ones. */
static void damaged_checkpoints_are_renamed(void **state)
{
    struct counting counting = {0};
    struct fit_loop_result result;
    free(run_counting(&counting, 6, 0, &result, NULL));
    assert_true(has_checkpoint(6));
    for (uint64_t step = 1; step <= 6; step++)
        if (has_checkpoint(step))
            damage_checkpoint(step);
    struct counting again = {.stop_at = 2};
    _cleanup_free_ char *said = run_counting(&again, 20, 0, &result, NULL);
    assert_non_null(strstr(said, "step-00000006.ckpt' is not a model or checkpoint file; looking "
                                 "for an older one\n"));
    assert_int_equal(result.first, 0);
    assert_true(has_checkpoint(3));
    assert_false(has_checkpoint(6));
}

static void failing_disk_does_not_end_the_run(void **state)
{
    struct counting counting = {.hide_at = 3, .comes_back = true};
    struct fit_loop_result result;
    _cleanup_free_ char *said = run_counting(&counting, 100000000, 0, &result, NULL);
    assert_true(result.stopped);
    assert_non_null(strstr(said, ".ckpt': No such file or directory; training continues, "));
    assert_true(has_checkpoint(result.last));
}

static void failure_of_the_last_checkpoint_is_an_error(void **state)
{
    struct counting counting = {.hide_at = 3};
    struct fit_loop_result result;
    struct err err = ERR_INIT;
    _cleanup_free_ char *said = run_counting(&counting, 5, 0, &result, &err);
    assert_non_null(strstr(said, "step 5/5"));
    assert_non_null(strstr(said, "step-00000005.ckpt': No such file or directory; th"));
    assert_int_equal(result.unsaved.code, ERR_NOT_FOUND);
    assert_int_equal(fit_loop_check_saved(&result, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "step-00000005.ckpt': No such file or directory; the model "
                                        "itself was written"));
    hide_directory(false);
    /* A run without a checkpoint that is requested to stop ends at once. */
    struct counting stopped = {.hide_at = 7, .stop_at = 7};
    free(run_counting(&stopped, 100, -ERR_NOT_FOUND, &result, &err));
    hide_directory(false);
}

/* The last good checkpoint is not replaced, and a run is not resumed from a diverged one. */
static void diverged_state_is_not_saved(void **state)
{
    struct counting spoiled = {.spoil_at = 4};
    struct fit_loop_result result;
    struct err err = ERR_INIT;
    free(run_counting(&spoiled, 10, -ERR_INVALID, &result, &err));
    assert_non_null(strstr(err.message, "after step 4 some parameters are nan or infinite"));
    assert_non_null(strstr(err.message, "/step-00000003.ckpt': resume from it with a lower "
                                        "--learning-rate"));
    assert_true(has_checkpoint(3));
    assert_false(has_checkpoint(4));
    struct counting last = {.spoil_at = 4};
    free(run_counting(&last, 4, -ERR_INVALID, &result, &err));
    assert_false(has_checkpoint(4));
    struct counting again = {.fail_at = 4};
    free(run_counting(&again, 10, -ERR_INVALID, &result, &err));
    assert_non_null(strstr(err.message, "step 4: the loss is nan or infinite; the last "));
    assert_int_equal(file_remove_tree(directory, NULL), 0);
    struct counting early = {.fail_at = 1};
    free(run_counting(&early, 2, -ERR_INVALID, &result, &err));
    assert_non_null(strstr(err.message, ": start again with a lower --learning-rate"));
}

static void checkpoint_with_infinite_values_is_not_resumed(void **state)
{
    struct counting first = {.stop_at = 3}, second = {0};
    struct fit_loop_result result;
    char path[CHECKPOINT_PATH_MAX];
    free(run_counting(&first, 10, 0, &result, NULL));
    struct params *params = params_new();
    params_declare(params, "count", (int[]){4, 1, 1, 1}, PARAM_ZERO, 0);
    params_allocate(params, NULL);
    params->values[1] = INFINITY;
    struct optimizer *optimizer = optimizer_new(OPTIMIZER_SGD, 0, params);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct checkpoint_info info = {
        .model = "counting", .config = json_object(arena), .step = 9, .seed = 1};
    checkpoint_path(directory, 9, path);
    assert_int_equal(checkpoint_write(path, params, optimizer, &info, NULL), 0);
    optimizer_free(optimizer);
    params_free(params);
    _cleanup_free_ char *said = run_counting(&second, 5, 0, &result, NULL);
    assert_non_null(strstr(said,
                           "step-00000009.ckpt' holds values that are nan or infinite; looking "
                           "for an older one\n"));
    assert_int_equal(result.first, 4);
}

/* A model must not be evaluated on data that it was trained on. */
static void resume_rejects_changed_settings(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *kept = json_object(arena), *other = json_object(arena), *data, *none;
    json_set_int(arena, kept, "held-out", 10);
    json_set_string(arena, kept, "data", "40 people");
    json_set_int(arena, other, "held-out", 20);
    data = json_clone(arena, kept);
    json_set_string(arena, data, "data", "41 people");
    none = json_object(arena);
    json_set_int(arena, none, "new-option", 1);
    struct counting first = {.stop_at = 3, .kept = kept}, second = {.kept = other},
                    third = {.kept = data}, same = {.kept = kept, .stop_at = 5},
                    newer = {.kept = none}, model = {.model = "guessing"};
    struct fit_loop_result result;
    struct err err = ERR_INIT;
    free(run_counting(&first, 10, 0, &result, NULL));
    free(run_counting(&second, 10, -ERR_USAGE, &result, &err));
    assert_non_null(strstr(err.message,
                           "/step-00000004.ckpt' was trained with --held-out 10, but this run has "
                           "20: use another --model-dir, or --held-out 10 "
                           "again"));
    free(run_counting(&third, 10, -ERR_USAGE, &result, &err));
    assert_non_null(strstr(err.message, "with --data of 40 people, but this run has 41 people: use "
                                        "another --model-dir, or the same data again"));
    free(run_counting(&model, 10, -ERR_USAGE, &result, &err));
    assert_non_null(strstr(err.message, "is a checkpoint of model 'counting', but this run trains "
                                        "'guessing': use another --model-dir"));
    free(run_counting(&same, 10, 0, &result, NULL));
    assert_int_equal(result.first, 4);
    free(run_counting(&newer, 10, 0, &result, NULL));
    assert_int_equal(result.first, 6);
}

static void directory_in_use_is_rejected(void **state)
{
    int first = -1, second = -1;
    struct counting counting = {.claim = &first, .stop_at = 2}, other = {.claim = &second};
    struct fit_loop_result result;
    struct err err = ERR_INIT;
    free(run_counting(&counting, 10, 0, &result, NULL));
    assert_true(first >= 0);
    free(run_counting(&other, 10, -ERR_CONFLICT, &result, &err));
    _cleanup_free_ char *holder = mem_printf("' is in use by process %ld on ", (long)getpid());
    assert_non_null(strstr(err.message, holder));
    assert_int_equal(second, -1);
    close(first);
    free(run_counting(&other, 10, 0, &result, NULL));
    assert_int_equal(result.first, 3);
    close(second);
}

static void files_that_are_no_checkpoints_are_skipped(void **state)
{
    struct counting first = {.stop_at = 3}, second = {0};
    struct fit_loop_result result;
    free(run_counting(&first, 10, 0, &result, NULL));
    static const char *const NAMES[] = {"step-7.ckpt", "step-0000000000000000000008.ckpt",
                                        "step-99999999999999999999999999999999.ckpt",
                                        "step-00000009.ckpt.old"};
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
        _cleanup_free_ char *path = mem_printf("%s/%s", directory, NAMES[i]);
        assert_int_equal(file_write_atomic(path, "something", 9, 0644, NULL), 0);
    }
    _cleanup_free_ char *fifo = mem_printf("%s/step-00000009.ckpt", directory);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    _cleanup_free_ char *said = run_counting(&second, 5, 0, &result, NULL);
    assert_int_equal(result.first, 4);
    assert_null(strstr(said, "looking for an older one"));
    assert_true(file_exists(fifo));
}

static void start_from_the_beginning_is_reported(void **state)
{
    struct counting first = {.stop_at = 3}, second = {0};
    struct fit_loop_result result;
    _cleanup_free_ char *fresh = run_counting(&first, 10, 0, &result, NULL);
    assert_null(strstr(fresh, "starts from the beginning"));
    _cleanup_free_ uint64_t *steps = NULL;
    size_t count = 0;
    char path[CHECKPOINT_PATH_MAX];
    assert_int_equal(checkpoint_list(directory, &steps, &count, NULL), 0);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        checkpoint_path(directory, steps[i], path);
        assert_int_equal(truncate(path, 10), 0);
    }
    _cleanup_free_ char *said = run_counting(&second, 5, 0, &result, NULL);
    assert_int_equal(result.first, 0);
    _cleanup_free_ char *expected = mem_printf(
        "no checkpoint in '%s' can be used: training starts from the beginning\n", directory);
    assert_non_null(strstr(said, expected));
}

/* The stop is requested at the step that fails, or during the wait for the other workers. */
static void last_step_is_saved_when_a_stop_meets_a_lost_worker(void **state)
{
    const struct counting ends[] = {
        {.lose_at = 4, .loss = ERR_UNAVAILABLE, .stop_at = 4},
        {.lose_at = 8, .loss = ERR_TIMEOUT, .stop_at = 8},
        {.lose_at = 12, .loss = ERR_UNAVAILABLE, .cannot_form = ERR_CANCELED},
        {.lose_at = 16, .loss = ERR_UNAVAILABLE, .cannot_form = ERR_UNAVAILABLE},
        {.lose_at = 20, .loss = ERR_UNAVAILABLE, .cannot_form = ERR_TIMEOUT},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        struct counting counting = ends[i];
        struct fit_loop_result result;
        uint64_t lost = counting.lose_at;
        _cleanup_free_ char *said = run_counting(&counting, 100, 0, &result, NULL);
        assert_true(result.stopped);
        assert_int_equal(result.last, lost - 1);
        assert_true(has_checkpoint(lost - 1));
        assert_non_null(strstr(said, "; the next run goes on from there\n"));
    }
}

static void timeout_counts_as_a_lost_worker(void **state)
{
    struct counting counting = {.lose_at = 4, .loss = ERR_TIMEOUT};
    struct fit_loop_result result;
    struct err err = ERR_INIT;
    _cleanup_free_ char *said = run_counting(&counting, 6, 0, &result, &err);
    assert_int_equal(result.last, 6);
    assert_non_null(strstr(said, "lost worker 1; the others go on\n"));
}

/* The file may be complete and readable a moment later. A link to itself plays a failing disk. */
static void unreadable_checkpoint_is_not_renamed(void **state)
{
    struct counting counting = {0}, again = {0};
    struct fit_loop_result result;
    struct err err = ERR_INIT;
    char path[CHECKPOINT_PATH_MAX], target[CHECKPOINT_PATH_MAX];
    free(run_counting(&counting, 6, 0, &result, NULL));
    checkpoint_path(directory, 7, path);
    assert_int_equal(symlink(path, path), 0);
    free(run_counting(&again, 9, -ERR_IO, &result, &err));
    assert_non_null(strstr(err.message, "cannot resume: cannot read '"));
    assert_true(readlink(path, target, sizeof(target)) > 0);
    assert_true(has_checkpoint(6));
}

/* Another worker has trained already, so its state is taken over unchanged. */
static int gather_with_trained_worker(struct reducer *reducer, const float *own, size_t count,
                                      float *all, struct err *err)
{
    const float other[] = {1, 0, 0, 3}; /* settled, not failed, after step 3 */
    assert_int_equal(count, ARRAY_SIZE(other));
    memcpy(all, own, count * sizeof(*own));
    memcpy(all + count, other, sizeof(other));
    return 0;
}

static int broadcast_negative_zeros(struct reducer *reducer, int root, float *data, size_t count,
                                    struct err *err)
{
    assert_int_equal(root, 1);
    for (size_t i = 0; i < count; i++)
        data[i] = -0.0f;
    return 0;
}

static void received_state_is_bit_identical(void **state)
{
    struct reducer reducer = {
        .size = 2, .allgather = gather_with_trained_worker, .broadcast = broadcast_negative_zeros};
    struct params *params = params_new();
    params_declare(params, "zero", (int[]){4, 1, 1, 1}, PARAM_ZERO, 0);
    params_allocate(params, NULL);
    const struct model model = {.steps = &COUNTING_STEPS};
    const struct fit_options fit = {0};
    struct fit_loop loop = {.reducer = &reducer,
                            .params = params,
                            .optimizer = optimizer_new(OPTIMIZER_SGD, 0, params),
                            .model = &model,
                            .options = &fit};
    uint64_t step = 0;
    assert_int_equal(fit_agree(&loop, &step, NULL), 0);
    assert_int_equal(step, 3);
    assert_true(signbit(params_value(params, 0)[0]));
    optimizer_free(loop.optimizer);
    params_free(params);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stopped_run_is_resumed),
        TEST(damaged_checkpoints_are_renamed),
        TEST(unreadable_checkpoint_is_not_renamed),
        TEST(failing_disk_does_not_end_the_run),
        TEST(failure_of_the_last_checkpoint_is_an_error),
        TEST(last_step_is_saved_when_a_stop_meets_a_lost_worker),
        TEST(received_state_is_bit_identical),
        TEST(timeout_counts_as_a_lost_worker),
        TEST(diverged_state_is_not_saved),
        TEST(checkpoint_with_infinite_values_is_not_resumed),
        TEST(resume_rejects_changed_settings),
        TEST(directory_in_use_is_rejected),
        TEST(files_that_are_no_checkpoints_are_skipped),
        TEST(start_from_the_beginning_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
