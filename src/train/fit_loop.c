/* The course of synchronous training; see fit_loop.h. */
#include "train/fit_loop.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/moment.h"
#include "train/checkpoint.h"

#include <string.h>

/* Newest first; one that is damaged is passed over with a word about it, one that is of another
 * model is an error. */
static int restore_newest(struct fit_loop *loop, uint64_t *ret_step, struct err *err)
{
    _cleanup_free_ uint64_t *steps = NULL;
    size_t count = 0;
    int result = checkpoint_list(loop->model_dir, &steps, &count, err);
    for (size_t i = 0; result == 0 && i < count; i++) {
        _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
        char path[CHECKPOINT_PATH_MAX];
        struct err problem = ERR_INIT;
        checkpoint_path(loop->model_dir, steps[i], path);
        if (checkpoint_read(path, &checkpoint, &problem) < 0) {
            if (loop->speaks)
                progress_note(&loop->progress, "warning", "%s; looking for an older one",
                              problem.message);
            continue;
        }
        if (checkpoint->info.seed != loop->seed)
            return err_set(err, ERR_INVALID,
                           "'%s' was made with seed %llu, this run has %llu: use another "
                           "--model-dir, or the same seed",
                           path, (unsigned long long)checkpoint->info.seed,
                           (unsigned long long)loop->seed);
        result = checkpoint_restore(checkpoint, path, loop->params, loop->optimizer, err);
        if (result < 0)
            return err_wrap(err, "cannot resume (use another --model-dir, or remove the old one)");
        *ret_step = checkpoint->info.step;
        return 0;
    }
    return result;
}

/* All workers take over the state of the one that came farthest: at the start that is rank 0 with
 * its checkpoint, after a loss any that lived on. */
static int agree(struct fit_loop *loop, bool ready, uint64_t *step, struct err *err)
{
    enum { HALF = 20 }; /* bits of a step in one float, which holds 24 exactly */
    struct reducer *reducer = loop->reducer;
    float own[3] = {ready ? 1 : 0, (float)(*step >> HALF), (float)(*step & ((1 << HALF) - 1))};
    _cleanup_free_ float *all = mem_calloc((size_t)reducer->size * ARRAY_SIZE(own), sizeof(*all));
    int result = reducer->allgather(reducer, own, ARRAY_SIZE(own), all, err);
    if (result < 0)
        return result;
    int holder = 0;
    uint64_t farthest = 0;
    for (int rank = 0; rank < reducer->size; rank++) {
        const float *theirs = all + (size_t)rank * ARRAY_SIZE(own);
        uint64_t there = ((uint64_t)theirs[1] << HALF) + (uint64_t)theirs[2];
        if (theirs[0] == 0)
            return err_set(err, ERR_UNAVAILABLE, "the first worker cannot start; its log says why");
        if (there > farthest) {
            farthest = there;
            holder = rank;
        }
    }
    struct params *params = loop->params;
    struct optimizer *optimizer = loop->optimizer;
    size_t slots = (size_t)optimizer->slot_count * optimizer->floats;
    if (reducer->rank != holder) { /* so that the sum over all is what the holder has */
        memset(params->values, 0, params->floats * sizeof(float));
        memset(optimizer->slots, 0, slots * sizeof(float));
    }
    result = reducer->allreduce(reducer, params->values, params->floats, err);
    if (result == 0)
        result = reducer->allreduce(reducer, optimizer->slots, slots, err);
    if (result < 0)
        return result;
    loop->changed(loop->context);
    *step = farthest;
    return 0;
}

/* Rank 0 reads the newest checkpoint, and the others hear of it, also if that fails. */
static int resume(struct fit_loop *loop, uint64_t *ret_step, struct err *err)
{
    struct err problem = ERR_INIT;
    int restored = 0;
    uint64_t step = 0;
    if (loop->reducer->rank == 0 && loop->model_dir) {
        restored = restore_newest(loop, &step, &problem);
        if (restored == 0)
            restored = file_make_dirs(loop->model_dir, 0755, &problem);
    }
    int result = agree(loop, restored == 0, &step, err);
    if (restored < 0)
        return err_set(err, problem.code, "%s", problem.message);
    if (result == 0)
        *ret_step = step;
    return result;
}

static int save(struct fit_loop *loop, uint64_t step, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char path[CHECKPOINT_PATH_MAX];
    struct checkpoint_info info = {.model = loop->model,
                                   .config = loop->config(loop->context, arena),
                                   .step = step,
                                   .seed = loop->seed};
    checkpoint_path(loop->model_dir, step, path);
    int result = checkpoint_write(path, loop->params, loop->optimizer, &info, err);
    if (result == 0)
        result = checkpoint_prune(loop->model_dir, loop->keep, err);
    return result;
}

/* A step that failed has changed nothing here, though it may have succeeded elsewhere. What was
 * done is saved, in case nobody comes back; then the workers find together and go on. */
static int recover(struct fit_loop *loop, int failed, struct fit_loop_result *result,
                   struct err *err)
{
    if (loop->reducer->rank == 0 && loop->model_dir && result->last > result->first)
        (void)save(loop, result->last, NULL);
    bool stopping = loop->stop && *loop->stop;
    while (failed == -ERR_UNAVAILABLE && loop->reducer->reform && !stopping) {
        if (loop->speaks)
            progress_note(&loop->progress, "lost", "%s; waiting for all workers to be there again",
                          err->message);
        failed = loop->reducer->reform(loop->reducer, err);
        if (failed == 0)
            failed = agree(loop, true, &result->last, err);
        stopping = loop->stop && *loop->stop;
    }
    if (failed == 0 && loop->speaks)
        progress_note(&loop->progress, "reformed",
                      "all workers are there; going on after step %llu",
                      (unsigned long long)result->last);
    return failed;
}

static int run_steps(struct fit_loop *loop, struct fit_loop_result *result, struct err *err)
{
    bool writes = loop->reducer->rank == 0 && loop->model_dir;
    for (uint64_t step = result->first + 1; step <= loop->steps; step++) {
        struct fit_loop_step done = {0};
        bool stop = loop->stop && *loop->stop;
        int failed = loop->step(loop->context, step, stop, &done, err);
        if (failed < 0) {
            failed = recover(loop, failed, result, err);
            if (failed < 0)
                return err_wrap(err, "step %llu", (unsigned long long)step);
            step = result->last;
            continue;
        }
        result->last = step;
        result->loss = done.loss;
        if (loop->speaks) {
            struct progress_step shown = {
                .step = step,
                .loss = done.loss,
                .pictures = loop->batch,
                .rate = (double)done.rate,
            };
            progress_show(&loop->progress, &shown, moment_monotonic_ns());
        }
        bool last = done.stop || step == loop->steps;
        if (writes && (last || (loop->checkpoint_every && step % loop->checkpoint_every == 0))) {
            failed = save(loop, step, err);
            if (failed < 0)
                return failed;
        }
        if (done.stop && step < loop->steps) {
            result->stopped = true;
            if (loop->speaks)
                progress_note(&loop->progress, "stopped",
                              writes ? "stopped after step %llu; the next run goes on from there"
                                     : "stopped after step %llu",
                              (unsigned long long)step);
            return 0;
        }
    }
    return 0;
}

int fit_loop_run(struct fit_loop *loop, struct fit_loop_result *ret, struct err *err)
{
    struct fit_loop_result result = {0};
    loop->speaks = loop->reducer->rank == 0 && loop->stream;
    if (loop->speaks)
        progress_init(&loop->progress, loop->stream, loop->log, 0, loop->steps,
                      moment_monotonic_ns());
    int failed = resume(loop, &result.first, err);
    if (failed < 0)
        return failed;
    result.last = result.first;
    if (loop->speaks) {
        progress_note(&loop->progress, "start", "%s", loop->start);
        if (result.first)
            progress_note(&loop->progress, "resumed", "resumed after step %llu",
                          (unsigned long long)result.first);
        if (result.first >= loop->steps)
            progress_note(&loop->progress, "done",
                          "all %llu steps were done before: to train further raise --steps, to "
                          "train anew use another --model-dir",
                          (unsigned long long)loop->steps);
        progress_init(&loop->progress, loop->stream, loop->log, result.first, loop->steps,
                      moment_monotonic_ns());
    }
    failed = run_steps(loop, &result, err);
    if (loop->speaks)
        progress_finish(&loop->progress);
    if (failed == 0)
        *ret = result;
    return failed;
}

uint64_t fit_loop_hash(const uint64_t *numbers, size_t count)
{
    uint64_t hash = HASH_FNV_START;
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[8]; /* the same on every machine */
        for (int j = 0; j < 8; j++)
            bytes[j] = (unsigned char)(numbers[i] >> 8 * j);
        hash = hash_fnv1a(hash, bytes, sizeof(bytes));
    }
    return hash;
}

uint64_t fit_loop_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}
