/* Tests the lock of the model directory. The worker that writes for a run takes it, also as the
 * successor of another worker, and releases it when another worker writes. The model has a few
 * numbers, and the group only sets the rank. */
#include "scratch_directory.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "train/run/checkpoint.h"
#include "train/run/fit_loop.h"
#include "train/run/model.h"
#include "train/run/model_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { THIS_RUN = 7, OTHER_RUN = 8, LOST_AT = 3, STEPS = 9 };

/* One worker: its first rank, and its rank after another worker is lost. */
struct worker {
    struct reducer reducer;
    int rank_then;
    bool lost;
    int claim;
    uint64_t others_at; /* another worker has trained up to this step; 0: there is none */
    int *frees;         /* a lock to close at step `frees_at` */
    uint64_t frees_at;
    int claims[STEPS + 1]; /* the lock at each step; -1: none */
    struct params *params;
};

static struct worker *worker_of(struct reducer *reducer)
{
    return CONTAINER_OF(reducer, struct worker, reducer);
}

static int reform(struct reducer *reducer, struct err *err)
{
    reducer->rank = worker_of(reducer)->rank_then;
    return 0;
}

/* Once all workers agree, the directory must be free for the new writer. */
static int allgather(struct reducer *reducer, const float *own, size_t count, float *all,
                     struct err *err)
{
    struct worker *worker = worker_of(reducer);
    if (reducer->rank != 0)
        assert_int_equal(worker->claim, -1);
    memcpy(all, own, count * sizeof(*all));
    if (worker->others_at) {
        const float theirs[] = {1, 0, 0, (float)worker->others_at}; /* in the format of fit_agree */
        assert_int_equal(count, ARRAY_SIZE(theirs));
        memcpy(all + count, theirs, sizeof(theirs));
    }
    return 0;
}

static int one_step(void *context, uint64_t step, bool stop, struct fit_loop_step *ret,
                    struct err *err)
{
    struct worker *worker = context;
    if (step == LOST_AT && !worker->lost) {
        worker->lost = true;
        return err_set(err, ERR_UNAVAILABLE, "lost worker 0");
    }
    if (worker->frees && step == worker->frees_at)
        close(*worker->frees);
    worker->claims[step] = worker->claim;
    *ret = (struct fit_loop_step){.loss = 1, .rate = 1};
    return 0;
}

static void values_changed(void *context)
{
}

static struct json *config_of(void *context, struct arena *arena)
{
    return json_object(arena);
}

static struct worker worker_with_ranks(int from, int to)
{
    struct worker worker = {.reducer = reducer_single(), .rank_then = to, .claim = -1};
    worker.reducer.rank = from;
    worker.reducer.run = THIS_RUN;
    worker.reducer.elastic = true;
    worker.reducer.allgather = allgather;
    worker.reducer.reform = reform;
    return worker;
}

/* Returns the log. */
static char *run_worker(struct worker *worker, struct fit_loop_result *ret)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    worker->params = params_new();
    params_declare(worker->params, "count", (int[]){4, 1, 1, 1}, PARAM_ZERO, 0);
    params_allocate(worker->params, NULL);
    struct optimizer *optimizer = optimizer_new(OPTIMIZER_SGD, 0, worker->params);
    struct run_log *log =
        run_log_new(&(struct run_log_options){.style = PROGRESS_PLAIN, .stream = stream},
                    &(struct run_log_subject){.unit = "images"});
    static const struct model_steps steps = {
        .step = one_step, .changed = values_changed, .config = config_of};
    static const struct model model = {.command = {.name = "counting"}, .steps = &steps};
    const struct fit_options fit = {
        .seed = 1, .model_dir = directory, .checkpoint_every = 1, .keep = 2};
    struct fit_loop loop = {
        .model = &model,
        .options = &fit,
        .claim = &worker->claim,
        .steps = STEPS,
        .batch = 1,
        .log = log,
        .start = "counting",
        .reducer = &worker->reducer,
        .params = worker->params,
        .optimizer = optimizer,
        .context = worker,
    };
    struct err err = ERR_INIT;
    if (fit_loop_run(&loop, ret, &err) < 0)
        fail_msg("%s", err.message);
    run_log_free(log);
    optimizer_free(optimizer);
    params_free(worker->params);
    fclose(stream);
    return text;
}

static bool has_checkpoint(uint64_t step)
{
    char path[CHECKPOINT_PATH_MAX];
    checkpoint_path(directory, step, path);
    return file_exists(path);
}

static int occurrences(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        count++;
    return count;
}

static void next_writer_claims_the_directory(void **state)
{
    struct worker worker = worker_with_ranks(1, 0);
    struct fit_loop_result result;
    _cleanup_free_ char *said = run_worker(&worker, &result);
    assert_int_equal(worker.claims[LOST_AT - 1], -1);
    assert_true(worker.claims[LOST_AT] >= 0); /* before it has written anything */
    assert_true(has_checkpoint(STEPS));
    assert_null(strstr(said, "claims"));
    int other = -1;
    assert_int_equal(model_dir_claim(directory, OTHER_RUN, &other, NULL), -ERR_CONFLICT);
    close(worker.claim);
}

static void former_writer_releases_the_directory(void **state)
{
    struct worker worker = worker_with_ranks(0, 1);
    struct fit_loop_result result;
    free(run_worker(&worker, &result));
    assert_true(worker.claims[LOST_AT - 1] >= 0);
    assert_int_equal(worker.claim, -1);
    assert_true(has_checkpoint(LOST_AT - 1)); /* the write was in progress */
    assert_false(has_checkpoint(LOST_AT));
    int other = -1;
    assert_int_equal(model_dir_claim(directory, OTHER_RUN, &other, NULL), 0);
    close(other);
}

static void returning_writer_claims_the_directory_again(void **state)
{
    struct worker worker = worker_with_ranks(0, 0);
    struct fit_loop_result result;
    worker.reducer.size = 2;
    worker.others_at = 4;
    free(run_worker(&worker, &result));
    assert_int_equal(result.first, 4);
    assert_true(worker.claims[5] >= 0);
    close(worker.claim);
}

/* A stopped process still holds the lock, maybe forever. */
static void lock_of_a_stopped_process_of_this_run_is_ignored(void **state)
{
    struct worker worker = worker_with_ranks(1, 0);
    struct fit_loop_result result;
    int stopped = -1;
    assert_int_equal(model_dir_claim(directory, THIS_RUN, &stopped, NULL), 0);
    worker.frees = &stopped;
    worker.frees_at = STEPS - 1;
    _cleanup_free_ char *said = run_worker(&worker, &result);
    assert_int_equal(worker.claims[STEPS - 2], -1);
    assert_true(has_checkpoint(STEPS));
    assert_int_equal(result.unsaved.code, 0);
    assert_int_equal(occurrences(said, "still holds the lock on '"), 1);
    assert_true(worker.claim >= 0); /* it takes the lock as soon as it is free */
    close(worker.claim);
}

static void directory_of_another_run_is_not_overwritten(void **state)
{
    struct worker worker = worker_with_ranks(1, 0);
    struct fit_loop_result result;
    int other = -1;
    assert_int_equal(model_dir_claim(directory, OTHER_RUN, &other, NULL), 0);
    _cleanup_free_ char *said = run_worker(&worker, &result);
    assert_int_equal(result.last, STEPS); /* the run does not end because of it */
    assert_int_equal(result.unsaved.code, ERR_CONFLICT);
    assert_non_null(strstr(said, "' is in use by process "));
    assert_false(has_checkpoint(STEPS));
    assert_int_equal(worker.claim, -1);
    close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(next_writer_claims_the_directory),
        TEST(former_writer_releases_the_directory),
        TEST(returning_writer_claims_the_directory_again),
        TEST(lock_of_a_stopped_process_of_this_run_is_ignored),
        TEST(directory_of_another_run_is_not_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
